"""Draws what a terminal showed as an SVG image."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape

from docs_site.recordings.terminal import COLUMNS

# rich's own frame loads a font from another host; this one has the reader's own, and a title for screen readers.
_FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {{width}} {{height}}"
role="img" aria-labelledby="{{unique_id}}-name">
<title id="{{unique_id}}-name">{title}</title>
<style>
.{{unique_id}}-matrix {{{{ font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
font-size: {{char_height}}px; line-height: {{line_height}}px; font-variant-east-asian: full-width; }}}}
{{styles}}
</style>
<defs>{{lines}}</defs>
{{chrome}}
<g transform="translate({{terminal_x}}, {{terminal_y}})">
{{backgrounds}}
<g class="{{unique_id}}-matrix">
{{matrix}}
</g>
</g>
</svg>
"""

_GROUND, _TEXT, _GREY = (22, 24, 29), (224, 226, 232), (139, 146, 160)
# Red, green, yellow, blue, magenta and cyan, each with a contrast of 7 to 1 or more to the ground.
_COLOURS = [(255, 123, 114), (126, 211, 133), (240, 190, 90), (121, 176, 255), (214, 160, 255), (98, 205, 214)]


def drawn(name: str, title: str, parts: Sequence[tuple[str, str]]) -> str:
    """Return the image of command lines and what each wrote, in colours that read on its own dark ground."""
    from rich.console import Console
    from rich.terminal_theme import TerminalTheme
    from rich.text import Text

    theme = TerminalTheme(_GROUND, _TEXT, [_GROUND, *_COLOURS, _TEXT], [_GREY, *_COLOURS, (255, 255, 255)])
    console = Console(
        record=True, width=COLUMNS, file=io.StringIO(), color_system="truecolor", force_terminal=True, highlight=False
    )
    for number, (command, written) in enumerate(parts):
        if number:
            console.print()
        console.print(Text.assemble(("$ ", "green"), (command, "bold")), overflow="fold")
        console.print(Text.from_ansi(written.rstrip("\n")), overflow="fold")
    return console.export_svg(
        title="", theme=theme, code_format=_FRAME.format(title=escape(title)), unique_id=f"octoc-{name}"
    )
