"""Where the files that ship with octoc are: the wheel's `octoc/_data`, else the source tree of an editable install."""

from pathlib import Path

from octoc.installation import install_command

_PACKAGE = Path(__file__).resolve().parent


class MissingDataError(RuntimeError):
    """The installation has lost files that octoc ships, so it has to be repaired."""


def schemas_dir() -> Path:
    """Return the folder of the JSON Schemas, one per file kind and major version.

    Raises: MissingDataError when neither the wheel's data nor a source tree has it.
    """
    return _shipped("schemas")


def core_tap_dir() -> Path:
    """Return the root of the tap that ships with octoc, the folder that holds `capabilities/` and `skills/`.

    Raises: MissingDataError when neither the wheel's data nor a source tree has it.
    """
    return _shipped("taps/core")


def _shipped(relative: str) -> Path:
    candidates = (_PACKAGE / "_data" / relative, _PACKAGE.parent / relative)
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    looked = " nor at ".join(f"`{candidate}`" for candidate in candidates)
    again = install_command("octoc", options="--force-reinstall")
    msg = f"octoc's own folder `{relative}` is neither at {looked}: run `{again}`"
    raise MissingDataError(msg)
