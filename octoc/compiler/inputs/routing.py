"""What routing is tested with and learns from: fixtures, needs, expanded triggers and background, in `routing/`."""

from octoc.plugin.file_kinds import ANY, FileKind

EXPANDED_FILE = "routing/expanded.toml"

FIXTURES = FileKind(
    name="fixtures",
    role="fixtures",
    units=(("message", ANY), ("message", ANY, "note"), ("search", ANY), ("search", ANY, "note")),
    check="octoc.compiler.check.fixtures:check_fixtures",
    structure="octoc.compiler.structure.routing:fixtures_source",
    content_patterns=("routing/*.toml", "scopes/*.toml"),
    recognize=lambda values: isinstance(values.get("message", values.get("search")), list),
    scan="beside-servers",
)
NEEDS = FileKind(
    name="needs",
    role="needs",
    units=((ANY,), (ANY, "says", ANY)),
    check="octoc.compiler.check.needs:check_needs",
    structure="octoc.compiler.structure.routing:need_sources",
    patterns=("routing/needs/*.toml",),
    workspace_files=("routing/needs/*.toml",),
    scan="beside-servers",
)
EXPANDED = FileKind(
    name="expanded",
    role="expansions",
    units=((ANY,), (ANY, "says", ANY)),
    check="octoc.compiler.check.needs:check_expanded",
    structure="octoc.compiler.structure.routing:expansion_sources",
    patterns=(EXPANDED_FILE,),
    workspace_files=(EXPANDED_FILE,),
    scan="beside-servers",
)
BACKGROUND = FileKind(
    name="background",
    role="background",
    syntax="lines",
    units=(("lines", ANY),),
    check="octoc.compiler.check.needs:check_background",
    structure="octoc.compiler.structure.routing:background_texts",
    patterns=("routing/background.txt",),
    scan="beside-servers",
)
