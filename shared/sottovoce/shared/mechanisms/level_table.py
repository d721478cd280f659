"""Level table: a number is rounded to one of a few levels, and the level goes through a table made for the mean.

Channel
    The number is step v of a grid with steps 0 .. m; L levels lie evenly from 0 to m. With i = floor(v (L-1) / m) and
    the remainder t = v (L-1) mod m, it is rounded up to level i + 1 with probability t/m, else down to level i
    (drawn with the denominator m, unreduced, whatever v is). The level's row of positive integer weights is drawn
    from; all rows have one sum.
Epsilon
    ln of the worst ratio of two weights in one column. Every v is a mixture of rows, so none costs more; exactly so
    much is spent when m is a multiple of L - 1, where the levels themselves are on the grid.
Estimator
    The mean of the scores z(y). They are whole numbers, billionths of half the range from its middle (-10^9 is the
    least value, 10^9 the largest), and E[z | level] equals the level within 10^-8, which is checked.
Variance
    In half ranges: the second moment of z, linear between levels, minus the square of the mean. Rounding adds at most
    1/16 to it for five levels. Worst level of the seven-output tables that ship for epsilon 1.4, 1.6, ..., 3: see
    ``level_table_data``. Beats ``rounding_rr`` above epsilon 1.3.
Sources
    Wang et al. 2019 (piecewise and hybrid mechanisms, which it replaces); the tables solve a linear program over
    finite unbiased channels, as in Holohan, Leith and Mason 2017 (optimal finite channels).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from sottovoce.shared import rational
from sottovoce.shared.answers import Domain
from sottovoce.shared.canonical import MAX_INTEGER
from sottovoce.shared.errors import Sentence
from sottovoce.shared.mechanisms.base import Mechanism, Parameter, exact_fields
from sottovoce.shared.mechanisms.level_table_data import TABLES

MAX_SIDE = 64
"""Most levels, and most outputs."""

UNIT = 10**9
"""A score of so much is half the range."""

_MAX_BIAS = Fraction(1, 10**8)


_SIDE = {"minItems": 2, "maxItems": MAX_SIDE}
_WEIGHT = {"type": "integer", "minimum": 1, "maximum": rational.MAX_DENOMINATOR}
_SCORES = Parameter({"type": "array", **_SIDE, "items": {"type": "integer"}})
_WEIGHTS = Parameter({"type": "array", **_SIDE, "items": {"type": "array", **_SIDE, "items": _WEIGHT}})


@dataclass(frozen=True)
class LevelTable(Mechanism):
    """A channel for a number of ``steps`` steps (1 .. 2^32), rounded to a level and sent through ``rows``.

    Attributes:
        rows: one row of positive weights for each level, all with the same sum, at most 2^32.
        marks: the score of each output, in billionths of half the range.
    """

    name: ClassVar[str] = "level_table"
    serves: ClassVar[str] = "number"
    report_kind: ClassVar[str] = "mark"
    parameters: ClassVar[Mapping[str, Parameter]] = {"scores": _SCORES, "weights": _WEIGHTS}

    rows: tuple[tuple[int, ...], ...]
    marks: tuple[int, ...]
    steps: int

    def __post_init__(self) -> None:
        if not 1 <= self.steps <= rational.MAX_DENOMINATOR:
            raise ValueError("this mechanism serves grids of 1 to 2^32 steps")
        if not (2 <= len(self.rows) <= MAX_SIDE and 2 <= len(self.marks) <= MAX_SIDE):
            message = "weights must have 2 to {most} rows and as many columns as there are scores"
            raise ValueError(Sentence(message, most=MAX_SIDE))
        if any(len(row) != len(self.marks) or min(row) < 1 or sum(row) != sum(self.rows[0]) for row in self.rows):
            raise ValueError("weights must be above 0, one for each score, with the same sum in every row")
        if sum(self.rows[0]) > rational.MAX_DENOMINATOR:
            raise ValueError("weights must not sum to more than 2^32")
        if any(abs(self._mean(level) - self._place(level)) > _MAX_BIAS for level in range(len(self.rows))):
            raise ValueError("the mean score of each level must be the level itself")

    @classmethod
    def parse(cls, fields: Mapping[str, Any], domain: Domain) -> Self:
        """Parse ``{name: level_table, scores: [..], weights: [[..], ..]}``, a row of weights for each level."""
        exact_fields(fields, cls.parameters)
        if not isinstance(fields["weights"], list):
            raise ValueError("weights must be a list of rows")
        rows = tuple(_integers(row, "weights") for row in fields["weights"])
        return cls(rows, _integers(fields["scores"], "scores"), domain.steps)

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> Self:
        """Choose the table with the largest nominal epsilon that is not above ``epsilon``."""
        nominal = [name for name in TABLES if Fraction(name) <= epsilon]
        if not nominal:
            raise ValueError(Sentence("this mechanism has no table below epsilon {least}", least=min(TABLES)))
        rows, marks = TABLES[max(nominal)]
        return cls(rows, marks, domain.steps)

    def dump(self) -> dict[str, Any]:
        """Return the whole table, so that a survey says by itself what is drawn."""
        return {"name": self.name, "scores": list(self.marks), "weights": [list(row) for row in self.rows]}

    @property
    def largest(self) -> int:
        """The largest reported value: the last output."""
        return len(self.marks) - 1

    def neighbours(self, value: int) -> tuple[int, tuple[int, int]]:
        """Return the level below step ``value``, and weights of rounding down to it and up to the next, of sum m."""
        below, rest = divmod(value * (len(self.rows) - 1), self.steps)
        return below, (self.steps - rest, rest)

    def probability(self, reported: int, value: int) -> Fraction:
        """Return the mixture of two rows."""
        below, (down, up) = self.neighbours(value)
        # At the largest value there is no level above, and ``up`` is 0.
        above = min(below + 1, len(self.rows) - 1)
        weight = down * self.rows[below][reported] + up * self.rows[above][reported]
        return Fraction(weight, self.steps * sum(self.rows[0]))

    @property
    def levels(self) -> tuple[Fraction, ...]:
        """Position of each row's level in steps, from 0 to m."""
        return tuple(Fraction(level * self.steps, len(self.rows) - 1) for level in range(len(self.rows)))

    @property
    def scores(self) -> tuple[Fraction, ...]:
        """Number of steps for each reported value: E[score | v] = v, within 10^-8 half ranges."""
        return tuple((1 + Fraction(mark, UNIT)) * self.steps / 2 for mark in self.marks)

    @property
    def likelihood_ratio(self) -> Fraction:
        """The worst ratio within a column."""
        return max(Fraction(max(column), min(column)) for column in zip(*self.rows, strict=True))

    def explain(self) -> dict[str, int | Fraction]:
        """Return the number of outputs, and how many people with one number send the same one at most."""
        most = max(weight for row in self.rows for weight in row)
        return {"marks": self.largest + 1, "most": Fraction(most, sum(self.rows[0]))}

    def _mean(self, level: int) -> Fraction:
        row = self.rows[level]
        return Fraction(sum(w * z for w, z in zip(row, self.marks, strict=True)), sum(row) * UNIT)

    def _place(self, level: int) -> Fraction:
        return Fraction(2 * level, len(self.rows) - 1) - 1


def _integers(values: object, name: str) -> tuple[int, ...]:
    if not isinstance(values, list) or any(type(value) is not int or abs(value) > MAX_INTEGER for value in values):
        raise ValueError(Sentence("{parameter} must hold whole numbers", parameter=name))
    return tuple(values)
