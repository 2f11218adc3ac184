"""OCT470 to OCT489: recorded tools, as servers describe them and as models will read them."""

from functools import partial

from octoc.diagnostics.rule import Requirement, Rule, Scope, Severity
from octoc.diagnostics.rules import file_groups as groups

rule = partial(Rule, scope=Scope.WORKSPACE)
tool_rule = partial(rule, needs=frozenset({Requirement.SNAPSHOTS}))
drift_rule = partial(rule, needs=frozenset({Requirement.LOCK, Requirement.SNAPSHOTS}))

SCHEMA_NOT_OBJECT = tool_rule(
    "OCT470", "schema-not-object", "A tool's `inputSchema` is not the schema of an object.", kinds=groups.SNAPSHOTS
)
SCHEMA_UNSOUND = tool_rule(
    "OCT471",
    "schema-unsound",
    "A tool's `inputSchema` does not meet its own dialect of JSON Schema.",
    kinds=groups.SNAPSHOTS,
)
SCHEMA_REF = tool_rule(
    "OCT472",
    "schema-ref",
    "A `$ref` in a tool's `inputSchema` leads nowhere, in a circle or elsewhere.",
    kinds=groups.SNAPSHOTS,
)
SCHEMA_DIALECT = tool_rule(
    "OCT473",
    "schema-dialect",
    "A tool's `inputSchema` names a dialect that octoc does not know.",
    Severity.INFO,
    kinds=groups.SNAPSHOTS,
)
SCHEMA_PATTERN = tool_rule(
    "OCT474",
    "schema-pattern",
    "A regular expression in a tool's `inputSchema` cannot be read.",
    Severity.WARNING,
    kinds=groups.SNAPSHOTS,
)
PROVIDER_REJECTS = tool_rule(
    "OCT475",
    "provider-rejects",
    "A model provider refuses a construct of a tool's `inputSchema`.",
    Severity.WARNING,
    kinds=groups.SNAPSHOTS,
)
PROVIDER_DROPS = tool_rule(
    "OCT476",
    "provider-drops",
    "A model provider does not support a keyword of a tool's `inputSchema`.",
    Severity.INFO,
    kinds=groups.SNAPSHOTS,
)
ALIAS_SHORTENED = tool_rule(
    "OCT477",
    "alias-shortened",
    "A tool's name is too long for model APIs, so its alias is cut.",
    Severity.INFO,
    kinds=groups.SNAPSHOTS,
)
NO_TOOL_DESCRIPTION = tool_rule(
    "OCT478", "no-tool-description", "A tool has no description.", Severity.WARNING, kinds=groups.SNAPSHOTS
)
LONG_TOOL_DESCRIPTION = tool_rule(
    "OCT479",
    "long-tool-description",
    "A tool's description is longer than a provider or client accepts.",
    Severity.WARNING,
    kinds=groups.SNAPSHOTS,
)
INVISIBLE_CHARACTER = rule(
    "OCT480",
    "invisible-character",
    "A text that a model reads holds characters that people do not see.",
    Severity.WARNING,
    kinds=groups.TOOL_TEXTS
    | groups.MARKDOWN
    | groups.INSTRUCTIONS
    | groups.PROMPTS
    | groups.CLIENT_SETTINGS
    | groups.CLAUDE_PLUGINS,
)
CONFUSABLE_CHARACTER = rule(
    "OCT481",
    "confusable-character",
    "A word has letters that look like letters of another script.",
    Severity.WARNING,
    kinds=groups.TOOL_TEXTS,
)
HIDDEN_TEXT = rule(
    "OCT482",
    "hidden-text",
    "A text has a part that is hidden from people and not from models.",
    Severity.WARNING,
    kinds=groups.TOOL_TEXTS,
)
ADDRESSES_MODEL = rule(
    "OCT483",
    "addresses-model",
    "A text gives the model orders that do not belong in a description.",
    Severity.WARNING,
    kinds=groups.TOOL_TEXTS,
)
DRIFT_BREAKING = rule(
    "OCT484",
    "drift-breaking",
    "A tool in the lock is no longer recorded.",
    kinds=groups.SNAPSHOTS | groups.SERVERS,
    needs=frozenset({Requirement.LOCK}),
)
DRIFT_SCHEMA = drift_rule(
    "OCT485",
    "drift-schema",
    "A tool is new, or its arguments, results or annotations changed, since the lock was written.",
    Severity.WARNING,
    kinds=groups.SNAPSHOTS,
)
DRIFT_WORDING = drift_rule(
    "OCT486",
    "drift-wording",
    "A tool's description changed since the lock was written.",
    Severity.INFO,
    kinds=groups.SNAPSHOTS,
)
