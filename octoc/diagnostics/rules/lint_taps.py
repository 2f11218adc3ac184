"""OCT410 to OCT439: parts of a tap that are legal and do not do what they say, in octoc or in Octomind."""

from functools import partial

from octoc.diagnostics.rule import Requirement, Rule, Scope, Severity
from octoc.diagnostics.rules import file_groups as groups

rule = partial(Rule, scope=Scope.WORKSPACE)

MERGE_DIFFERS = rule(
    "OCT410",
    "octomind-merge-differs",
    "Octomind grants fewer tools of a server when it merges capabilities into an agent.",
    Severity.WARNING,
    kinds=groups.WIRED,
)
LIVE_PLACEHOLDER = rule(
    "OCT411",
    "live-placeholder",
    "A prompt or a comment holds an `{{ENV:…}}` or `{{INPUT:…}}` that Octomind resolves.",
    kinds=groups.TAPS,
)
UNGATED_PLACEHOLDER = rule(
    "OCT412",
    "ungated-placeholder",
    "A reference stands in `args` or `url`, where Octomind's environment gate does not look.",
    Severity.WARNING,
    kinds=groups.WIRED,
)
UNKNOWN_CHECK = rule(
    "OCT413", "unknown-skill-check", "A skill's rule uses a check that does not exist.", kinds=groups.SKILLS
)
BAD_EXPRESSION = rule(
    "OCT414", "bad-skill-expression", "A skill's rule holds a regular expression that RE2 refuses.", kinds=groups.SKILLS
)
UNCLOSED_CHECK = rule(
    "OCT415", "unclosed-skill-check", "A skill's rule opens a parenthesis that it never closes.", kinds=groups.SKILLS
)
SHARED_TOOL = rule(
    "OCT416",
    "shared-tool",
    "Two capabilities grant the same tool of the same server.",
    Severity.WARNING,
    kinds=groups.CAPABILITIES,
)
REPEATED_DEFINITION = rule(
    "OCT417",
    "repeated-definition",
    "Several files of a tap define the same server.",
    Severity.WARNING,
    kinds=groups.WIRED,
)
BARE_TOOL_NAME = rule(
    "OCT418",
    "bare-tool-name",
    "A pattern without a server is merged into agents that have several servers.",
    Severity.WARNING,
    kinds=groups.WIRED,
)
UNKNOWN_DOMAIN = rule(
    "OCT494",
    "unknown-domain",
    "A capability or a skill is for a domain that has no agents.",
    Severity.INFO,
    kinds=groups.TAPS,
)
OUT_OF_DOMAIN = rule(
    "OCT419",
    "out-of-domain",
    "An agent's own file names a capability whose `domains` exclude the agent.",
    Severity.WARNING,
    kinds=groups.MANIFESTS,
)
SKILL_WITHOUT_SERVERS = rule(
    "OCT420",
    "skill-needs-dependencies",
    "A skill asks for a capability that has only dependencies, which no skill runs.",
    Severity.WARNING,
    kinds=groups.SKILLS,
)
UNLISTED_FOLDER = rule(
    "OCT421",
    "unlisted-skill-folder",
    "A skill has a folder whose files are not listed to the model.",
    Severity.WARNING,
    kinds=groups.SKILLS,
)
VARYING_PROMPT = rule(
    "OCT422",
    "varying-prompt",
    "A system prompt holds a value that changes with the run or the user.",
    Severity.WARNING,
    kinds=groups.MANIFESTS,
)
NEAR_EQUAL_TRIGGERS = rule(
    "OCT423",
    "near-equal-triggers",
    "Two capabilities of one domain have triggers in nearly the same words.",
    Severity.WARNING,
    kinds=groups.CAPABILITIES,
)
UNREACHABLE = rule(
    "OCT424",
    "unreachable-capability",
    "None of a capability's own triggers activates it.",
    Severity.WARNING,
    needs=frozenset({Requirement.GATE}),
    kinds=groups.CAPABILITIES,
)
ROUTED_HIGH_TRUST = rule(
    "OCT425",
    "routed-high-trust",
    "A capability that controls the run time or other agents has triggers.",
    Severity.WARNING,
    kinds=groups.CAPABILITIES,
)
CASE_SENSITIVE_MATCH = rule(
    "OCT426",
    "case-sensitive-match",
    "A skill's `match(…)` has capital letters, and it is case-sensitive.",
    Severity.INFO,
    kinds=groups.SKILLS,
)
DORMANT_SKILL = rule(
    "OCT427", "dormant-skill", "A skill has no rule or no domain to activate it.", Severity.INFO, kinds=groups.SKILLS
)
STALE_TOOL_NOTE = rule(
    "OCT428",
    "stale-tool-note",
    "`# Provides tools:` names a tool that the file does not grant.",
    Severity.INFO,
    kinds=groups.PROVIDERS,
)
UNUSED_SCRIPTS = rule("OCT429", "unused-dep-scripts", "Nothing in the tap requires a dependency script.", Severity.INFO)
HEADER = rule(
    "OCT430",
    "tap-header",
    "A `# Title:` or `# Description:` is missing, too short or too long.",
    Severity.INFO,
    kinds=groups.CAPABILITIES,
)
MISSING_SCRIPT = rule(
    "OCT431",
    "missing-dep-script",
    "`deps.require` names a script that the tap does not have.",
    Severity.WARNING,
    kinds=groups.WIRED,
)
IGNORED_ROLE_NAME = rule(
    "OCT432",
    "ignored-role-name",
    "A manifest's role has a `name` that is not used.",
    Severity.WARNING,
    kinds=groups.MANIFESTS,
)
OWN_WIRING = rule(
    "OCT433",
    "own-wiring",
    "A manifest has its own servers, patterns or dependencies in addition to `capabilities`.",
    Severity.INFO,
    kinds=groups.MANIFESTS,
)
SKILL_NEEDS_HIDDEN = rule(
    "OCT434",
    "skill-needs-hidden-capability",
    "A skill asks for a capability without triggers, which Octomind hides.",
    Severity.WARNING,
    kinds=groups.SKILLS,
)
RIVALS = rule(
    "OCT436",
    "rival-capabilities",
    "Triggers of one capability are closer in meaning to another capability than to their own.",
    Severity.WARNING,
    needs=frozenset({Requirement.GATE}),
    kinds=groups.CAPABILITIES,
)
FEW_TRIGGERS = rule(
    "OCT435", "few-triggers", "A capability has fewer than three triggers.", Severity.INFO, kinds=groups.CAPABILITIES
)
