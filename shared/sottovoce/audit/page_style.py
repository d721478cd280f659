"""The style of the respondent's page: what it asks for could hang on what is chosen there, and no script would know."""

import re
import sys
from collections.abc import Mapping

from sottovoce.client.page import PageFile

ASKS = "the style of the page asks for something from elsewhere, which may hang on what is chosen"

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})[ \n]?|\\(?=[^0-9a-fA-F\n])")
# What a style may ask for, unless it is in the style itself.
_FETCHES = re.compile(r"@import|(?:url|src|image|image-set|cross-fade)\((?!\s*[\"']?data:)", re.IGNORECASE)


def fetches(style: str) -> bool:
    """Whether a style asks for anything that does not stand in it."""
    return _FETCHES.search(_ESCAPE.sub(_letter, _COMMENT.sub("", style))) is not None


def _letter(escape: re.Match[str]) -> str:
    number = int(escape[1] or "0", 16)
    return chr(number) if 0 < number < sys.maxunicode else ""


def check_styles(files: Mapping[str, PageFile]) -> list[str]:
    """
    What is wrong with the styles of the page as it is served, in words.

    Args:
        files: from ``page.assemble()``.
    """
    pages = [file.body.decode() for name, file in files.items() if name.endswith((".html", ".css"))]
    styles = [style for page in pages for style in re.findall(r"<style[^>]*>(.*?)</style>", page, re.DOTALL) or [page]]
    return [ASKS] if any(map(fetches, styles)) else []
