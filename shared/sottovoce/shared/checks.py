"""Read single values of a document; each mistake is noted with its JSON pointer, never raised."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date, datetime
from typing import Any

from sottovoce.shared.errors import Problem, Sentence, error_message

NAME = re.compile(r"[a-z0-9][a-z0-9_]{0,63}")
"""Name of a question, an option, a block or a fact."""
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*")
"""A BCP 47 tag of language, script, region and variants, in its one usual spelling: EN and en would be two texts."""

LANGUAGE_FAULT = "must be a language tag such as en, pt-BR or zh-Hans"


_TEXT = re.compile("[\n -\U0010ffff]{1,4000}")
_DAY = re.compile(r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

MISSING: Any = object()
"""Stands for a required value that is not there, a mistake already noted."""


class Reader:
    """The mistakes of one document, collected while it is read, so that all are reported at once.

    Every method takes a value of any kind and its JSON pointer, for the message, and returns something usable even
    after a mistake, so that reading goes on.
    """

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.default_language = ""

    def problem(self, pointer: str, message: str) -> None:
        """Record one mistake at a JSON pointer."""
        self.problems.append(Problem(pointer, message))

    @contextmanager
    def noting(self, pointer: str) -> Iterator[None]:
        """Record a ``ValueError`` of what is read within as a mistake at a JSON pointer."""
        try:
            yield
        except ValueError as error:
            self.problem(pointer, error_message(error))

    def fields(self, value: object, pointer: str, required: set[str], optional: set[str]) -> dict[str, Any]:
        """Return a map with exactly these keys allowed."""
        if not isinstance(value, dict):
            self.problem(pointer, "must be a map")
            return {}
        for key in sorted(required - set(value)):
            self.problem(f"{pointer}/{key}", "is missing")
        for key in value:
            if key not in required | optional:
                # The author's own key is the only way to say which one; texts and values are never repeated.
                escaped = str(key).replace("~", "~0").replace("/", "~1")
                self.problem(f"{pointer}/{escaped}", "is not a known key")
        return value

    def items(self, value: object, pointer: str, least: int, most: int) -> list[Any]:
        """Return a list whose length should lie between ``least`` and ``most``; never longer than that."""
        found = value if isinstance(value, list) else []
        if found is not value or not least <= len(found) <= most:
            self.problem(pointer, Sentence("must be a list of {least} to {most} items", least=least, most=most))
        # What is in it is read all the same, so that its own mistakes are found too.
        return found[:most]

    def match(self, value: object, pointer: str, pattern: re.Pattern[str], message: str = "") -> str:
        """Return text that ``pattern`` matches in full; ``message`` is what to say instead of the pattern."""
        if value is MISSING:
            return ""
        if isinstance(value, str) and pattern.fullmatch(value):
            return value
        self.problem(pointer, message or Sentence("must be text of the form {form}", form=pattern.pattern))
        return ""

    def one_of(self, value: object, pointer: str, allowed: tuple[str, ...]) -> str:
        """Return one of a closed list of words, the first after a mistake."""
        if isinstance(value, str) and value in allowed:
            return value
        self.problem(pointer, Sentence("must be one of: {words}", words=", ".join(allowed)))
        return allowed[0]

    def mark(self, value: object, pointer: str) -> bool:
        """Return True for a key that is either true or left out; False after a mistake."""
        if value is not True:
            self.problem(pointer, "must be true, or left out")
        return value is True

    def integer(self, value: object, pointer: str, low: int, high: int) -> int:
        """Return a whole number from ``low`` (returned after a mistake) to ``high``; true and false are not numbers."""
        if type(value) is int and low <= value <= high:
            return value
        self.problem(pointer, Sentence("must be a whole number from {low} to {high}", low=str(low), high=str(high)))
        return low

    def text_map(self, value: object, pointer: str) -> dict[str, str]:
        """Return a text in one or more languages, the default language among them."""
        if value is MISSING:
            return {}
        if not isinstance(value, dict) or not value:
            self.problem(pointer, Sentence("must be a map from language tags to texts, such as {{en: ...}}"))
            return {}
        for tag, text in value.items():
            if not isinstance(tag, str) or not LANGUAGE.fullmatch(tag):
                self.problem(pointer, "has a key that is not a language tag such as en, pt-BR or zh-Hans")
            elif not isinstance(text, str) or not _TEXT.fullmatch(text):
                self.problem(f"{pointer}/{tag}", "must be text of 1 to 4000 characters without control characters")
        if self.default_language and self.default_language not in value:
            self.problem(pointer, "has no text in the default language")
        return value

    def moment(self, value: object, pointer: str) -> datetime | None:
        """Return a moment in UTC, or None."""
        if value is None:
            return None
        with suppress(ValueError):
            if isinstance(value, str) and _MOMENT.fullmatch(value):
                return datetime.fromisoformat(value)
        self.problem(pointer, "must be a moment such as 2026-12-31T23:59:59Z")
        return None

    def day(self, value: object, pointer: str) -> date | None:
        """Return a day of the calendar; None for a mistake."""
        with suppress(ValueError):
            if isinstance(value, str) and _DAY.fullmatch(value):
                return date.fromisoformat(value)
        self.problem(pointer, "must be a day such as 2026-12-31, written as text")
        return None


def document_at(fields: Mapping[str, Any], pointer: str) -> Mapping[str, Any]:
    """Return what the file has at the pointer of an item or a block; an empty map after a mistake."""
    value: Any = fields
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value if isinstance(value, dict) else {}
