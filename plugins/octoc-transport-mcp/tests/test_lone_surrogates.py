"""Half characters in JSON are replaced, and nothing else."""

import json

from hypothesis import given
from hypothesis import strategies as st

from octoc_transport_mcp.lone_surrogates import without_lone_surrogates
from octoc_transport_mcp.messages import read

PIECES = st.sampled_from(["\\ud83d", "\\uDE00", "\\\\ud83d", "\\u00e9", "\\n", '\\"', "\\\\", "x", "é", "ud83d"])


@given(st.lists(PIECES, max_size=12))
def test_only_halves_of_characters_are_replaced(pieces: list[str]) -> None:
    """The repaired text has the same value as the original in a lenient parser, with U+FFFD for each half."""
    written = '"' + "".join(pieces) + '"'
    expected = "".join("\ufffd" if 0xD800 <= ord(char) < 0xE000 else char for char in json.loads(written))
    whole = without_lone_surrogates(written.encode())
    assert json.loads(whole or written) == expected
    assert (whole is None) == (expected == json.loads(written))


def test_a_message_with_half_a_character_is_one() -> None:
    """A strict parser refuses the original; text that is invalid for another reason stays invalid."""
    message = read(b'{"jsonrpc":"2.0","id":1,"result":{"text":"a\\ud83d"}}').message
    assert getattr(message, "result", None) == {"text": "a\ufffd"}
    fault = read(b'{"text":"a\\ud83d"').fault
    assert fault is not None
    assert "JSON" in fault.reason
