"""Read the tokens of a short text in a closed grammar: a model formula, or the condition of a subset.

A token is a number, a name (also in backquotes), a text in double quotes, or one of a few signs. Each error names the
column, counted from 1; it never repeats what the text holds there.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, NoReturn, TypeVar

from sottovoce.shared.errors import EstimateError, Sentence

T = TypeVar("T")

# These texts come over HTTP and the parsers are recursive, so length and depth are bounded before anything is parsed.
MOST_CHARACTERS = 1000
MOST_NESTED = 20

# A number must not run into a name: 2x is refused, not read as 2 and x.
_TOKEN = re.compile(
    r"""(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9_.])|`(?P<quoted>[^`\n]+)`|"""
    r"""(?P<name>[A-Za-z][A-Za-z0-9_.]*)|"(?P<text>[^"\n]*)"|(?P<sign>\*\*|!=|<=|>=|[-+*/^:(),=~<>])|(?P<space>\s+)"""
)


class Token(NamedTuple):
    """Kind of a token (number, name, text, sign or end), its text, and its column."""

    kind: str
    text: str
    column: int


class TokenReader:
    """Cursor over the tokens of one text; EstimateError if it is too long, or has a character of no token.

    Args:
        about: pattern of every error, with ``{place}`` and ``{reason}``.
        unexpected: reason for a token that cannot be where it is.
    """

    def __init__(self, text: str, about: str, unexpected: str) -> None:
        self.about = about
        self.unexpected = Sentence(unexpected)
        if len(text) > MOST_CHARACTERS:
            self.refuse(Sentence("there are more than {most} characters", most=MOST_CHARACTERS), MOST_CHARACTERS + 1)
        self.tokens = list(self._read(text))
        self._at = 0
        self.nested = 0

    def _read(self, text: str) -> Iterator[Token]:
        place = 0
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None:
                self.refuse(self.unexpected, place + 1)
            kind = found.lastgroup or ""
            if kind != "space":
                yield Token("name" if kind == "quoted" else kind, found[kind], place + 1)
            place = found.end()
        yield Token("end", "", place + 1)

    @property
    def token(self) -> Token:
        """Token at the cursor; the last one is the end."""
        return self.tokens[self._at]

    def next(self) -> Token:
        """Return the token at the cursor, and move on."""
        token = self.token
        self._at = min(self._at + 1, len(self.tokens) - 1)
        return token

    def take(self, *texts: str, kind: str = "sign") -> str:
        """Move past a token of this kind with one of these texts and return its text; "" if there is none."""
        return self.next().text if self.token.kind == kind and self.token.text in texts else ""

    def name(self) -> str:
        """Move past the name of a question and return it, or refuse what is there."""
        if self.token.kind != "name":
            self.refuse(Sentence("the name of a question is missing here"))
        return self.next().text

    def need(self, sign: str) -> None:
        """Move past a sign, or refuse what is there."""
        if not self.take(sign):
            self.refuse(Sentence("'{sign}' is missing here", sign=sign))

    def end(self) -> None:
        """Refuse a text that goes on."""
        if self.token.kind != "end":
            self.refuse(self.unexpected)

    def inside(self, read: Callable[[], T]) -> T:
        """Read what is inside a bracket that is open, and the closing one."""
        found = self.deeper(read)
        self.need(")")
        return found

    def deeper(self, read: Callable[[], T]) -> T:
        """Read one level deeper; refuse more levels than ``MOST_NESTED``."""
        self.nested += 1
        if self.nested > MOST_NESTED:
            self.refuse(Sentence("brackets and signs are nested more than {most} deep", most=MOST_NESTED))
        found = read()
        self.nested -= 1
        return found

    def refuse(self, reason: Sentence, column: int = 0) -> NoReturn:
        """Raise an error that names the column, by default the column of the token at the cursor."""
        raise EstimateError(self.about, place=column or self.token.column, reason=reason)
