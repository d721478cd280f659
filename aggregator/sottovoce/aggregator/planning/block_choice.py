"""Compare designs for several questions (reported separately, some of them asked, or all reported as one block), and
plan for two of them together.

Total       Separate reports of d questions cost epsilon / d each; m of d asked cost epsilon / m each and give every
            question m / d of the people, every pair m (m - 1) / (d (d - 1)); a block costs epsilon once, and may
            likewise ask m of its questions, if they have equally many categories.
One         A report of a block may say as much about one question as about all together, to a person who knows the
            other answers. At the same epsilon for one question a block therefore has the epsilon of a single report.
Shares      Variance of one report's score for a share of 1/2, lambda (1 - lambda) / (a - b)^2; the largest question
            counts.
Tables      Sum of the variances of all cells of two questions' table for uniform answers, over the number of cells; the
            largest pair counts.
Best radius The least of the largest ratios to separate reports; where no radius has all ratios below 1, the questions
            are asked separately. A pair whose channel has a condition number above 1,000 has no table.
People      z^2 variance / half-width^2, the usual formula.

A plan for two questions together says the reports needed for a cell of their table, and to find an association:

Pairs       With ``ask: m`` of M private questions, a share m (m - 1) / (M (M - 1)) of the reports carries a pair of
            them; if a report draws one of k options, a share 1 / k of these.
Cell        n = z^2 V / h^2 for a cell of share t with half-width h, V the variance of ``score_intervals`` at t: 427
            for a public question with a coin flip, 1,637 for two coin flips (t = .1, margins .25 and .3, 5 points).
Power       The statistic of the test of independence is n times the squared correlation of the scores, which noise
            reduces: n = (z + z_power)^2 v_A v_B / cov^2, v = p (1 - p) + noise and cov = p_A (1 - p_A) (p_1 - p_0).
            Two questions of one block have no v_A v_B, but the variance of z_ij - p_B z_i - p_A z_j.
            Without noise this is the usual formula for two shares with a pooled variance.
Source      Cohen 1988 (power of chi-square, one degree of freedom).
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

from sottovoce.aggregator.analysis.tables.score_intervals import CellChannel, cell_moments
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import score_variance
from sottovoce.aggregator.estimators.blocks.block_channel import block_channel
from sottovoce.aggregator.estimators.blocks.joint_channel import BlockPair, block_pair, check_identified, is_identified
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.variable import Variable
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.planning.question_channels import ShareChannel, best_share, drawn_from, measure_of
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms import MAX_EPSILON, MIN_EPSILON
from sottovoce.shared.mechanisms.joint_rr import MAX_QUESTIONS, MIN_QUESTIONS, JointRR
from sottovoce.shared.rational import show_epsilon, show_odds
from sottovoce.shared.spec import Question, Survey

GOALS = SHARES, TABLES = "shares", "tables"
HALF_WIDTH = 0.05
SEPARATE, ASK, JOINT = "separate", "ask", "joint"

LEAST_GAIN = 0.8
"""Largest part of the people that a suggested block needs."""

_ROUNDING = 1e-12

CELL, MARGINS, POINTS = 0.1, (0.25, 0.3), 0.05
"""Reference table of the plan: share of a cell, margins of its row and column, target half-width."""
DIFFERENCE, ODDS_RATIO = 0.2, 2.0
"""Effects that the test should detect."""


@dataclass(frozen=True)
class PairPlan:
    """Plan for two questions together; the numbers of reports are None where a question is a number.

    Attributes:
        share: share of the reports that carry both.
        cell: reports of the survey to estimate a cell of ``CELL`` to within ``POINTS``.
        difference: reports to detect a difference of ``DIFFERENCE`` between the groups of the first.
        odds_ratio: reports to detect an odds ratio of ``ODDS_RATIO``.
    """

    first: str
    second: str
    share: float
    cell: int | None
    difference: int | None
    odds_ratio: int | None


def pair_plan(survey: Survey, first: Question, second: Question, power: float = 0.8) -> PairPlan:
    """Plan the analysis of two questions together: the first has the groups, the second is the outcome.

    ``power`` is the probability to detect the difference, or the odds ratio. Raises EstimateError if the two are one
    question, no report will carry both, or reports of their block do not tell their table.
    """
    if first.name == second.name:
        raise EstimateError("a pair is two different questions")
    share = pair_share(survey, first, second)
    if not share:
        raise EstimateError(
            f"no report will tell of both '{first.name}' and '{second.name}': each person is asked one of them"
        )
    one, other = (variables_of(question)[0] for question in (first, second))
    check_identified((one, other))
    if not (one.categories and other.categories):
        return PairPlan(first.name, second.name, share, None, None, None)
    channels = pair_channel(one, other)
    group, base = MARGINS
    # Convert the odds ratio into the second share.
    with_odds = ODDS_RATIO * base / (1 - base)
    higher = with_odds / (1 + with_odds)
    cell = cell_reports(channels, CELL, MARGINS, POINTS)
    difference = power_reports(channels, group, (base, base + DIFFERENCE), power)
    odds_ratio = power_reports(channels, group, (base, higher), power)
    return PairPlan(first.name, second.name, share, *(math.ceil(n / share) for n in (cell, difference, odds_ratio)))


def pair_share(survey: Survey, first: Question, second: Question) -> float:
    """Return the probability that a report carries both questions, or a given option of each."""
    places = map(survey.questions.index, (first, second))
    return float(share_asked(survey, *places)) / (drawn_from(first) * drawn_from(second))


class PairChannel(NamedTuple):
    """Channels of the row's and of the column's category.

    ``block`` has the chances and scores of two questions of one block; None for reports that are drawn apart.
    """

    first: ShareChannel
    second: ShareChannel
    block: BlockPair | None = None

    @property
    def cell(self) -> CellChannel:
        """Channel of the cell, for one report."""
        return CellChannel(cell_moments((self.first.a, self.first.b), (self.second.a, self.second.b), self.block), 1)


def pair_channel(first: Variable, second: Variable) -> PairChannel:
    """Return the channel of the last categories of two variables; the last category of a yes/no variable is yes."""
    one, other = (ShareChannel(*each.channels[-1]) for each in (first, second))
    return PairChannel(one, other, block_pair(first, second))


def cell_reports(channels: PairChannel, cell: float, margins: tuple[float, float], half_width: float) -> float:
    """Return a pair's number of reports to estimate a cell to ``half_width``, with 95 % confidence.

    ``cell`` is the expected share of the cell, ``margins`` those of its row and column.
    """
    z = NormalDist().inv_cdf(0.975)
    return z**2 * channels.cell.cell_variance(cell, *margins) / half_width**2


def cell_half_width(first: Question, second: Question, reports: float) -> float | None:
    """Return the half-width of the 95 % interval of a cell of ``CELL`` in the table of two questions.

    ``reports`` carry both, or a given option of each. None if a question is a number, or the reports of their block do
    not tell the table.
    """
    one, other = (variables_of(question)[0] for question in (first, second))
    if not (one.categories and other.categories and is_identified((one, other))):
        return None
    # n is proportional to 1 / h^2, so h = sqrt(n(1) / n).
    return math.sqrt(cell_reports(pair_channel(one, other), CELL, MARGINS, 1.0) / reports)


def power_reports(channels: PairChannel, group: float, shares: tuple[float, float], power: float) -> float:
    """Return the number of reports of a pair that the test of independence at 5 % needs to detect a difference.

    ``group`` is the expected share of the group, ``shares`` those of the outcome outside and inside it.
    """
    outcome = (1 - group) * shares[0] + group * shares[1]
    # Of independent answers, the score of a cell less what its margins explain.
    independent = (1.0, -outcome, -group), (group * outcome, group, outcome)
    spreads = score_variance(channels.cell, *independent)
    reach = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(power)
    return reach**2 * spreads / (group * (1 - group) * (shares[1] - shares[0])) ** 2


def pair_words(plan: PairPlan, words: Words) -> list[str]:
    """Return the plan as sentences; where a question is a number, its share of the reports alone."""
    write = words.write
    sentences = [words.translate("joint_plan_share", share=write.percent(plan.share))]
    if plan.cell is not None:
        needed = {"cell": plan.cell, "difference": plan.difference, "odds": plan.odds_ratio}
        group, share = map(write.percent, MARGINS)
        sentences.append(words.translate("joint_plan_cell", **needed))
        sentences.append(words.translate("joint_plan_supposed", group=group, share=share))
    return sentences


def joint_words(survey: Survey) -> list[str]:
    """Describe the joint analyses that a survey allows: the largest number of reports needed, and refused analyses."""
    lines = []
    if survey.ask is not None:
        share = float(max(share_asked(survey, one[0], other[0]) for one, other in combinations(survey.units, 2)))
        clause = (
            f"is in {100 * share:.1f}% of the reports" if share else "is in no report: there will be no tables of two"
        )
        lines.append(f"a pair of private questions {clause}")
    outcomes = [one.name for one in survey.questions if any(each.only_outcome for each in variables_of(one))]
    lines += [f"{name} can be explained by others, and explain none" for name in outcomes]
    plans = _plans(survey)
    if plans:
        most = max(plans, key=lambda plan: plan.cell or 0)
        lines.append(
            f"{most.cell:,} reports for a cell of {100 * CELL:.0f}% to within {100 * POINTS:.0f} points in any table "
            f"of two questions ({most.first} by {most.second} needs the most)"
        )
    return lines


def _plans(survey: Survey) -> list[PairPlan]:
    """Return plans of all pairs of categorical questions whose table reports tell, at least one of them private."""
    found = []
    for first, second in combinations(survey.questions, 2):
        is_private, both = (first.mechanism or second.mechanism) is not None, (first, second)
        if is_private and pair_share(survey, *both) and is_identified([variables_of(each)[0] for each in both]):
            plan = pair_plan(survey, first, second)
            found += [plan] if plan.cell is not None else []
    return found


@dataclass(frozen=True)
class BlockDesign:
    """Way to ask the questions.

    Attributes:
        kind: "separate", "ask" or "joint".
        number: questions asked of each person, or the radius of a block; 0 for separate reports.
        drawn: questions of a block that are asked of each person; 0 for all.
        one: worst-case odds for one question.
        alone: largest odds for one question if nothing else is known; equal to ``one`` without a block.
        people: people needed; None if the block does not identify what the goal needs.
        ratios: variance of each question or pair, as a part of the variance of separate reports.
    """

    kind: str
    number: int
    drawn: int
    one: float
    alone: float
    people: int | None
    ratios: tuple[float, ...]

    @property
    def name(self) -> str:
        """Name in tables of designs."""
        drawn = f"ask {self.drawn}, " if self.drawn else ""
        return {SEPARATE: "separate", ASK: f"ask {self.number}", JOINT: f"{drawn}joint, radius {self.number}"}[
            self.kind
        ]

    @property
    def worst(self) -> float:
        """Largest ratio; infinite if something is not identified."""
        return max(self.ratios, default=math.inf) if self.people is not None else math.inf


@dataclass(frozen=True)
class BlockComparison:
    """Designs at one epsilon.

    Attributes:
        epsilon: total of a report, or worst case of one question.
        designs: separate reports first.
        best: the one that needs the fewest people.
        worse: indices of the questions for which no radius of a block is better than a separate report; empty if one
            radius is better for all.
    """

    epsilon: float
    designs: tuple[BlockDesign, ...]
    best: BlockDesign
    worse: tuple[int, ...]


@dataclass(frozen=True)
class BlockPlan:
    """Comparison at the same total epsilon, and at the same worst-case epsilon for one question."""

    same_total: BlockComparison
    same_question: BlockComparison


def block_plan(sizes: Sequence[int], total: float, goal: str, half_width: float = HALF_WIDTH) -> BlockPlan:
    """Compare the designs for questions with these numbers of categories; ``total`` is a whole report's epsilon.

    ``goal`` is "shares" or "tables", ``half_width`` is for a 95 % interval of a share, or of a cell. Raises
    EstimateError if there are too few or too many questions, or epsilon or half-width is impossible.
    """
    if not MIN_QUESTIONS <= len(sizes) <= MAX_QUESTIONS:
        raise EstimateError("a block has 2 to 12 private questions with categories")
    if not 0 < half_width < 1:
        raise EstimateError("the half-width must lie between 0 and 1")
    low, high = float(MIN_EPSILON) * len(sizes), float(MAX_EPSILON)
    if not low <= total <= high:
        raise EstimateError(f"the total of {len(sizes)} questions must lie between {low:.3g} and {high:.3g}")
    planner = _BlockPlanner(tuple(sizes), total, goal, half_width)
    one = total / len(sizes)
    return BlockPlan(
        planner.compared(total, [*planner.asked(), *planner.joint(total)]), planner.compared(one, planner.joint(one))
    )


@dataclass(frozen=True)
class _BlockPlanner:
    sizes: tuple[int, ...]
    total: float
    goal: str
    half_width: float

    def compared(self, epsilon: float, others: Sequence[BlockDesign]) -> BlockComparison:
        designs = (self._separate(SEPARATE, len(self.sizes)), *others)
        best = min(designs, key=lambda each: math.inf if each.people is None else each.people)
        blocks = [each for each in designs if each.kind == JOINT]
        # A design that is better on the whole may be worse for a single question.
        best_block = min(blocks, key=lambda each: each.worst, default=None)
        worse = self._worse(best_block)
        if best.kind == JOINT and worse:
            best = min((each for each in designs if each.kind != JOINT), key=lambda each: each.people or math.inf)
        elif best.kind == JOINT and best_block is not None:
            best = best_block
        return BlockComparison(epsilon, designs, best, worse)

    def asked(self) -> list[BlockDesign]:
        """Return the designs that ask m of the questions; a table needs two."""
        return [self._separate(ASK, m) for m in range(1 + (self.goal == TABLES), len(self.sizes))]

    def joint(self, epsilon: float) -> list[BlockDesign]:
        """Return a block with each number of questions and each radius that identifies their shares."""
        # A total such as ln 9 is a rounded number, and its odds are meant to be 9.
        odds, found = JointRR.for_epsilon(Fraction(epsilon + _ROUNDING), self.sizes).odds, []
        drawn = range(len(self.sizes) - 1, 1, -1) if len({*self.sizes}) == 1 else ()
        for ask in (None, *drawn):
            for radius in range(ask or len(self.sizes)):
                with suppress(ValueError):
                    found.append(self._block(JointRR(odds, radius, self.sizes, ask)))
        return found

    def _separate(self, kind: str, m: int) -> BlockDesign:
        epsilon = self.total / m
        variances = [each / self._share_asked(m) for each in self._own(epsilon)]
        odds = math.exp(epsilon)
        return self._design((kind, 0 if kind == SEPARATE else m, 0), (odds, odds), variances)

    def _share_asked(self, m: int) -> float:
        """Return the share of people who are asked one question, or two, where each is asked m."""
        d = len(self.sizes)
        return m / d if self.goal == SHARES else m * (m - 1) / (d * (d - 1))

    def _block(self, mechanism: JointRR) -> BlockDesign:
        variances: list[float | None]
        if self.goal == SHARES:
            shares = (ShareChannel(*map(float, mechanism.marginal(each))) for each in range(len(self.sizes)))
            variances = [share.variance(0.5) for share in shares]
        else:
            # Two questions with as many options as two others have their channel.
            alike = dict(zip(combinations(self.sizes, 2), combinations(range(len(self.sizes)), 2), strict=True))
            tables = {sizes: self._table(mechanism, pair) for sizes, pair in alike.items()}
            variances = [tables[sizes] for sizes in combinations(self.sizes, 2)]
        alone = max(a / b for a, b in map(mechanism.marginal, range(len(self.sizes))))
        share = self._share_asked(mechanism.asked)
        variances = [each and each / share for each in variances]
        kind = (JOINT, mechanism.radius, mechanism.ask or 0)
        return self._design(kind, (float(mechanism.odds), float(alone)), variances)

    def _table(self, mechanism: JointRR, pair: tuple[int, int]) -> float | None:
        channel = block_channel(mechanism, pair)
        return float(channel.cell_variances()) / math.prod(channel.sizes) if channel.identifies else None

    def _design(
        self, kind: tuple[str, int, int], odds: tuple[float, float], variances: Sequence[float | None]
    ) -> BlockDesign:
        known = [each for each in variances if each is not None]
        if len(known) < len(variances):
            return BlockDesign(*kind, *odds, None, ())
        ratios = tuple(each / own for each, own in zip(known, self._own(self.total / len(self.sizes)), strict=True))
        return BlockDesign(*kind, *odds, _people_for(max(known), self.half_width), ratios)

    def _own(self, epsilon: float) -> list[float]:
        """Return the variances of the questions, or of a cell of each pair, reported with an epsilon each."""
        channels = [best_share(epsilon, size) for size in self.sizes]
        if self.goal == SHARES:
            return [channel.variance(0.5) for channel in channels]
        squares = [
            size * (channel.variance(1 / size) + 1 / size**2)
            for size, channel in zip(self.sizes, channels, strict=True)
        ]
        pairs = combinations(zip(self.sizes, squares, strict=True), 2)
        return [(v * v2 - 1 / (k * k2)) / (k * k2) for (k, v), (k2, v2) in pairs]

    def _worse(self, block: BlockDesign | None) -> tuple[int, ...]:
        """Return the questions that a block's best radius does not help."""
        if block is None or block.people is None:
            return tuple(range(len(self.sizes)))
        if self.goal == SHARES:
            return tuple(place for place, ratio in enumerate(block.ratios) if ratio >= 1)
        pairs = zip(combinations(range(len(self.sizes)), 2), block.ratios, strict=True)
        return tuple(sorted({place for pair, ratio in pairs if ratio >= 1 for place in pair}))


def block_hint(survey: Survey) -> list[str]:
    """Suggest a block for all private questions, where it takes a fifth fewer people at no more epsilon in total.

    A block spends at most what devices allow for one question, because a person who knows the other answers learns so
    much of one.
    """
    questions = joinable(survey)
    together = len(questions) == len(survey.private) and MIN_QUESTIONS <= len(questions) <= MAX_QUESTIONS
    kept_apart = survey.blocks or survey.ask or survey.arms or survey.own_coin
    if not together or kept_apart:
        return []
    total = min(survey.epsilon, DEFAULT_ALLOWANCE.question)
    best = block_plan([question.domain.size for question in questions], total, SHARES).same_total.best
    apart = _people_for(max(measure_of(question).variance(0.5) for question in questions), HALF_WIDTH)
    if best.kind != JOINT or best.people is None or best.people > LEAST_GAIN * apart:
        return []
    odds = math.exp(max(question.epsilon for question in questions))
    place = next(index for index, item in enumerate(survey.items) if questions[0] in item.questions)
    spent, own = show_epsilon(total), show_epsilon(survey.epsilon)
    drawn = f", which asks {best.drawn} of them" if best.drawn else ""
    does = "" if best.drawn else "Protect together on the page Design does it, and "
    cost = "the same total epsilon" if spent == own else f"a total epsilon of {spent} instead of {own}"
    others = " and ".join(filter(None, (", ".join(each.name for each in questions[1:-1]), questions[-1].name)))
    return [
        f"/questions/{place}: randomize it together with {others}, in one block{drawn}: shares to within "
        f"{100 * HALF_WIDTH:.0f} points then need {best.people:,} people instead of {apart:,} at {cost}, and "
        f"the odds of one answer are {show_odds(best.one)}:1 at worst instead of {show_odds(odds)}:1; {does}"
        "sottovoce plan --total compares other designs"
    ]


def _people_for(variance: float, half_width: float) -> int:
    return math.ceil(variance * (NormalDist().inv_cdf(0.975) / half_width) ** 2)


def joinable(survey: Survey) -> list[Question]:
    """Return the private questions that can be in one block: those of one category that no device remembers."""
    return [
        question
        for question in survey.questions
        if question.mechanism is not None
        and not question.by_fact
        and question.known_share is None
        and question.mechanism.waves == 1
        and len(variables := variables_of(question)) == 1
        and variables[0].categories
    ]
