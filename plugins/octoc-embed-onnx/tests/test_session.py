"""How onnxruntime is opened."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from octoc.plugin import PluginError
from octoc_embed_onnx.session import open_session, products_overflow


@pytest.mark.parametrize(
    "machine,flags,overflows",
    [
        ("x86_64", "avx2 avx512f", True),
        ("x86_64", "avx2 avx512_vnni", False),
        ("AMD64", "avx2 avx_vnni", False),
        ("x86_64", None, True),
        ("aarch64", None, False),
        ("arm64", "asimd", False),
    ],
)
def test_only_x86_without_vnni_overflows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: str, flags: str | None, overflows: bool
) -> None:
    """The slower products are asked for where the CPU's own would overflow, or cannot be known."""
    monkeypatch.setattr(platform, "machine", lambda: machine)
    cpu = tmp_path / "cpuinfo"
    if flags is not None:
        cpu.write_text(f"processor : 0\nflags : fpu {flags}\n", encoding="utf-8")
    assert products_overflow(cpu) is overflows


def test_what_is_no_model_is_an_error_that_names_it() -> None:
    """A file that onnxruntime refuses is named, with what to do."""
    with pytest.raises(PluginError, match=r"cannot open `a\.onnx`: build it again"):
        open_session(b"\x00 no model", "`a.onnx`: build it again")


def test_opening_leaves_nothing_behind(tmp_path: Path) -> None:
    """Nothing is put into the home or said on stderr, with a home or without; the environment is as it was."""
    program = """
import os
from octoc.plugin import PluginError
from octoc_embed_onnx.session import open_session

before = dict(os.environ)
try:
    open_session(b"no model", "it")
except PluginError:
    pass
assert dict(os.environ) == before
"""
    for home in (tmp_path / "home", Path("/proc/nowhere")):
        if home.parent == tmp_path:
            home.mkdir()
        env = {
            key: value for key, value in os.environ.items() if key not in ("XDG_CACHE_HOME", "ORT_DISABLE_TELEMETRY")
        }
        done = subprocess.run(
            [sys.executable, "-c", program], env={**env, "HOME": str(home)}, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
    assert list((tmp_path / "home").iterdir()) == []
