"""Plan for two questions together: reports needed for a cell of their table, and to find an association.

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
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Any, NamedTuple

from sottovoce.aggregator.analysis.tables.score_intervals import CellChannel
from sottovoce.aggregator.analysis.tables.sparse_tables import score_variance
from sottovoce.aggregator.estimators.blocks.joint_channel import BlockPair, block_pair, check_identified, is_identified
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.variable import Variable
from sottovoce.aggregator.planning.question_channels import drawn_from
from sottovoce.aggregator.planning.share_channel import ShareChannel
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Question, Survey

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

    def as_dict(self) -> dict[str, Any]:
        """Return the plan as a JSON-serializable dict."""
        return asdict(self)


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
        return CellChannel((self.first.a, self.first.b), (self.second.a, self.second.b), 1, block=self.block)


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


def pair_words(plan: PairPlan) -> list[str]:
    """Return the plan as sentences."""
    of_all = "every report tells" if plan.share == 1 else f"{100 * plan.share:.1f} % of the reports tell"
    lines = [f"{of_all} of both {plan.first} and {plan.second}"]
    if plan.cell is None:
        return [
            *lines,
            "one of them is a number: its means among groups can be compared; plan them with --mean --against",
        ]
    return [
        *lines,
        f"{plan.cell:,} reports for a cell of {100 * CELL:.0f} % of their table to within {100 * POINTS:.0f} points",
        f"{plan.difference:,} reports to find a difference of {100 * DIFFERENCE:.0f} points between groups of "
        f"{100 * MARGINS[0]:.0f} % and the rest",
        f"{plan.odds_ratio:,} reports to find an odds ratio of {ODDS_RATIO:.0f} between them",
    ]


def joint_words(survey: Survey) -> list[str]:
    """Describe the joint analyses that a survey allows: the largest number of reports needed, and refused analyses."""
    lines = []
    if survey.ask is not None:
        share = float(max(share_asked(survey, one[0], other[0]) for one, other in combinations(survey.units, 2)))
        clause = (
            f"is in {100 * share:.1f} % of the reports" if share else "is in no report: there will be no tables of two"
        )
        lines.append(f"a pair of private questions {clause}")
    lines += [f"{name} can be explained by others, and explain none" for name in _only_outcomes(survey)]
    plans = _plans(survey)
    if plans:
        most = max(plans, key=lambda plan: plan.cell or 0)
        lines.append(
            f"{most.cell:,} reports for a cell of {100 * CELL:.0f} % to within {100 * POINTS:.0f} points in any table "
            f"of two questions ({most.first} by {most.second} needs the most)"
        )
    return lines


def _plans(survey: Survey) -> list[PairPlan]:
    """Return plans of all pairs of categorical questions that reports can carry, at least one of them private."""
    found = []
    for first, second in combinations(survey.questions, 2):
        if (first.mechanism or second.mechanism) is not None and _is_told(survey, first, second):
            plan = pair_plan(survey, first, second)
            found += [plan] if plan.cell is not None else []
    return found


def _is_told(survey: Survey, first: Question, second: Question) -> bool:
    """Return True if reports carry both questions and tell their table."""
    return bool(pair_share(survey, first, second)) and is_identified(
        [variables_of(each)[0] for each in (first, second)]
    )


def _only_outcomes(survey: Survey) -> list[str]:
    return [question.name for question in survey.questions if any(each.only_outcome for each in variables_of(question))]
