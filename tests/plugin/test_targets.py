import os
from pathlib import Path
from typing import Any

import pytest

from octoc.bundle.model import ServerEntry
from octoc.plugin.targets import NotReadyError, make_target, parse_env_file

VALUES = {"TOKEN": "s3cr3t-token", "HOST": "example.org", "EMPTY": ""}


def entry(**fields: Any) -> ServerEntry:
    """A server's entry of a bundle."""
    return ServerEntry(**{"name": "s", "transport": "stdio", **fields})


def test_every_text_is_expanded(tmp_path: Path) -> None:
    """References in every field are replaced, and the target lists the values put in."""
    target = make_target(
        entry(
            command="${workspaceFolder}/run",
            args=("--host=${HOST}", "${MODE:-quick}"),
            env={"TOKEN": "{{ENV:TOKEN}}"},
            cwd="sub",
            url="https://${HOST}/mcp",
            headers={"Authorization": "Bearer ${env:TOKEN}"},
            auth={"scopes": ["${HOST}"], "count": 1},
        ),
        VALUES.get,
        tmp_path,
        production=True,
    )
    assert target.command == f"{tmp_path.as_posix()}/run"
    assert target.args == ("--host=example.org", "quick")
    assert target.env == {"TOKEN": "s3cr3t-token"}
    assert target.cwd == str(tmp_path / "sub")
    assert target.url == "https://example.org/mcp"
    assert target.headers == {"Authorization": "Bearer s3cr3t-token"}
    assert target.auth == {"scopes": ["example.org"], "count": 1}
    assert set(target.secrets) == {"s3cr3t-token", "example.org"}
    assert "s3cr3t-token" not in repr(target)
    assert target.production


def test_a_target_has_the_limits_of_its_server(tmp_path: Path) -> None:
    """Runtime and `octoc pin` read with the same limits: those that the server's settings give."""
    target = make_target(entry(max_body_bytes=9, max_elements=8), VALUES.get, tmp_path, production=False)
    assert (target.max_body_bytes, target.max_elements) == (9, 8)


def test_what_is_not_set_is_named(tmp_path: Path) -> None:
    """Every variable without a value is named once, in order."""
    with pytest.raises(NotReadyError, match=r"^server `s` needs `A`, `B`, which are not set$") as raised:
        make_target(entry(command="${A}", args=("${B}", "${A}")), VALUES.get, tmp_path, production=False)
    assert raised.value.missing == ("A", "B")


def test_an_env_file_lies_under_the_environment(tmp_path: Path) -> None:
    """A server's own `env` wins over its env file, whose values count as secrets."""
    (tmp_path / "x.env").write_text("A=from-file\nB=from-file-too\n", encoding="utf-8")
    target = make_target(entry(command="c", env={"A": "own"}, env_file="x.env"), VALUES.get, tmp_path, production=False)
    assert target.env == {"A": "own", "B": "from-file-too"}
    assert set(target.secrets) == {"from-file", "from-file-too"}


def test_an_env_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """An env file that is missing, undecodable, too large, a pipe or a device is one line, and is not waited for."""
    (tmp_path / "bin.env").write_bytes(b"\xff\xfe")
    os.mkfifo(tmp_path / "pipe.env")
    for name, why in {
        "none.env": "No such file or directory",
        "bin.env": "it is not UTF-8",
        "pipe.env": "it is not a regular file",
        ".": "it is not a regular file",
        "/dev/zero": "it is not a regular file",
        "a\0b": "the path has a NUL in it",
    }.items():
        with pytest.raises(NotReadyError) as raised:
            make_target(entry(command="c", env_file=name), VALUES.get, tmp_path, production=False)
        assert str(raised.value) == f"server `s` needs the file `{tmp_path / name}`, which cannot be read: {why}"


def test_without_a_home_only_who_needs_it_is_not_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a known home folder, as in some containers, only servers that name it are not ready."""

    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    assert (
        make_target(entry(command="${workspaceFolder}/c"), VALUES.get, tmp_path, production=False).command
        == f"{tmp_path}/c"
    )
    with pytest.raises(NotReadyError, match="needs `userHome`, which is not set"):
        make_target(entry(command="${userHome}/c"), VALUES.get, tmp_path, production=False)


def test_an_env_file_is_read_by_lines() -> None:
    """Comments and other lines are passed over; `export`, spaces and quotes around are not part of names and values."""
    text = "# A=1\n\nexport B = 'two words'\nC=\"x=y\"\nno line\nD=#3\nE=\n"
    assert parse_env_file(text) == {"B": "two words", "C": "x=y", "D": "#3", "E": ""}


def test_a_server_runs_in_the_workspace(tmp_path: Path) -> None:
    """Without a `cwd` of its own a server starts in the workspace's folder, so that `.` in its arguments means it."""
    assert make_target(entry(command="x", args=(".",)), VALUES.get, tmp_path, production=False).cwd == str(tmp_path)
