"""
Lines of which each holds the hash of the one before it: the survey's own record, and the journal of staff.

None can be changed, swapped or taken out of the middle unseen, whoever has the database; nor can any that comes before
a line whose hash somebody has noted elsewhere.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from sottovoce.shared import canonical

FIRST = bytes(32)
"""Stands for the hash of a line before the first."""


class SurveyLogEntry(NamedTuple):
    """
    What is remembered for good of one step in the life of a survey.

    Attributes:
        number: one more than that of the line before it.
        day: counted from 1970-01-01, by the database's own clock.
        what: happened.
        about: the survey's name; of a revision, also its number and digest, each after a space; of tokens, also the
            fingerprints of the request that they were made for.
        previous: hash of the line before it.
    """

    number: int
    day: int
    what: str
    about: str
    previous: bytes

    @property
    def hash(self) -> bytes:
        """SHA-256 of the line as canonical JSON."""
        return _hash(*self)


class AuditEntry(NamedTuple):
    """
    What is remembered for a year of one thing that staff did.

    Attributes:
        number: one more than that of the entry before it.
        day: counted from 1970-01-01, by the database's own clock.
        what: one of ``journal_words.WHAT``.
        who: an account's id in hexadecimal digits, ``journal_words.MACHINE`` or ``journal_words.NOBODY``.
        about: as ``what`` asks for.
        previous: hash of the entry before it.
    """

    number: int
    day: int
    what: str
    who: str
    about: str
    previous: bytes

    @property
    def hash(self) -> bytes:
        """SHA-256 of the entry as canonical JSON."""
        return _hash(*self)


class ChainHead(NamedTuple):
    """The last of some lines: whoever notes its hash can tell later on whether any line up to it was changed."""

    number: int
    hash: bytes

    def __str__(self) -> str:
        return f"{self.number}:{self.hash.hex()}"


class _Chained(Protocol):
    @property
    def number(self) -> int: ...

    @property
    def previous(self) -> bytes: ...

    @property
    def hash(self) -> bytes: ...


def broken(found: Iterable[_Chained], before: ChainHead | None = None) -> Iterator[int]:
    """
    Numbers of the lines that do not follow from the one before them.

    Args:
        found: lines in their order; they are looked at one by one.
        before: what the first of them follows; without, it is the first there ever was, with any number.
    """
    for line in found:
        if line.previous != (before.hash if before else FIRST) or (before and line.number != before.number + 1):
            yield line.number
        before = ChainHead(line.number, line.hash)


def _hash(*fields: int | str | bytes) -> bytes:
    told = [each.hex() if isinstance(each, bytes) else each for each in fields]
    return hashlib.sha256(canonical.dump(told)).digest()
