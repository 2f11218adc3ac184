"""octoc.toml becomes settings, with defaults for what it leaves out."""

from collections.abc import Callable
from pathlib import Path

import pytest

from octoc.compiler.model.settings import (
    LimitSettings,
    ResultsSettings,
    RoutingSettings,
    RuntimeSettings,
    ServerSettings,
    TapRef,
    ToolSettings,
    WorkspaceSettings,
)
from octoc.compiler.read.spans import SpanIndex
from octoc.compiler.read.text import text_reader
from octoc.compiler.structure.settings import load_settings
from octoc.diagnostics.model import DiagnosticSink, Place

PLACE = Place(file="octoc.toml")

FULL = """
[workspace]
name = "acme"
mode = "production"

[[taps]]
name = "acme"
path = "taps/acme"

[[taps]]
name = "shared"
path = "../shared"

[providers]
websearch = "brave"

[agents]
paths = ["agents"]

[mcp]
files = ["mcp.json"]

[plugins]
use = ["transport-mcp"]

[aliases]
style = "bare"

[routing]
encoder = "other"
gate = "octomind"
threshold = 1
margin = 0.08
top_k = 2
max_active = 8
max_active_tokens = 9000
activate_timeout = 12
keep = ["memory"]
ship_encoder = false
domainless = "universal"
encoder_settings = { path = "models/a", max_tokens = 128, exact = true }

[results]
profile = "octo"
max_chars = 100
max_tokens = 50
keep = "head"
max_media_bytes = 1
store_memory_bytes = 2
store_disk_bytes = 3
store_seconds = 4

[runtime]
arguments = "warn"
deps = "run"
deps_timeout = 5
breaker_failures = 6
breaker_seconds = 7.5

[servers.docs]
timeout = 60
max_connections = 2
max_concurrent = 3
idle_close = 0
max_body_bytes = 4
retry = "never"
trusted = true
elicitation = false
sampling = true
roots = false

[servers.docs.tools."get_*"]
timeout = 1.5
retry = "always"
arguments = "off"
max_chars = 9
keep = "both"

[limits]
max_file_bytes = 10
max_snapshot_bytes = 20
max_snapshot_elements = 30
"""

Load = Callable[[str], tuple[WorkspaceSettings | None, list[tuple[str, int]]]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """A function from the text of an octoc.toml to its settings and (code, line) of what was found."""

    def load_text(text: str) -> tuple[WorkspaceSettings | None, list[tuple[str, int]]]:
        (tmp_path / "octoc.toml").write_text(text, encoding="utf-8")
        sink = DiagnosticSink(SpanIndex(text_reader(tmp_path)))
        settings = load_settings(tmp_path, sink)
        return settings, [(found.rule.code, found.span.line if found.span else -1) for found in sink.diagnostics]

    return load_text


def test_every_key_is_carried(load: Load) -> None:
    """Each key of octoc.toml arrives in the settings, taps with their places."""
    assert load(FULL) == (
        WorkspaceSettings(
            name="acme",
            place=PLACE,
            mode="production",
            taps=(
                TapRef(name="acme", path="taps/acme", place=PLACE.child("taps", 0)),
                TapRef(name="shared", path="../shared", place=PLACE.child("taps", 1)),
            ),
            providers={"websearch": "brave"},
            agent_paths=("agents",),
            mcp_files=("mcp.json",),
            plugins=("transport-mcp",),
            alias_style="bare",
            routing=RoutingSettings(
                encoder="other",
                gate="octomind",
                threshold=1.0,
                margin=0.08,
                top_k=2,
                max_active=8,
                max_active_tokens=9000,
                activate_timeout=12.0,
                keep=("memory",),
                ship_encoder=False,
                domainless="universal",
                encoder_settings={"path": "models/a", "max_tokens": "128", "exact": "true"},
            ),
            results=ResultsSettings(
                profile="octo",
                max_chars=100,
                max_tokens=50,
                max_media_bytes=1,
                store_memory_bytes=2,
                store_disk_bytes=3,
                store_seconds=4.0,
            ),
            runtime=RuntimeSettings(
                arguments="warn", deps="run", deps_timeout=5.0, breaker_failures=6, breaker_seconds=7.5
            ),
            servers={
                "docs": ServerSettings(
                    timeout=60.0,
                    max_connections=2,
                    max_concurrent=3,
                    idle_close=0.0,
                    max_body_bytes=4,
                    retry="never",
                    trusted=True,
                    elicitation=False,
                    sampling=True,
                    roots=False,
                    tools={
                        "get_*": ToolSettings(timeout=1.5, retry="always", arguments="off", max_chars=9, keep="both")
                    },
                )
            },
            limits=LimitSettings(max_file_bytes=10, max_snapshot_bytes=20, max_snapshot_elements=30),
        ),
        [],
    )


def test_numbers_have_one_form(load: Load) -> None:
    """A whole number written as a fraction, and the other way round, is the same setting."""
    settings, found = load('[workspace]\nname = "a"\n[routing]\ngate = "octomind"\nthreshold = 1\ntop_k = 2.0\n')
    assert settings is not None
    assert found == []
    assert (repr(settings.routing.threshold), repr(settings.routing.top_k)) == ("1.0", "2")


@pytest.mark.parametrize(
    "text, deps",
    [
        ("", "check"),
        ('mode = "development"', "check"),
        ('mode = "production"', "never"),
        ('mode = "prod"', "never"),
        ('mode = "production"\n[runtime]\ndeps = "check"', "check"),
        ('mode = "production"\n[runtime]\ndeps = "run"', "run"),
        ('[runtime]\ndeps = "runn"', "never"),
    ],
)
def test_dependencies_are_looked_for_in_development_only(load: Load, text: str, deps: str) -> None:
    """What is written counts; else `check`, in production `never`, and a misspelt word is what does least."""
    settings, _ = load(f'[workspace]\nname = "a"\n{text}\n')
    assert settings is not None
    assert settings.runtime.deps == deps


@pytest.mark.parametrize(
    "text, tokens", [("", 2000), ("max_tokens = 0", 0), ("max_tokens = 70", 70)], ids=["absent", "none", "some"]
)
def test_the_octopus_profile_has_a_limit_in_tokens(load: Load, text: str, tokens: int) -> None:
    """Profile `octopus` cuts at 2,000 tokens unless another limit, or none, is written."""
    settings, found = load(f'[workspace]\nname = "a"\n[results]\nprofile = "octopus"\n{text}\n')
    assert settings is not None
    assert (settings.results.max_tokens, found) == (tokens, [])


def test_a_name_is_enough(load: Load) -> None:
    """An octoc.toml with a name alone has every default."""
    assert load('[workspace]\nname = "acme"\n') == (WorkspaceSettings(name="acme", place=PLACE), [])


def test_a_folder_without_a_file_has_its_own_name(tmp_path: Path) -> None:
    """A folder without octoc.toml has the defaults and a name made of the folder's."""
    folder = tmp_path / "My Project (2)"
    folder.mkdir()
    sink = DiagnosticSink()
    assert load_settings(folder, sink) == WorkspaceSettings(name="My-Project-2", place=PLACE)
    assert sink.diagnostics == ()


def test_a_folder_whose_name_has_no_letter_has_a_name_still(tmp_path: Path) -> None:
    """A folder's name without any letter or digit is replaced."""
    (tmp_path / "..._").mkdir()
    settings = load_settings(tmp_path / "..._", DiagnosticSink())
    assert settings is not None
    assert settings.name == "workspace"


def test_a_file_that_cannot_be_read_gives_nothing(load: Load) -> None:
    """A file that is not TOML is reported, and there are no settings."""
    settings, found = load("[workspace\n")
    assert settings is None
    assert [code for code, _ in found] == ["OCT106"]


def test_a_broken_link_is_not_an_absent_file(tmp_path: Path) -> None:
    """An octoc.toml that is a link to nowhere is reported, and there are no settings."""
    (tmp_path / "octoc.toml").symlink_to("nowhere.toml")
    sink = DiagnosticSink()
    assert load_settings(tmp_path, sink) is None
    assert [found.rule.code for found in sink.diagnostics] == ["OCT101"]


def test_a_default_stands_in_for_what_is_unsound(load: Load) -> None:
    """An unsound value is reported on its line and its default is used; the sound ones beside it count."""
    text = '[workspace]\nname = "a"\n[routing]\ntop_k = 0\nmax_active = 7\n[mcp]\nfiles = "x"\n[[taps]]\nname = "t"\n'
    settings, found = load(text)
    assert settings is not None
    assert settings.routing == RoutingSettings(max_active=7)
    assert settings.mcp_files == (".mcp.json",)
    assert settings.taps == ()
    assert found == [("OCT205", 4), ("OCT203", 7), ("OCT202", 8)]


@pytest.mark.parametrize("mode", ['"prod"', "3", "[]"])
def test_an_unknown_mode_is_the_stricter_one(mode: str, load: Load) -> None:
    """A mode that is misspelt never makes a build less strict."""
    settings, found = load(f'[workspace]\nname = "a"\nmode = {mode}\n')
    assert settings is not None
    assert settings.mode == "production"
    assert len(found) == 1


def test_a_file_without_a_name_takes_the_folder_s_and_says_so(load: Load, tmp_path: Path) -> None:
    """A bundle must not depend on the folder, so a missing name is an error even though there is one to use."""
    settings, found = load("[workspace]\n")
    assert settings is not None
    assert settings.name == tmp_path.name
    assert found == [("OCT202", 1)]


def test_the_old_name_of_a_key_is_read(load: Load) -> None:
    """`pinned` gives `keep` with a warning; the new name counts if both are there."""
    settings, reported = load('[workspace]\nname = "acme"\n[routing]\npinned = ["a"]\n')
    assert settings is not None
    assert (settings.routing.keep, reported) == (("a",), [("OCT740", 4)])
    settings, reported = load('[workspace]\nname = "acme"\n[routing]\npinned = ["a"]\nkeep = []\n')
    assert settings is not None
    assert (settings.routing.keep, reported) == ((), [("OCT740", 4)])
