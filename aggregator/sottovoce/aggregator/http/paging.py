"""Page lists by ``?limit=`` and ``?cursor=``; each page has the cursor of the next one.

A cursor encodes the key of the last row shown (keyset pagination). Keys only grow, so rows that are added or deleted
meanwhile never cause rows to repeat or to be skipped.
"""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Query

T = TypeVar("T")

MOST = 1000
USUAL = 100

_ROWS = {"type": "integer", "minimum": 1, "maximum": MOST}

PAGING = (
    Query("limit", f"How many rows at most; {USUAL} if it is not given.", _ROWS),
    Query("cursor", "Value of `next` in the previous page.", {"type": "string", "pattern": "^[A-Za-z0-9_-]{2,28}$"}),
)
"""Query parameters for all routes that return lists."""


@dataclass(frozen=True)
class Page(Generic[T]):
    """Page of a list: rows in the order of their keys, and the cursor of the next page; None on the last."""

    rows: Sequence[T]
    next: str | None

    def document(self, row: Callable[[T], Any]) -> dict[str, Any]:
        """Return the page as a JSON object, with ``row`` applied to each row."""
        return {"items": [row(each) for each in self.rows], "next": self.next}


def page_of(rows: Sequence[T], key: Callable[[T], int], asked: Mapping[str, str]) -> Page[T]:
    """Return the page that a request's query asks for. Later rows have larger keys, and keys are never reused.

    Raises Refusal, ``malformed``, if the limit or the cursor is invalid.
    """
    after, limit = _cursor(asked.get("cursor")), _limit(asked.get("limit"))
    left = sorted((row for row in rows if key(row) > after), key=key)
    shown = left[:limit]
    return Page(shown, _spell(key(shown[-1])) if len(left) > limit else None)


def _limit(text: str | None) -> int:
    if text is None:
        return USUAL
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MOST)) and 1 <= int(text) <= MOST):
        raise Refusal("malformed", f"limit is a whole number from 1 to {MOST:,}")
    return int(text)


def _spell(key: int) -> str:
    return base64.urlsafe_b64encode(str(key).encode()).decode().rstrip("=")


def _cursor(text: str | None) -> int:
    if text is None:
        return -1
    try:
        key = int(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
    except (ValueError, binascii.Error):
        key = -1
    if key < 0 or _spell(key) != text:
        raise Refusal("malformed", "cursor is the `next` of another page of this list")
    return key
