"""OCT1xx: what discover and read find. 101 to 119 are about one file's text, from 120 on about folders and links."""

from octoc.diagnostics.rule import Rule, Severity

UNREADABLE = Rule("OCT101", "unreadable", "A file or folder that the build needs cannot be opened or listed.")
TOO_LARGE = Rule("OCT102", "too-large", "A file is larger than the limit of its kind.")
NOT_UTF8 = Rule("OCT103", "not-utf8", "A text file is not encoded as UTF-8.")
BINARY_FILE = Rule("OCT104", "binary-file", "A file that should hold text holds binary data.")
EMPTY_FILE = Rule("OCT105", "empty-file", "A file that should say something is empty.")
TOML_SYNTAX = Rule("OCT106", "toml-syntax", "A file cannot be read as TOML.")
JSON_SYNTAX = Rule("OCT107", "json-syntax", "A file cannot be read as JSON.")
NOT_STRICT_JSON = Rule("OCT108", "not-strict-json", "A JSON file has comments or trailing commas.")
DUPLICATE_KEY = Rule("OCT109", "duplicate-key", "One object or table has the same key twice.")
TOO_DEEP = Rule("OCT110", "too-deep", "Lists and objects are nested deeper than any real file needs.")
UNUSABLE_VALUE = Rule("OCT111", "unusable-value", "A value cannot be carried by JSON.")
NO_FRONT_MATTER = Rule("OCT112", "no-front-matter", "A markdown definition does not start with front matter.")
UNCLOSED_FRONT_MATTER = Rule("OCT113", "unclosed-front-matter", "Front matter has no closing `---`.")
FRONT_MATTER_SYNTAX = Rule("OCT114", "front-matter-syntax", "Front matter cannot be read as YAML.")
LENIENT_FRONT_MATTER = Rule(
    "OCT115",
    "lenient-front-matter",
    "A plain value in front matter holds `: `, which only a lenient reader accepts.",
    Severity.WARNING,
)
NOT_AN_AGENT = Rule(
    "OCT116",
    "not-an-agent",
    "A markdown file in an agents folder has no front matter, so it is no agent.",
    Severity.INFO,
)

MISSING_TAP = Rule("OCT120", "missing-tap", "A tap that the workspace names is not there.")
MISSING_PATH = Rule("OCT121", "missing-path", "A path that the workspace names is not there.")
BROKEN_LINK = Rule("OCT122", "broken-link", "A symbolic link leads nowhere.")
OUTSIDE_ROOT = Rule("OCT123", "outside-root", "A path leads out of the workspace or of its tap.")
LINK_LOOP = Rule("OCT124", "link-loop", "A symbolic link leads back to itself or to a folder that holds it.")
BAD_DEFAULT = Rule("OCT125", "bad-default", "A capability's `default.toml` names no provider beside it.")
BAD_FILE_NAME = Rule(
    "OCT126", "bad-file-name", "A file or folder whose name is a name in octoc is not spelled like one."
)
INCOMPLETE_FOLDER = Rule(
    "OCT127", "incomplete-folder", "A folder stands where an entity is expected, but lacks its file.", Severity.WARNING
)
MISPLACED_FILE = Rule(
    "OCT130", "misplaced-file", "A file of a tap lies at a depth where nothing reads it.", Severity.WARNING
)
UNKNOWN_FILE_KIND = Rule("OCT128", "unknown-file-kind", "A file that was named is of no kind that octoc checks.")
WALK_CUT_SHORT = Rule(
    "OCT129", "walk-cut-short", "A folder is too large or too deep to be looked through.", Severity.WARNING
)
