"""Read a column through its channel, as ``parse_channel`` has parsed it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.estimators.matrix import MatrixChannel
from sottovoce.shared.answers import ABSENT
from sottovoce.shared.errors import Sentence
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR
from sottovoce.shared.mechanisms.joint_rr import JointMember, JointRR, JointYesNo
from sottovoce.shared.spec import Question

Rows = tuple[tuple[Fraction, ...], ...]

PAIRS = (
    ("no", "yes"), ("0", "1"), ("false", "true"), ("n", "y"), ("nein", "ja"), ("non", "oui"), ("no", "sí"),
    ("no", "si"), ("não", "sim"), ("nao", "sim"),
)  # fmt: skip
"""Values that mean no and yes, in lower case."""

SAME = (("different", "same"), ("unequal", "equal"))
"""Values of the crosswise design, in lower case."""

NOT_REPORTED = "(not reported {number})"
"""Name of an option that the channel has and no report shows."""

MISSING_LEVELS = "name the values for no and yes: levels=NO,YES"
MISSING_SAME = "name the value that means 'same': same=VALUE"
UNKNOWN = "the channel cannot report this value; it reports: {values}"


class UnknownValue(ValueError):
    """A value that the channel cannot report, for its place in the file; the message does not repeat it."""

    def __init__(self, value: str, reason: str) -> None:
        super().__init__(reason)
        self.value = value


@dataclass(frozen=True)
class Reading:
    """The codes of a column: its options, its reports and its matrix.

    Attributes:
        options: the true options, in the order of the matrix's rows.
        reports: reported value in the matrix's columns, by the text in the file.
        channel: the matrix, or the column's part of a block.
    """

    options: tuple[str, ...]
    reports: Mapping[str, int]
    channel: Mechanism


@dataclass(frozen=True)
class JoinedColumns:
    """Columns that were randomized together by a mechanism, in its order."""

    mechanism: JointRR
    names: tuple[str, ...]

    def member(self, name: str) -> JointMember:
        """Return the part of a column; raise ValueError if it is not named."""
        if name not in self.names:
            raise ValueError("with= must name the column itself, in the place of its number in k=")
        position = self.names.index(name)
        made = JointYesNo if self.mechanism.sizes[position] == 2 else JointMember
        return made(self.mechanism, position, ",".join(self.names))


@dataclass(frozen=True)
class ColumnChannel:
    """A channel of one column.

    Attributes:
        name: name of the design; "matrix" for rows that were given themselves.
        rows: P(report | truth); None where the number of options is not known before the values are.
        same: the crosswise design, whose values are "same" and "different".
        levels: names of the true options; empty if the values name them.
        values: values in the file, in the order of the matrix's columns; empty if they are the levels.
        odds: of ``kary_rr``.
        size: number of options; 0 if unknown.
        asked: the question of a mechanism whose reports are codes or numbers; None for options.
        block: the columns that were randomized together with this one; None for none.
        by_fact: the channel of an innocuous share with a standard error; None for others.
    """

    name: str
    rows: Rows | None = None
    same: str = ""
    levels: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    odds: Fraction | None = None
    size: int = 0
    asked: Question | None = None
    block: JoinedColumns | None = None
    by_fact: InnocuousRR | None = None

    @property
    def public(self) -> bool:
        """True for an open question."""
        return self.name in {"public", "number"}

    def read(self, found: Sequence[str], name: str = "") -> Reading:
        """Return how the different values of a column, without missing ones, are read.

        Raises UnknownValue, or ValueError if the channel needs names for its values.
        """
        if self.asked is not None:
            raise ValueError("this channel is for a column of numbers, not for counts of values")
        if self.name == "crosswise":
            return self._crosswise(found)
        if self.block is not None:
            return self._in_block(self.block.member(name), found)
        if self.rows is None:
            options = self.levels or _padded(_sorted(found), self.size)
            rows = kary_rows(self.odds or Fraction(0), options)
            return Reading(options, _reports(options, found), MatrixChannel(rows))
        channel, count = self.by_fact or MatrixChannel(self.rows), len(self.rows[0])
        values = self.values or self.levels or _recognized(found, count)
        if len(values) != count:
            raise ValueError(Sentence("the channel has {count} reports: name as many", count=str(count)))
        options = _as_many(self.levels or values, len(self.rows))
        return Reading(options, _reports(values, found), channel)

    def _in_block(self, member: JointMember, found: Sequence[str]) -> Reading:
        pair = _pair(found, PAIRS) if member.options == 2 else None
        options = _as_many(self.levels or pair or _padded(_sorted(found), member.options), member.options)
        return Reading(options, _reports(options, found), member)

    def _crosswise(self, found: Sequence[str]) -> Reading:
        pair = _pair(found, SAME) if not self.same else None
        if pair is None and not self.same:
            raise ValueError(MISSING_SAME)
        others = [value for value in found if value != self.same]
        values = pair or (others[0] if others else f"not {self.same}", self.same)
        channel = self.by_fact or MatrixChannel(self.rows or ())
        # Of a rare fact, the value that supports yes is the one that means "different".
        places = values[::-1] if self.by_fact is not None and self.by_fact.share < Fraction(1, 2) else values
        return Reading(self.levels or ("no", "yes"), _reports(places, found), channel)


def kary_rows(odds: Fraction, options: Sequence[Any]) -> Rows:
    """Return the matrix of k-ary randomized response with these odds."""
    whole, places = odds + len(options) - 1, range(len(options))
    return tuple(tuple((odds if x == y else Fraction(1)) / whole for y in places) for x in places)


def _recognized(found: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the two values as they are in the file."""
    if count != 2:
        raise ValueError(Sentence("name its {count} values in the order of the matrix: levels=...", count=str(count)))
    if pair := _pair(found, PAIRS):
        return pair
    raise ValueError(MISSING_LEVELS)


def _as_many(options: tuple[str, ...], count: int) -> tuple[str, ...]:
    if len(options) != count:
        raise ValueError(Sentence("the channel has {count} options: name as many levels", count=str(count)))
    return options


def _pair(found: Sequence[str], pairs: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """Return a pair as it is spelled in the column; raise UnknownValue if both stand there beside another value."""
    written = {value.casefold(): value for value in reversed(found)}
    for one, other in pairs:
        pair = written.get(one, one), written.get(other, other)
        if set(found) <= set(pair):
            return pair
        if {one, other} <= set(written):
            raise _unknown(next(value for value in found if value not in pair), pair)
    return None


def _padded(found: Sequence[str], size: int) -> tuple[str, ...]:
    missing = range(1, size - len(found) + 1)
    return (*found[:size], *(NOT_REPORTED.format(number=number) for number in missing))


def _sorted(found: Sequence[str]) -> list[str]:
    # What our window writes for no answer is after the options, as in a survey.
    return sorted(found, key=lambda value: (value == ABSENT, as_number(value) is None, as_number(value) or 0, value))


def as_number(text: str) -> Fraction | None:
    """Return the number that a cell says, exactly; None if it is no finite number."""
    try:
        # A cell such as 1e999999 would take a gigabyte.
        if len(text) > 40 or not math.isfinite(float(text)):
            return None
        return Fraction(text)
    except (ValueError, OverflowError):
        return None


def _reports(values: Sequence[str], found: Sequence[str]) -> dict[str, int]:
    places = {value: place for place, value in enumerate(values)}
    for value in found:
        if value not in places:
            raise _unknown(value, values)
    return places


def _unknown(value: str, values: Sequence[str]) -> UnknownValue:
    return UnknownValue(value, Sentence(UNKNOWN, values=", ".join(values)))
