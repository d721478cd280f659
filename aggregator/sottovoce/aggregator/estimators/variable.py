"""Variables for joint analyses: likelihoods and unbiased scores of reported values.

Unit        A yes/no, a choice and a rating question are one categorical variable each; a select_multiple question is
            one yes/no variable for each option; a number is one numeric variable, a vector one for each coordinate.
Likelihood  A reported value y has the row L[y, x] = c P(y | x) over the true categories or levels x, for any c > 0.
            A true number between two levels is rounded to one of them at random, so its likelihood is on the chord.
Scores      A reported value y has scores z(y) that are unbiased for the truth: E[z_j | x] = 1 if j is x, else 0, and
            E[z | v] = v. Means of scores, also weighted ones, are unbiased for every population.
Marks       If a report either supports a category or not, with a = P(support | true) and b = P(support | other), then
            z = (support - b) / (a - b). With odds g = P(y | x) / P(y | x') of a report that supports x and not x', the
            likelihood row is g^support.
Missing     A value that was not asked or not drawn has no score and a flat likelihood; ``observed`` tells which. Which
            ones are missing does not depend on the truth (missing completely at random), so leaving them out is
            unbiased.
Mechanisms  The maths of yes/no questions and of options is in ``sottovoce.shared.mechanisms``.
Sources     Warner 1965 (scores of yes/no); van den Hout and van der Heijden 2002 (inverse of any channel); Louis 1982
            (likelihood of incomplete data).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators.blocks.block_channel import BlockPlace
from sottovoce.aggregator.estimators.means import ScoredChannel
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.bitwise_rr import BitwiseRR
from sottovoce.shared.mechanisms.hadamard_response import HadamardResponse
from sottovoce.shared.mechanisms.joint_rr import JointMember
from sottovoce.shared.mechanisms.kary_rr import KaryRR
from sottovoce.shared.mechanisms.memoized_rr import MemoizedRR
from sottovoce.shared.mechanisms.optimal_unary import OptimalUnary
from sottovoce.shared.mechanisms.sampled_option import SampledOption
from sottovoce.shared.mechanisms.subset_selection import SubsetSelection

Reported = NDArray[np.integer[Any]]
"""Reported values, shape (u,); usually the distinct values of a column, to be expanded by index."""
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]
Counts = NDArray[np.int64]

SAME_REPORT = "no report contains two options of this question, so they cannot be analysed together"
"""Reason why two ``drawn`` variables of one question have no joint result."""

NO_YES = ("no", "yes")
"""Categories of an option of a select_multiple question: not chosen, chosen."""


def _everyone(reported: Reported) -> Truths:
    return np.ones(len(reported), dtype=bool)


@dataclass(frozen=True, kw_only=True)
class Variable(ABC):
    """Variable of a joint analysis: a question, or an option or coordinate of one.

    Attributes:
        name: name of the option or coordinate; "" for a whole question.
        question: name of the question; "" until ``variables_of`` sets it.
        categories: true categories, in the order of a likelihood row; empty for a number.
        levels: true numbers of a likelihood row, ascending, in the number's own unit; empty for categories.
        public: the device reports the truth itself.
        drawn: each report concerns one part of the question only, so two parts are never observed together.
        only_outcome: reason why the variable cannot be a predictor or in a correlation, as the end of a sentence that
            begins with its name; "" if it can.
        absent: the last category counts people who gave no answer.
        block: its place among questions that are reported together, or None.
        both: P(a report supports two categories | the truth is one of them) and P(two | it is neither); for Hadamard
            response the second one is a mean over the categories.
        observed: returns, for reported values, whether they carry information on this variable.
    """

    name: str = ""
    question: str = ""
    categories: tuple[str, ...] = ()
    levels: tuple[float, ...] = ()
    public: bool = False
    drawn: bool = False
    only_outcome: str = ""
    absent: bool = False
    block: BlockPlace | None = None
    both: tuple[float, float] = (0.0, 0.0)
    observed: Callable[[Reported], Truths] = field(default=_everyone, compare=False)

    @abstractmethod
    def likelihood(self, reported: Reported) -> Floats:
        """Return the rows L[y, x] of reported values that are ``observed``, shape (u, k)."""

    @abstractmethod
    def scores(self, reported: Reported) -> Floats:
        """Return the scores of reported values that are ``observed``: (u, k) for categories, (u,) for a number."""

    @property
    def channels(self) -> tuple[tuple[float, float], ...]:
        """Pairs (a, b) of each category; empty for a number."""
        return ()

    @property
    def answered(self) -> tuple[str, ...]:
        """Categories that an answer can name: all but the one for no answer."""
        return self.categories[: len(self.categories) - self.absent]

    @property
    def unit(self) -> Hashable:
        """Question, or its block: what a device that draws some of the questions asks as one."""
        return self.question if self.block is None else self.block[:2]

    @property
    def full_name(self) -> str:
        """Name of the question, followed by a dot and the name of its part, if any."""
        return ".".join(filter(None, (self.question, self.name)))


@dataclass(frozen=True, kw_only=True)
class YesNo(Variable):
    """Variable with two categories, no and yes, of which a report supports one.

    ``support`` is the exact (P(report yes | yes), P(report yes | no)); ``bit`` maps reported values to True for a yes.
    """

    support: tuple[Fraction, Fraction]
    bit: Callable[[Reported], Truths] = field(compare=False)

    @cached_property
    def marks(self) -> tuple[Fraction, Fraction]:
        """Scores of "yes" for a reported no and a reported yes."""
        a, b = self.support
        return -b / (a - b), (1 - b) / (a - b)

    @property
    def channels(self) -> tuple[tuple[float, float], ...]:
        """Pairs (a, b) of no and of yes."""
        a, b = self.support
        return (float(1 - b), float(1 - a)), (float(a), float(b))

    def supports(self, reported: Reported) -> Truths:
        """Return which of the two categories each reported value supports, shape (u, 2)."""
        yes = self.bit(reported)
        return np.stack([~yes, yes], axis=1)

    def likelihood(self, reported: Reported) -> Floats:
        """Return the rows (1 - b, 1 - a) for a reported no and (b, a) for a reported yes."""
        a, b = map(float, self.support)
        rows: Floats = np.array([[1 - b, 1 - a], [b, a]])[self.bit(reported).astype(int)]
        return rows

    def scores(self, reported: Reported) -> Floats:
        """Return z_yes = (y - b) / (a - b) and z_no = 1 - z_yes."""
        table = np.array([[float(1 - mark), float(mark)] for mark in self.marks])
        scores: Floats = table[self.bit(reported).astype(int)]
        return scores


@dataclass(frozen=True, kw_only=True)
class ChoiceVariable(Variable):
    """Categorical variable whose reports support some categories, all with the same a and b.

    Attributes:
        support: exact P(support | true) and P(support | other), the same for every category.
        odds: likelihood ratio of a truth that a report supports to one that it does not; None if it is infinite.
        supports: returns, for reported values, which categories they support, shape (u, k).
        masks: reported values are bit masks, whose bit j is set if the report supports category j.
        supporting: returns, for the counts of all reported values, how many reports support each category.
    """

    support: tuple[Fraction, Fraction]
    odds: Fraction | None
    supports: Callable[[Reported], Truths] = field(compare=False)
    masks: bool = False
    supporting: Callable[[Counts], Counts] = field(default=lambda counts: counts, compare=False)

    @cached_property
    def marks(self) -> tuple[Fraction, Fraction]:
        """Scores of a category that a report does not support, and of one that it supports."""
        a, b = self.support
        return -b / (a - b), (1 - b) / (a - b)

    @property
    def channels(self) -> tuple[tuple[float, float], ...]:
        """Pairs (a, b), the same for every category."""
        a, b = map(float, self.support)
        return ((a, b),) * len(self.categories)

    def likelihood(self, reported: Reported) -> Floats:
        """Return the rows g^support, or the support itself if g is infinite."""
        near, far = (1.0, 0.0) if self.odds is None else (float(self.odds), 1.0)
        return np.where(self.supports(reported), near, far)

    def scores(self, reported: Reported) -> Floats:
        """Return the unbiased scores (support - b) / (a - b)."""
        without, with_ = map(float, self.marks)
        return np.where(self.supports(reported), with_, without)


@dataclass(frozen=True, kw_only=True)
class NumberVariable(Variable):
    """Numeric variable.

    Attributes:
        marks: unbiased score of each output, in the number's own unit.
        moments: mean square of the scores at each level; empty for a public number.
        blur: largest distance of a number from the level that represents it.
        squares: returns, for outputs, unbiased scores of the squared number; None if the channel does not identify it.
        chances: returns, for outputs, P(output | level) times a positive constant, shape (u, levels).
        output: returns, for reported values, their output, an index into ``marks``.
        coarse: reason why ``squares`` are not exact, as the end of a sentence; "" if they are.
    """

    marks: tuple[Fraction, ...]
    moments: tuple[float, ...] = ()
    blur: float = 0.0
    squares: Callable[[Reported], Floats] | None = field(default=None, compare=False)
    chances: Callable[[Reported], Floats] = field(compare=False)
    output: Callable[[Reported], Reported] = field(default=lambda reported: reported, compare=False)
    coarse: str = ""

    def likelihood(self, reported: Reported) -> Floats:
        """Return the columns of the channel for the reported outputs, shape (u, levels)."""
        return self.chances(self.output(reported))

    def scores(self, reported: Reported) -> Floats:
        """Return the scores z(y) of the number, shape (u,)."""
        return self._scores[self.output(reported)]

    def square_scores(self, reported: Reported) -> Floats | None:
        """Return scores of the squared number, E[z2 | v] = v^2, shape (u,); None if there are none."""
        return None if self.squares is None else self.squares(self.output(reported))

    @cached_property
    def _scores(self) -> Floats:
        return np.array([float(mark) for mark in self.marks])

    @property
    def scored(self) -> ScoredChannel:
        """Channel of the outputs, for the mean; EstimateError for a public number, which has none."""
        return ScoredChannel(self.levels, tuple(map(float, self.marks)), self.moments)

    def tally(self, reports: Mapping[int, int]) -> dict[int, int]:
        """Return the counts of the outputs, from those of the reported values."""
        reported = np.array([*reports], dtype=np.int64)
        there = self.observed(reported)
        return dict(zip(self.output(reported[there]).tolist(), compress(reports.values(), there), strict=True))


def of_table(rows: Any) -> Callable[[Reported], Floats]:  # noqa: ANN401 - whatever numpy makes an array of
    """Return the function ``chances`` for a table of weights, shape (levels, outputs), with equal row sums."""
    columns = np.array(rows, dtype=float).T
    return lambda outputs: columns[outputs]


def bits(masks: Reported, options: int) -> Truths:
    """Return which bits of the masks are set, lowest first, shape (u, options)."""
    octets = np.ascontiguousarray(masks, dtype="<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(octets, axis=1, count=options, bitorder="little").view(np.bool_)


def yes_no(
    mechanism: BinaryRR | MemoizedRR | JointMember, domain: Domain, block: BlockPlace | None = None
) -> list[Variable]:
    """Return one variable, with scores z = (y - b) / (a - b); of a memoized answer valid within one wave only."""
    yes = YesNo(categories=domain.options, support=mechanism.support, bit=lambda reported: reported == 1, block=block)
    return [yes]


def one_category(mechanism: KaryRR | JointMember, domain: Domain, block: BlockPlace | None = None) -> list[Variable]:
    """Return the variable of a report that is a category, and supports that one."""
    a, b = mechanism.support
    return [
        ChoiceVariable(
            categories=domain.options,
            support=(a, b),
            odds=a / b,
            supports=lambda reported: reported[:, None] == np.arange(domain.size),
            block=block,
        )
    ]


def joint_rr(mechanism: JointMember, domain: Domain) -> list[Variable]:
    """Return the variable with the channel of the question alone, k-ary randomized response, and its place."""
    block = BlockPlace(mechanism.block, mechanism.block_name, mechanism.position)
    return (yes_no if mechanism.report_kind == "yes_no" else one_category)(mechanism, domain, block)


def subset_selection(mechanism: SubsetSelection, domain: Domain) -> list[Variable]:
    """Return one variable: a report supports the d options of its subset.

    Maths: P(a set holds two options | one of them is true) = a (d - 1) / (k - 1). If neither is true, the true option
    takes, if it is in the set, one of the d places among the other k - 1 options.
    """
    k, d, a = mechanism.options, mechanism.size, mechanism.support[0]
    pairs = a * (d - 1) * (d - 2) + (1 - a) * d * (d - 1)
    neither = pairs / ((k - 1) * (k - 2)) if k > 2 else Fraction(0)
    return [_mask(mechanism, domain, a * Fraction(d - 1, k - 1), neither)]


def optimal_unary(mechanism: OptimalUnary, domain: Domain) -> list[Variable]:
    """Return one variable: a report supports the options whose bits are set; P(y | x) depends on bit x only."""
    a, b = mechanism.support
    return [_mask(mechanism, domain, a * b, b**2)]


def _mask(mechanism: SubsetSelection | OptimalUnary, domain: Domain, within: Fraction, without: Fraction) -> Variable:
    return ChoiceVariable(
        categories=domain.options,
        support=mechanism.support,
        odds=mechanism.likelihood_ratio,
        supports=lambda reported: bits(reported, mechanism.options),
        masks=True,
        both=(float(within), float(without)),
    )


def hadamard_response(mechanism: HadamardResponse, domain: Domain) -> list[Variable]:
    """Return one variable: a report supports the options that own its column; scores sum to 1 on average."""
    rows = np.arange(1, mechanism.options + 1)

    def owners(columns: Reported) -> Truths:
        # The options whose row index shares an even number of 1 bits with the column.
        even: Truths = np.bitwise_count(columns.astype(np.int64)[:, None] & rows) % 2 == 0
        return even

    return [
        ChoiceVariable(
            categories=domain.options,
            support=mechanism.support,
            odds=mechanism.keep,
            supports=owners,
            both=(float(mechanism.support[0] / 2), 0.25),
            supporting=lambda counts: support_counts(counts)[1 : mechanism.options + 1],
        )
    ]


def support_counts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return, for every row of the Hadamard matrix, the number of reports whose column is +1 in it, shape (K,).

    N_j = (n + sum_y H[j, y] n_y) / 2. The fast Walsh-Hadamard transform takes K log K additions instead of K^2.
    """
    transformed, size, width = counts, len(counts), 1
    while width < size:
        pairs = transformed.reshape(-1, 2, width)
        transformed = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(size)
        width *= 2
    supporting: NDArray[np.int64] = (counts.sum() + transformed) // 2
    return supporting


def sampled_option(mechanism: SampledOption, domain: Domain) -> list[Variable]:
    """Return one variable for each option, observed in the reports that drew it: ``2 * option + bit``."""
    return [_drawn_option(mechanism, index, name) for index, name in enumerate(domain.options)]


def _drawn_option(mechanism: SampledOption, index: int, name: str) -> Variable:
    return YesNo(
        name=name,
        categories=NO_YES,
        drawn=True,
        observed=lambda reported: reported // 2 == index,
        support=mechanism.support,
        bit=lambda reported: reported % 2 == 1,
    )


def bitwise_rr(mechanism: BitwiseRR, domain: Domain) -> list[Variable]:
    """Return one variable for each option, reported by a bit of its own."""
    return [_bit(mechanism, index, name) for index, name in enumerate(domain.options)]


def _bit(mechanism: BitwiseRR, index: int, name: str) -> Variable:
    return YesNo(
        name=name,
        categories=NO_YES,
        support=mechanism.support,
        bit=lambda reported: bits(reported, mechanism.options)[:, index],
    )
