"""QR codes of links: as a drawing for the web and for print, and as a picture."""

import io
from typing import Any

import segno

_QUIET_ZONE = 4
"""Empty modules around a code, as ISO/IEC 18004 asks; a reader may miss a code without them."""

_PIXELS = 10
"""Of one module in a picture."""


def svg(link: str) -> str:
    """The drawing as an element: black on white whatever the page looks like, as large as its place."""
    return _save(link, kind="svg", xmldecl=False, svgns=False, omitsize=True, light="#fff").decode()


def svg_file(link: str) -> bytes:
    """The drawing as a file of its own."""
    return _save(link, kind="svg", omitsize=True, light="#fff")


def png(link: str) -> bytes:
    """The picture."""
    return _save(link, kind="png", scale=_PIXELS, light="#fff")


def _save(link: str, **options: Any) -> bytes:  # noqa: ANN401 - as the library takes them
    file = io.BytesIO()
    # Level M: a crease or a thumb on the paper does not matter. A micro code is read by few telephones.
    segno.make(link, micro=False, error="m").save(file, border=_QUIET_ZONE, **options)
    return file.getvalue()
