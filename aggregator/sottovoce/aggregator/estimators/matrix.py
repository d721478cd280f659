"""Estimates through any channel that is given as a matrix P(report | truth); for data that other programs collected.

Channel     P[x, y] = P(report y | truth x): k rows of truths, m >= k columns of reports; each row sums to 1, and the
            rows are linearly independent. Entries may be 0 or 1, so a channel need not be private.
Scores      Z = D^-1 P' (P D^-1 P')^-1, D the diagonal of the mean row: P Z = I, and each row of Z sums to 1. For a
            square P, Z is its inverse. The share of j is the mean of z_j over the reports, unbiased.
Two truths  Two reports of two truths are the yes/no channel a = P(yes | yes), b = P(yes | no); where a < b, a reported
            no supports yes. Limits are exact then, and for a channel with equal a and equal b in all rows.
Limits      Otherwise by the pair (a, b) of a report that either supports j or not and whose score varies as much as
            z_j: with v1 = Var(z_j | j) and v0 the largest Var(z_j | x) of all other truths x,
                a - b = 1 / sqrt(4 v0 + (1 + v1 - v0)^2),  b = (1 - (a - b)(1 + v1 - v0)) / 2,
            and the count n (b + (a - b) f_j). Limits are too wide where other truths vary less than the worst one.
Sources     Chaudhuri and Mukerjee 1988 (any channel); van den Hout and van der Heijden 2002 (its inverse).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import NormalDist
from typing import Any, ClassVar, Self

import numpy as np
from sottovoce.aggregator.estimators.intervals import METHODS, Limits, clip, exact
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, Estimate, IntervalRule, counts_of
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Floats, Reported, Variable, YesNo
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import Sentence
from sottovoce.shared.mechanisms.base import Mechanism, Parameter

ROUNDED = Fraction(1, 10**9)
"""Largest distance of a row's sum from 1 that rounding explains."""

MOST_TRUTHS = 100
_SINGULAR = 1e8


@dataclass(frozen=True)
class MatrixChannel(Mechanism):
    """Channel of a column that another program randomized: P(report | truth), one row for each truth.

    No survey file can name it.
    """

    name: ClassVar[str] = "matrix"
    serves: ClassVar[str] = "option"
    report_kind: ClassVar[str] = "option"
    parameters: ClassVar[Mapping[str, Parameter]] = {}

    rows: tuple[tuple[Fraction, ...], ...]

    def __post_init__(self) -> None:
        if not 2 <= len(self.rows) <= MOST_TRUTHS:
            raise ValueError(Sentence("a matrix has 2 to {most} rows, one for each truth", most=MOST_TRUTHS))
        for number, row in enumerate(self.rows, 1):
            _check_row(number, row, len(self.rows[0]))
        # No two populations may report alike.
        for column, chances in enumerate(zip(*self.rows, strict=True), 1):
            if not any(chances):
                raise ValueError(Sentence("column {column} of the matrix is 0 for every truth", column=str(column)))
        fewer = len(self.rows[0]) < len(self.rows)
        if fewer or np.linalg.cond(self.table) > _SINGULAR:
            raise ValueError("the matrix is singular: different shares of the truths would give the same reports")

    @classmethod
    def parse(cls, fields: Mapping[str, Any], domain: Domain) -> Self:  # noqa: ARG003 - the rows say how many truths
        """Parse ``{rows: [[1/2, 1/2], [0, 1]]}``, numbers or fractions."""
        return cls(tuple(tuple(map(Fraction, row)) for row in fields["rows"]))

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> Self:  # noqa: ARG003 - no matrix has one
        """Refuse: a matrix is known, not chosen."""
        raise ValueError("a matrix cannot be chosen by its epsilon")

    @classmethod
    def yes_no(cls, a: Fraction, b: Fraction) -> Self:
        """Return the channel with P(report yes | yes) = a and P(report yes | no) = b."""
        return cls(((1 - b, b), (1 - a, a)))

    def dump(self) -> dict[str, Any]:
        """Return the rows as fractions."""
        return {"name": self.name, "rows": [[str(chance) for chance in row] for row in self.rows]}

    @property
    def largest(self) -> int:
        """Largest reported value: the last report."""
        return len(self.rows[0]) - 1

    def probability(self, reported: int, value: int) -> Fraction:
        """Return the entry of the matrix."""
        return self.rows[value][reported]

    @cached_property
    def epsilon(self) -> float:
        """Privacy loss of one report: infinite if a report excludes a truth."""
        return math.log(self.likelihood_ratio) if all(map(all, self.rows)) else math.inf

    @property
    def likelihood_ratio(self) -> Fraction:
        """Largest ratio of two probabilities of one report; ZeroDivisionError if a report excludes a truth."""
        columns: list[tuple[Fraction, ...]] = list(zip(*self.rows, strict=True))
        return max(max(column) / min(column) for column in columns)

    def explain(self) -> dict[str, int | Fraction]:
        """Return nothing: no form explains this channel."""
        return {}

    @cached_property
    def table(self) -> Floats:
        """Return the matrix, shape (k, m)."""
        return np.array([[float(chance) for chance in row] for row in self.rows])

    @cached_property
    def scores(self) -> Floats:
        """Unbiased scores z_j(y), shape (m, k)."""
        weighted = self.table.T / self.table.mean(axis=0)[:, None]
        found: Floats = weighted @ np.linalg.inv(self.table @ weighted)
        return found

    @cached_property
    def variances(self) -> Floats:
        """Var(z_j | x), shape (k truths x, k scores j)."""
        return np.maximum(self.table @ self.scores**2 - np.eye(len(self.rows)), 0.0)

    @cached_property
    def support(self) -> tuple[Fraction, Fraction] | None:
        """P(support | true) and P(support | other), if these are the same for every truth; else None."""
        k = len(self.rows)
        if len(self.rows[0]) != k:
            return None
        if k == 2:
            a, b = self.rows[1][1], self.rows[0][1]
            return (a, b) if a > b else (1 - a, 1 - b)
        own = {self.rows[x][x] for x in range(k)}
        other = {self.rows[x][y] for x in range(k) for y in range(k) if x != y}
        if len(own) > 1 or len(other) > 1:
            return None
        a, b = own.pop(), other.pop()
        return (a, b) if a > b else None

    @property
    def yes(self) -> int:
        """Report that supports the second of two truths."""
        return int(self.rows[1][1] > self.rows[0][1])

    @cached_property
    def pairs(self) -> tuple[tuple[float, float], ...]:
        """Pairs (a, b) whose scores vary as those of each category, see ``Limits``."""
        found = []
        for j in range(len(self.rows)):
            v1, v0 = self.variances[j, j], np.delete(self.variances[:, j], j).max()
            gap = 1 / math.sqrt(4 * v0 + (1 + v1 - v0) ** 2)
            low = min(max((1 - gap * (1 + v1 - v0)) / 2, 0.0), 1.0 - gap)
            found.append((float(low + gap), float(low)))
        return tuple(found)


def _check_row(number: int, row: Sequence[Fraction], width: int) -> None:
    if len(row) != width:
        raise ValueError(Sentence("row {row} of the matrix has another length than row 1", row=str(number)))
    if any(not 0 <= chance <= 1 for chance in row):
        raise ValueError(Sentence("row {row} of the matrix has a probability below 0 or above 1", row=str(number)))
    whole = sum(row, Fraction(0))
    if abs(whole - 1) > ROUNDED:
        raise ValueError(
            Sentence("row {row} of the matrix sums to {sum}, not to 1", row=str(number), sum=f"{float(whole):.6g}")
        )


@dataclass(frozen=True, kw_only=True)
class MatrixVariable(Variable):
    """Categorical variable with any channel."""

    channel: MatrixChannel

    @property
    def channels(self) -> tuple[tuple[float, float], ...]:
        """Pairs (a, b) of each category that vary as much as its scores."""
        return self.channel.pairs

    def likelihood(self, reported: Reported) -> Floats:
        """Return the columns of the matrix."""
        return self.channel.table.T[reported.astype(np.intp)]

    def scores(self, reported: Reported) -> Floats:
        """Return the rows of the inverse."""
        return self.channel.scores[reported.astype(np.intp)]


def variables(mechanism: MatrixChannel, domain: Domain) -> list[Variable]:
    """Return one variable, the whole question."""
    support, categories = mechanism.support, domain.options
    if support is None:
        return [MatrixVariable(categories=categories, channel=mechanism)]
    if len(categories) == 2:
        return [YesNo(categories=categories, support=support, bit=lambda y: y == mechanism.yes)]
    a, b = support
    return [
        ChoiceVariable(
            categories=categories,
            support=support,
            odds=a / b if b else None,
            supports=lambda y: y[:, None] == np.arange(len(categories)),
        )
    ]


def estimate(
    mechanism: MatrixChannel, tally: Mapping[int, int], domain: Domain, rule: IntervalRule = DEFAULT_RULE
) -> list[Estimate]:
    """Estimate the share of each truth, in the order of the rows, where the truths have no common ``support``."""
    counts = counts_of(tally, mechanism.largest + 1)
    n = int(counts.sum())
    some = max(n, 1)
    raw = counts @ mechanism.scores / some
    squares = counts @ mechanism.scores**2 / some
    errors = np.sqrt(np.maximum(squares - raw**2, 0.0) / max(n - 1, 1))
    shares = np.clip(raw, 0, 1) / max(np.clip(raw, 0, 1).sum(), 1e-300)
    fixed = np.sqrt(shares @ mechanism.variances / some)
    figures = zip(raw.tolist(), errors.tolist(), fixed.tolist(), strict=True)
    return [_estimate(mechanism, place, n, option, each, rule)
            for place, (option, each) in enumerate(zip(domain.options, figures, strict=True))]  # fmt: skip


def _estimate(
    mechanism: MatrixChannel, place: int, n: int, option: str, figures: tuple[float, float, float], rule: IntervalRule
) -> Estimate:
    (a, b), (raw, error, fixed), k = mechanism.pairs[place], figures, len(mechanism.rows)
    count = min(max(n * (b + (a - b) * raw), 0.0), float(n))
    low, high = _ends(METHODS[rule.method](count, n, a, b, rule.confidence))
    joint_low, joint_high = _ends(exact(count, n, a, b, rule.joint_confidence(k)))
    scores = mechanism.scores[:, place]
    alarm = -NormalDist().inv_cdf(NormalDist().cdf(-3.0) / k) / math.sqrt(max(n, 1))
    return Estimate(
        option=option,
        a=a,
        b=b,
        raw=raw if n else None,
        clipped=clip(raw) if n else None,
        std_error=error if n > 1 else None,
        low=low,
        high=high,
        method=rule.method,
        confidence=rule.confidence,
        n=n,
        std_error_fixed=fixed if n else None,
        simultaneous_low=joint_low,
        simultaneous_high=joint_high,
        implausible=bool(n)
        and not -alarm * math.sqrt(b * (1 - b)) <= raw * (a - b) <= (a - b) + alarm * math.sqrt(a * (1 - a)),
        poisoning=rule.fakes * max(float(scores.max()), 1 - float(scores.min())),
    )


def _ends(limits: Limits) -> tuple[float, float]:
    return float(limits[0]), float(limits[1])
