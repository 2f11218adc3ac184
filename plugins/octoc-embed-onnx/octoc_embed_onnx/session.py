"""Opening a model in onnxruntime: one thread, nothing sent anywhere, integer products that are right on any CPU."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from octoc.installation import install_command
from octoc.plugin import PluginError

_SILENT = "ORT_DISABLE_TELEMETRY"
_CPU = Path("/proc/cpuinfo")
_FIRST_CORE = 8192
"""Bytes of cpuinfo that hold the flags of the first core."""


def open_session(model: bytes, what: str) -> Any:
    """Return an onnxruntime.InferenceSession. Imports onnxruntime.

    Args:
        model: the ONNX file's bytes.
        what: names the file in messages, and says what to do where onnxruntime refuses it.

    Raises: PluginError when onnxruntime is missing or refuses the model.
    """
    onnxruntime = _imported()
    options = onnxruntime.SessionOptions()
    # One thread: the bits of a vector depend on nothing but the text, and callers may run several texts side by side.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised, and said by us
    if products_overflow():
        options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors share no base but Exception
        raise PluginError(f"onnxruntime cannot open {what}") from error


def _imported() -> Any:
    """Import onnxruntime so that nothing is sent anywhere. Raises: PluginError when it is missing.

    Where it is only told so afterwards, it has by then put a number for this device and a database into the user's
    cache, or complained on stderr that it cannot, and begun a thread that sends. So the import sees the variable.
    """
    before = os.environ.get(_SILENT)
    os.environ[_SILENT] = "1"
    try:
        import onnxruntime
    except ImportError as error:
        raise PluginError(
            f"encoders run on onnxruntime, which is not installed: run `{install_command('octoc-embed-onnx')}`"
        ) from error
    finally:
        if before is None:
            del os.environ[_SILENT]
        else:
            os.environ[_SILENT] = before
    onnxruntime.disable_telemetry_events()
    return onnxruntime


def products_overflow(cpu: Path = _CPU) -> bool:
    """Tell whether this CPU adds pairs of 8-bit products in 16 bits, which overflow: x86-64 without VNNI.

    onnxruntime then multiplies in a slower way that does not. Where the CPU cannot be asked, it is assumed so.
    """
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return False
    try:
        with cpu.open("rb") as file:
            return b"vnni" not in file.read(_FIRST_CORE)
    except OSError:
        return True
