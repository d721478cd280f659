"""Draw QR codes of links, as SVG for web pages and print, and as PNG."""

import io
import textwrap
from html import escape
from typing import Any

import segno

_QUIET_ZONE = 4
"""Width of the empty border in modules, required by ISO/IEC 18004; without it a scanner may miss the code."""

_RED = "#a40000"
_LETTERS, _LINE = 34, 2.4
"""Letters in a line of a warning, and its height in modules."""

_PIXELS = 10
"""Size of a module in the PNG, in pixels."""


def svg(link: str) -> str:
    """Draw a code as an inline SVG element: black on white on any page, scaled to its container."""
    return _save(link, kind="svg", xmldecl=False, svgns=False, omitsize=True, light="#fff").decode()


def svg_file(link: str, warning: str = "") -> bytes:
    """Draw a code as a standalone SVG file, with a warning in red below it."""
    code = _save(link, kind="svg", omitsize=True, light="#fff").decode()
    lines = textwrap.wrap(warning, _LETTERS)
    if lines:
        size = int(code.partition('viewBox="0 0 ')[2].partition(" ")[0])
        high = size + len(lines) * _LINE + _LINE
        code = code.replace(f'viewBox="0 0 {size} {size}"', f'viewBox="0 0 {size} {high}"')
        text = "".join(
            f'<text x="{_QUIET_ZONE}" y="{size + number * _LINE}" font-size="1.6" fill="{_RED}">{escape(line)}</text>'
            for number, line in enumerate(lines, 1)
        )
        code = code.replace("</svg>", f"{text}</svg>")
    return code.encode()


def png(link: str, warns: bool = False) -> bytes:
    """Draw a code as a PNG file; ``warns`` draws it in red, since a picture has no room for a sentence."""
    return _save(link, kind="png", scale=_PIXELS, light="#fff", dark=_RED if warns else "#000")


def _save(link: str, **options: Any) -> bytes:  # noqa: ANN401 - as the library takes them
    file = io.BytesIO()
    # Error correction M tolerates creases and stains. Few phones can read Micro QR codes.
    segno.make(link, micro=False, error="m").save(file, border=_QUIET_ZONE, **options)
    return file.getvalue()
