"""OCT1xx: files that cannot be found or read. 101 to 119 concern the text of a file, 120 and up folders and links."""

from functools import partial

from octoc.diagnostics.rule import Certainty, Rule, Scope, Severity
from octoc.diagnostics.rules import file_groups as groups

rule = partial(Rule, scope=Scope.FILE, excludes=True)
text_rule = partial(rule, leaves_unread=True)

UNREADABLE = text_rule("OCT101", "unreadable", "A file or folder that the build needs cannot be opened or listed.")
TOO_LARGE = text_rule("OCT102", "too-large", "A file is larger than the limit of its kind.")
NOT_UTF8 = text_rule("OCT103", "not-utf8", "A text file is not encoded as UTF-8.", certainty=Certainty.ANY_READER)
BINARY_FILE = text_rule(
    "OCT104", "binary-file", "A file that should hold text holds binary data.", certainty=Certainty.ANY_READER
)
EMPTY_FILE = text_rule("OCT105", "empty-file", "A file is empty where a definition is expected.")
TOML_SYNTAX = text_rule("OCT106", "toml-syntax", "A file cannot be read as TOML.", certainty=Certainty.CLIENT)
JSON_SYNTAX = text_rule("OCT107", "json-syntax", "A file cannot be read as JSON.", certainty=Certainty.ANY_READER)
NOT_STRICT_JSON = text_rule("OCT108", "not-strict-json", "A JSON file has comments or trailing commas.")
DUPLICATE_KEY = text_rule(
    "OCT109", "duplicate-key", "One object or table has the same key twice.", certainty=Certainty.CLIENT
)
TOO_DEEP = text_rule("OCT110", "too-deep", "Lists and objects are nested deeper than any real file needs.")
UNUSABLE_VALUE = text_rule("OCT111", "unusable-value", "JSON cannot hold a value.")
YAML_SYNTAX = text_rule("OCT738", "yaml-syntax", "A file cannot be read as YAML.", certainty=Certainty.CLIENT)
NO_FRONT_MATTER = text_rule(
    "OCT112",
    "no-front-matter",
    "A markdown definition does not start with front matter.",
    kinds=groups.MARKDOWN,
    certainty=Certainty.CLIENT,
)
UNCLOSED_FRONT_MATTER = text_rule(
    "OCT113",
    "unclosed-front-matter",
    "Front matter has no closing `---`.",
    kinds=groups.MARKDOWN,
    certainty=Certainty.ANY_READER,
)
FRONT_MATTER_SYNTAX = text_rule(
    "OCT114",
    "front-matter-syntax",
    "Front matter cannot be read as YAML.",
    kinds=groups.MARKDOWN,
    certainty=Certainty.ANY_READER,
)
LENIENT_FRONT_MATTER = text_rule(
    "OCT115",
    "lenient-front-matter",
    "A plain value in front matter holds `: `, which only a lenient reader accepts.",
    Severity.WARNING,
    kinds=groups.MARKDOWN | groups.CLAUDE_COMMANDS,
)
NOT_AN_AGENT = text_rule(
    "OCT116",
    "not-an-agent",
    "A markdown file in an agents folder has no front matter, so it defines no agent.",
    Severity.INFO,
    kinds=groups.AGENT_MD,
)

MISSING_TAP = rule("OCT120", "missing-tap", "A tap that the workspace names does not exist.", kinds=groups.WORKSPACE)
TAP_NOT_FETCHED = rule(
    "OCT788", "tap-not-fetched", "A tap from git was not fetched on this machine.", kinds=groups.WORKSPACE
)
MISSING_PATH = rule("OCT121", "missing-path", "A path that the workspace names does not exist.", kinds=groups.WORKSPACE)
BROKEN_LINK = rule("OCT122", "broken-link", "A symbolic link leads nowhere.")
OUTSIDE_ROOT = rule("OCT123", "outside-root", "A path leads out of the workspace or of its tap.")
LINK_LOOP = rule("OCT124", "link-loop", "A symbolic link leads back to itself or to a folder that holds it.")
BAD_DEFAULT = rule(
    "OCT125", "bad-default", "A capability's `default.toml` names no provider in its folder.", kinds=groups.TAPS
)
BAD_FILE_NAME = rule(
    "OCT126",
    "bad-file-name",
    "The name of a file or folder cannot be the name of a capability, provider, domain, agent or skill.",
)
INCOMPLETE_FOLDER = rule(
    "OCT127",
    "incomplete-folder",
    "A folder is where an entity is expected, but lacks its file.",
    Severity.WARNING,
    kinds=groups.TAPS,
)
MISPLACED_FILE = rule(
    "OCT130",
    "misplaced-file",
    "A file of a tap, or a skill, lies at a depth where it is not found.",
    Severity.WARNING,
    kinds=groups.TAPS,
)
UNKNOWN_FILE_KIND = rule("OCT128", "unknown-file-kind", "octoc cannot tell the kind of a file on the command line.")
WALK_CUT_SHORT = rule("OCT129", "walk-cut-short", "A folder is too large or too deep to be searched.", Severity.WARNING)
