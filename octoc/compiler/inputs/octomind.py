"""Octomind's own definitions of servers, and the folder in which it keeps a user's taps."""

from octoc.plugin.file_kinds import Dialect

OCTOMIND = Dialect(
    kind="capability-provider", name="octomind", client="Octomind", variable="{{ENV:NAME}}", variable_with_default=""
)
DATA_FOLDER = "~/.local/share/octomind"
DATA_FOLDER_VARIABLE = "OCTOMIND_DATA_DIR"
TAP_LIST = "taps.toml"
"""The user's taps in order of precedence: `[[taps]]` with `name`."""
BUILT_IN_TAP = "muvon/tap"
"""Always the last tap; the list does not name it."""


def tap_folder(name: str) -> str:
    """Return where the data folder has the tap `OWNER/NAME`."""
    owner, _, rest = name.partition("/")
    return f"taps/{owner}/octomind-{rest}"
