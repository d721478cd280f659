"""Joint randomized response: the answers to several questions, reported together.

Channel
    A block has d questions with k_1, ..., k_d categories. h(x, y) is the number of questions in which the true
    combination x and the reported one y differ. With odds g = p/q in lowest terms, g > 1, the weight of y is p if
    h(x, y) <= radius, else q. N_h, the number of combinations at distance h, is the coefficient of z^h in
    prod(1 + (k_i - 1) z); the weights of a row sum to total = sum N_h w_h.
    radius 0 is k-ary randomized response on the combinations.
Epsilon
    ln g, exactly, for the whole block and for each question in it: people may know the other answers.
Questions alone
    For a set S of the block's questions, P(a given report on S that differs from the truth in m of them) is
    sum_h N_h(rest) w_(h+m) / total, N(rest) over the questions outside S. One question is therefore reported by
    k-ary randomized response with a = P(true), b = P(each other category).
Asked
    With ask m the device draws m of the d questions, every set with the same chance whatever the answers, and reports
    these alone, as a block of m. All d have the same number of categories, so that each set has the same channel.
Identified
    The channel of S has one eigenvalue for each subset T of S: the sum over the patterns of mismatches in T of the
    probability above, with the sign (-1)^m. Of one question it is a - b, above 0 for every radius below d; a table of
    S is identified if none is 0.
Estimator
    Of one question as from k-ary randomized response: f_j = (n_j/n - b) / (a - b).
Variance
    lambda (1 - lambda) / (n (a - b)^2), lambda = b + (a - b) f_j, for an i.i.d. sample. Two yes/no questions with
    odds 9 and radius 0: a = 5/6, 9/16 of the variance of a coin flip at 1/2.
Sources
    Warner 1965; Kairouz, Bonawitz and Ramage 2016 (radius 0); Duchi, Jordan and Wainwright 2018 (yes/no, radius
    floor((d - 1)/2)).
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Any, ClassVar, Self

from sottovoce.shared import rational
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms import MAX_EPSILON, MIN_EPSILON, base

MIN_QUESTIONS, MAX_QUESTIONS = 2, 12
MAX_COMBINATIONS = 65_536
MAX_ODDS_DENOMINATOR = 20
"""Largest denominator of odds that are made from an epsilon."""

MAX_CONDITION = 1000
"""The largest condition number of a pair's channel, for a radius that is made from an epsilon."""


@dataclass(frozen=True)
class JointRR:
    """The agreed numbers of a block of questions.

    Attributes:
        odds: of a combination within the radius against one beyond it, above 1.
        radius: in how many answers a report may differ from the truth and still have the larger weight.
        sizes: number of categories of each question, 2 to 12 questions.
        ask: number of the questions that the device draws for each respondent; None for all.
    """

    name: ClassVar[str] = "joint_rr"
    parameters: ClassVar[Mapping[str, base.Parameter]] = {
        "odds": base.FRACTION,
        "radius": base.whole(0, MAX_QUESTIONS - 1),
    }

    odds: Fraction
    radius: int
    sizes: tuple[int, ...]
    ask: int | None = None

    def __post_init__(self) -> None:
        if self.odds <= 1:
            raise ValueError("odds must be above 1")
        check_sizes(self.sizes)
        if self.ask is not None and not MIN_QUESTIONS <= self.ask < len(self.sizes):
            raise ValueError("ask must be at least 2 and less than the number of questions of the block")
        if self.ask is not None and len({*self.sizes}) > 1:
            raise ValueError("with ask, all questions of the block have the same number of answers")
        if not 0 <= self.radius < self.asked:
            raise ValueError("radius must be less than the number of questions that are asked")
        if self.total > rational.MAX_DENOMINATOR:
            raise ValueError("the odds make weights that sum to more than 2^32")

    @classmethod
    def parse(cls, fields: Mapping[str, Any], sizes: tuple[int, ...], ask: int | None = None) -> Self:
        """Parse ``{name: joint_rr, odds: "9", radius: 0}``, or ``{epsilon: "2.2"}``; errors as ``Mechanism``."""
        if set(fields) - {"name"} == {"epsilon"}:
            return cls.for_epsilon(base.decimal_field(fields, "epsilon"), sizes, ask)
        base.exact_fields(fields, cls.parameters)
        return cls(
            base.fraction_field(fields, "odds"), base.integer_field(fields, "radius", 0, MAX_QUESTIONS - 1), sizes, ask
        )

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, sizes: tuple[int, ...], ask: int | None = None) -> Self:
        """Choose the largest odds within ``epsilon``, of a report, with the best radius that identifies all pairs well.

        The best radius has the least variance of a rare category, where questions differ in the worst of the ratios to
        the variance by a part of epsilon of their own. Raises ValueError if epsilon is out of range, or there are no
        such odds.
        """
        if not MIN_EPSILON <= epsilon <= MAX_EPSILON:
            raise ValueError("epsilon must lie between 0.01 and 10")
        bound = rational.exp_below(epsilon)
        odds = max(Fraction(math.floor(bound * below), below) for below in range(1, MAX_ODDS_DENOMINATOR + 1))
        if odds <= 1:
            raise ValueError("a block needs an epsilon of at least 0.05")
        check_sizes(sizes)
        return min(cls._identifying(odds, sizes, ask), key=lambda made: max(made.variance_ratios))

    @classmethod
    def _identifying(cls, odds: Fraction, sizes: tuple[int, ...], ask: int | None) -> list[Self]:
        """Return those with these odds whose pairs are identified well: always at least the one with radius 0."""
        found = [cls(odds, 0, sizes, ask)]
        for radius in range(1, ask or len(sizes)):
            with suppress(ValueError):
                found.append(cls(odds, radius, sizes, ask))
        pairs = [*combinations(range(len(sizes)), 2)]
        return [made for made in found if all(made.condition(pair) <= MAX_CONDITION for pair in pairs)] or found[:1]

    def dump(self) -> dict[str, Any]:
        """Return the odds and the radius; the numbers of categories are the questions'."""
        return {"name": self.name, "odds": str(self.odds), "radius": self.radius}

    @property
    def likelihood_ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report: the odds themselves."""
        return self.odds

    @cached_property
    def epsilon(self) -> float:
        """The privacy loss of one report of the whole block: ln(odds)."""
        return rational.log(self.odds)

    @property
    def asked(self) -> int:
        """Number of questions that each respondent is asked."""
        return self.ask or len(self.sizes)

    @property
    def asked_sizes(self) -> tuple[int, ...]:
        """Number of categories of each question that is asked, whichever they are."""
        return self.sizes[: self.asked]

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """N_h: the number of combinations that differ from a given one in h questions, for h = 0 .. d."""
        return _counts(self.asked_sizes)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """w_h: the weight of each combination at distance h, for h = 0 .. d."""
        near, far = self.odds.numerator, self.odds.denominator
        return tuple(near if distance <= self.radius else far for distance in range(self.asked + 1))

    @cached_property
    def total(self) -> int:
        """The sum of the weights of all combinations."""
        return _sum_of_products(self.counts, self.weights)

    @cached_property
    def offset_weights(self) -> tuple[int, ...]:
        """The weight of each combination of offsets (y - x) mod k of a report y from the truth x.

        They have one law for every truth. The last question's offset runs fastest.
        """
        distances = [0]
        for size in self.asked_sizes:
            distances = [before + (offset > 0) for before in distances for offset in range(size)]
        return tuple(self.weights[distance] for distance in distances)

    def probability(self, true: Sequence[int], reported: Sequence[int]) -> Fraction:
        """Return P(report | truth), exactly, of all questions that are asked, from the category of each question."""
        return Fraction(self.weights[sum(one != other for one, other in zip(true, reported, strict=True))], self.total)

    def match_patterns(self, positions: Sequence[int]) -> Mapping[tuple[bool, ...], Fraction]:
        """Return P(one given report on some questions | truth), by which of them it gives truthfully.

        ``positions`` are theirs in the block. The probability belongs to each single sub-combination with a pattern,
        not of all.
        """
        others = [size for position, size in enumerate(self.sizes) if position not in positions]
        rest = _counts(others[: self.asked - len(positions)])
        sums = [_sum_of_products(rest, self.weights[missed:]) for missed in range(len(positions) + 1)]
        patterns = product((True, False), repeat=len(positions))
        return {pattern: Fraction(sums[pattern.count(False)], self.total) for pattern in patterns}

    def marginal(self, position: int) -> tuple[Fraction, Fraction]:
        """Return (P(reported = true), P(each other category)) of the question at this position."""
        patterns = self.match_patterns([position])
        return patterns[True,], patterns[False,]

    def contrast(self, positions: Sequence[int]) -> Fraction:
        """Return the eigenvalue of the channel that belongs to the interaction of the questions at these positions.

        It is the alternating sum of the match patterns; of one question, a - b. The channel of a set of questions is
        invertible if it is not 0 for any non-empty part of the set.
        """
        found = self.match_patterns(positions).items()
        return sum((-chance if pattern.count(False) % 2 else chance for pattern, chance in found), Fraction(0))

    def condition(self, positions: Sequence[int]) -> float:
        """Return the condition number of the channel of these questions; infinite if their table is not identified."""
        if len(positions) > self.asked:
            return math.inf
        parts = [part for size in range(1, len(positions) + 1) for part in combinations(positions, size)]
        least = min(abs(self.contrast(part)) for part in parts)
        return float(1 / least) if least else math.inf

    @property
    def variance_ratios(self) -> list[float]:
        """The variance of a rare category of each question, as a part of that with its own share of epsilon."""
        apart = math.exp(self.epsilon / self.asked)
        return [
            float(b * (1 - b) / (a - b) ** 2) * (apart - 1) ** 2 / (apart + size - 2)
            for size, (a, b) in zip(self.sizes, map(self.marginal, range(len(self.sizes))), strict=True)
        ]


@dataclass(frozen=True)
class JointMember(base.Table):
    """A question of a block, as it is reported if nothing else is known.

    Its epsilon is the block's: to people who know the other answers its report may say so much. ``block`` is the
    mechanism of the whole block, ``position`` the question's in it.
    """

    name: ClassVar[str] = "joint_rr"
    serves: ClassVar[str] = "option"
    report_kind: ClassVar[str] = "option"
    parameters: ClassVar[Mapping[str, base.Parameter]] = JointRR.parameters

    block: JointRR
    position: int
    block_name: str

    @classmethod
    def parse(cls, fields: Mapping[str, Any], domain: Domain) -> Self:  # noqa: ARG003 - the signature of all
        """Refuse: a block has the mechanism."""
        raise TypeError("a block has the mechanism of its questions")

    @classmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> Self:  # noqa: ARG003 - the signature of all
        """Refuse: a block has the epsilon."""
        raise TypeError("a block has the mechanism of its questions")

    def dump(self) -> dict[str, Any]:
        """Return the parameters of the block."""
        return self.block.dump()

    @property
    def options(self) -> int:
        """Number of categories of this question."""
        return self.block.sizes[self.position]

    def weights(self, value: int) -> tuple[int, ...]:
        """Return one weight per category when the truth is category ``value``, whatever the other answers are."""
        true, other = (int(chance * self.block.total) for chance in self.support)
        return tuple(true if category == value else other for category in range(self.options))

    @cached_property
    def support(self) -> tuple[Fraction, Fraction]:
        """P(report j | j) and P(report j | another category), the same for every category j."""
        return self.block.marginal(self.position)

    @property
    def likelihood_ratio(self) -> Fraction:
        """The odds of the block, never those of the question alone."""
        return self.block.odds

    @property
    def marginal_odds(self) -> Fraction:
        """The odds of this question if nothing else is known; for no limit and no "at most"."""
        own, other = self.support
        return own / other

    def explain(self) -> dict[str, int | Fraction]:
        """Return shares that send their own answer, and any one of the others; that send all of theirs in the block."""
        own, other = self.support
        return {"own": own, "other": other, **self.together}

    @property
    def together(self) -> dict[str, int | Fraction]:
        """The share that sends its own answers to all questions of the block that it is asked, and their number."""
        return {"all": Fraction(self.block.weights[0], self.block.total), "questions": self.block.asked}


@dataclass(frozen=True)
class JointYesNo(JointMember):
    """A yes/no question of a block."""

    serves: ClassVar[str] = "yes_no"
    report_kind: ClassVar[str] = "yes_no"

    def explain(self) -> dict[str, int | Fraction]:
        """Return shares that report yes, where the truth is yes and where it is no; as above of all in the block."""
        yes, no = self.support
        return {"yes": yes, "no": no, **self.together}


def check_sizes(sizes: Sequence[int]) -> None:
    """Raise ValueError for too few or too many questions, or too many combinations of answers."""
    if not MIN_QUESTIONS <= len(sizes) <= MAX_QUESTIONS:
        raise ValueError("a block has 2 to 12 questions, each row of a matrix one")
    if min(sizes) < 2:
        raise ValueError("this mechanism needs at least two categories")
    if math.prod(sizes) > MAX_COMBINATIONS:
        raise ValueError("the answers of a block have at most 65,536 combinations")


def _counts(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the coefficients of the product of 1 + (k - 1) z over the sizes k."""
    counts = [1]
    for size in sizes:
        counts = [one + (size - 1) * before for one, before in zip([*counts, 0], [0, *counts], strict=True)]
    return tuple(counts)


def _sum_of_products(counts: Sequence[int], weights: Sequence[int]) -> int:
    # There may be more weights than counts: those of distances that these questions do not reach.
    return sum(count * weight for count, weight in zip(counts, weights, strict=False))
