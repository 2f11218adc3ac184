"""The settings that a build passes to an encoder, and what the bundle records of them."""

import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.embed.encoder_settings import folder_stamp, settings_in_bundle
from octoc.plugin import PluginError
from octoc.plugin.folders import located


@pytest.mark.parametrize(
    "settings,expected",
    [
        ({}, {}),
        ({"prefix": "q"}, {"prefix": "q"}),
        ({"path": "models/a"}, {"path": "/w/models/a"}),
        ({"path": "../a"}, {"path": "/a"}),
        ({"path": "/elsewhere/a"}, {"path": "/elsewhere/a"}),
        ({"path": "${workspaceFolder}/models/a", "x": "1"}, {"path": "/w/models/a", "x": "1"}),
        ({"path": "${workspaceFolder}"}, {"path": "/w"}),
    ],
)
def test_a_path_is_absolute_for_the_encoder(settings: Mapping[str, str], expected: Mapping[str, str]) -> None:
    """`path` starts from the workspace; every other setting is passed on as it is."""
    assert located(settings, Path("/w")) == expected


@pytest.mark.parametrize(
    "path,shipped,expected",
    [
        ("models/a", True, {"x": "1"}),
        ("/elsewhere/a", True, {"x": "1"}),
        ("models/a", False, {"x": "1", "path": "${workspaceFolder}/models/a"}),
        ("/w/models/../a", False, {"x": "1", "path": "${workspaceFolder}/a"}),
        ("..a", False, {"x": "1", "path": "${workspaceFolder}/..a"}),
        (None, False, {"x": "1"}),
    ],
)
def test_the_bundle_has_no_path_of_this_machine(path: str | None, shipped: bool, expected: Mapping[str, str]) -> None:
    """The path is left out where the files are shipped, and is relative to the workspace where they are not."""
    settings = {"x": "1"} if path is None else {"x": "1", "path": path}
    assert settings_in_bundle(settings, Path("/w"), is_shipped=shipped) == expected


@pytest.mark.parametrize("path", ["..", "../a", "/elsewhere", "/w2/a", "models/../../w2"])
def test_a_folder_outside_has_to_be_shipped(path: str) -> None:
    """A folder outside the workspace that is not shipped is refused, with what to do."""
    with pytest.raises(PluginError, match="lies outside the workspace"):
        settings_in_bundle({"path": path}, Path("/w"), is_shipped=False)


def test_the_stamp_sees_what_changes(tmp_path: Path) -> None:
    """A file that is new, longer or of another time, also one level deeper, makes another stamp; a dead link none."""
    settings = {"path": "model"}
    folder = tmp_path / "model"
    assert folder_stamp({}, tmp_path) == folder_stamp(settings, tmp_path) == []
    (folder / "onnx").mkdir(parents=True)
    found: list[Any] = [folder_stamp(settings, tmp_path)]
    for path, text in (("a", "1"), ("a", "12"), ("onnx/b", "1")):
        (folder / path).write_text(text, encoding="utf-8")
        found.append(folder_stamp(settings, tmp_path))
    os.utime(folder / "a", ns=(1, 1))
    found.append(folder_stamp(settings, tmp_path))
    assert all(one != other for one, other in pairwise(found))
    (folder / "dead").symlink_to("nowhere")
    assert folder_stamp(settings, tmp_path) == found[-1]
