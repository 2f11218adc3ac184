"""Versions of plugins and extensions: what a client refuses, and ones that are not semantic."""

from __future__ import annotations

import re
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.diagnostics.model import KeyPath
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.check import UNEXPECTED_VALUE

_SEMANTIC = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
# A range of versions, or a part of one that is still to be written.
_RANGE = re.compile(r"[~^<>=]|(?:.*\.)?[xX*](?:\..*)?\Z")


def check_version(version: Any, path: KeyPath, inspection: FileInspection, *, client: str, taken: str = "") -> None:
    """Report a version of a plugin that is not semantic; one that names several is a mistake.

    Args:
        taken: a pattern of the versions that the client takes; empty where it takes any.
    """
    if not isinstance(version, str) or _SEMANTIC.fullmatch(version):
        return
    is_refused = taken != "" and re.fullmatch(taken, version.strip()) is None
    is_range = _RANGE.match(version.strip()) is not None
    inspection.report(
        UNEXPECTED_VALUE,
        f"`{version}` is not a version that {client} takes, and it refuses to install the plugin"
        if is_refused
        else f"`{version}` names several versions, and {client} expects the plugin's own"
        if is_range
        else f"`{version}` is not a semantic version, which {client} documents for a plugin",
        path,
        help="write three numbers, such as `1.4.0`",
        severity=Severity.ERROR if is_refused else Severity.WARNING if is_range else Severity.INFO,
    )
