"""Chain lines by hashes: each line of the survey log and of the audit log contains the hash of the line before it.

A line that was changed, moved or removed from the middle is detected, even if the operator of the database did it.
Removing the last lines is detected by comparison with a head that was written down elsewhere.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sottovoce.shared import canonical

FIRST = bytes(32)
"""Previous hash of the first line of a chain."""


class SurveyLogEntry(NamedTuple):
    """Line of the permanent survey log: one change of a survey's state.

    Attributes:
        number: number of the previous line plus one.
        day: counted from 1970-01-01, by the database's own clock.
        what: event, one of the words in ``survey_log``.
        about: the survey's name; for a revision then its number and digest, for tokens the fingerprints of the request;
            separated by spaces.
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
    """Entry of the audit log: one action of staff; deleted after a year. Other fields are as in ``SurveyLogEntry``.

    Attributes:
        what: one of ``events.WHAT``, which also defines the form of ``about``.
        who: an account's id in hexadecimal digits, ``events.MACHINE`` or ``events.NO_ACTOR``.
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
    """Number and hash of a chain's last line; a copy of it elsewhere proves later that no earlier line was changed."""

    number: int
    hash: bytes

    def __str__(self) -> str:
        return f"{self.number}:{self.hash.hex()}"


def broken(lines: Iterable[SurveyLogEntry | AuditEntry], before: ChainHead | None = None) -> Iterator[int]:
    """Yield the numbers of lines, consumed one by one, that do not follow from the line before them.

    ``before`` is the chain's head before the first line; None if that begins the chain, with any number.
    """
    for line in lines:
        # The number is checked too: a line cut from the middle together with a recomputed chain would leave a gap.
        if line.previous != (before.hash if before else FIRST) or (before and line.number != before.number + 1):
            yield line.number
        before = ChainHead(line.number, line.hash)


def _hash(*fields: int | str | bytes) -> bytes:
    # Canonical JSON separates the fields, so that no two entries can have the same bytes.
    return hashlib.sha256(canonical.dump([each.hex() if isinstance(each, bytes) else each for each in fields])).digest()
