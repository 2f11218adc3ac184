"""Opens a model in onnxruntime: one thread, no telemetry, and correct integer products on any CPU."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from octoc.plugin import PluginError
from octoc.plugin.toolkit import install_command

_SILENT = "ORT_DISABLE_TELEMETRY"
_CPU = Path("/proc/cpuinfo")
_FIRST_CORE = 8192
"""Bytes of cpuinfo that hold the flags of the first core."""


def open_session(model: bytes, what: str) -> Any:
    """Return an onnxruntime.InferenceSession. Imports onnxruntime.

    Args:
        model: the ONNX file's bytes.
        what: the file's name for messages, with what to do if onnxruntime refuses it.

    Raises: PluginError, if onnxruntime is missing or refuses the model.
    """
    onnxruntime = _imported()
    options = onnxruntime.SessionOptions()
    # One thread: the bits of a vector depend only on the text, and callers may run several texts in parallel.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised, and octoc reports them
    if products_overflow():
        options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors share only the base Exception
        raise PluginError(f"onnxruntime cannot open {what}") from error


def _imported() -> Any:
    """Import onnxruntime without telemetry. Raises: PluginError, if it is missing.

    The variable has to be set during the import. Otherwise onnxruntime writes a device id and a database to the user's
    cache, or complains on stderr that it cannot, and starts a thread that sends data.
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
    """Return whether this CPU adds pairs of 8-bit products in 16 bits, which overflow: x86-64 without VNNI.

    onnxruntime then has to use a slower method. If the CPU is unknown, return true.
    """
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        return False
    try:
        with cpu.open("rb") as file:
            return b"vnni" not in file.read(_FIRST_CORE)
    except OSError:
        return True
