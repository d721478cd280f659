"""QR codes of links, as SVG for web pages and print, and as PNG."""

import io
from typing import Any

import segno

_QUIET_ZONE = 4
"""Width of the empty border in modules, required by ISO/IEC 18004; without it a scanner may miss the code."""

_PIXELS = 10
"""Size of a module in the PNG, in pixels."""


def svg(link: str) -> str:
    """Draw a code as an inline SVG element: black on white on any page, scaled to its container."""
    return _save(link, kind="svg", xmldecl=False, svgns=False, omitsize=True, light="#fff").decode()


def svg_file(link: str) -> bytes:
    """Draw a code as a standalone SVG file."""
    return _save(link, kind="svg", omitsize=True, light="#fff")


def png(link: str) -> bytes:
    """Draw a code as a PNG file."""
    return _save(link, kind="png", scale=_PIXELS, light="#fff")


def _save(link: str, **options: Any) -> bytes:  # noqa: ANN401 - as the library takes them
    file = io.BytesIO()
    # Error correction M tolerates creases and stains. Few phones can read Micro QR codes.
    segno.make(link, micro=False, error="m").save(file, border=_QUIET_ZONE, **options)
    return file.getvalue()
