"""Pieces of TOML files: layout, and names that need quotes."""

import tomllib

import tomlkit

from octoc.compiler.workspace.toml_text import add_comment, add_table, add_tables


def test_a_comment_is_right_above_its_table() -> None:
    """An empty line separates two tables; a comment is on the lines above the table that follows it."""
    document = tomlkit.document()
    add_table(document, ("groups", "a b"), {"tools": ["x" * 60, "y" * 60]})
    document.add(tomlkit.nl())
    add_comment(document, "One line\nand another")
    add_tables(document, "grants", [{"agents": ["a"]}, {"agents": []}])
    add_tables(document, "nothing", [])
    text = tomlkit.dumps(document)
    assert text == (
        f'[groups."a b"]\ntools = [\n    "{"x" * 60}",\n    "{"y" * 60}",\n]\n\n'
        '# One line\n# and another\n[[grants]]\nagents = ["a"]\n\n[[grants]]\nagents = []\n'
    )
    assert list(tomllib.loads(text)) == ["groups", "grants"]
