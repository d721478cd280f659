"""
What two questions together will allow, before anybody is asked.

Pairs       Under ``ask: m`` of M private questions a pair of them is in m (m - 1) / (M (M - 1)) of the reports; where a
            report draws one of k options, in one of k of these.
Cell        n = z^2 V / h^2 for a cell of share t with half-width h, V the variance of ``score_intervals`` at t: 427
            for a public question with a coin flip, 1,637 for two coin flips (t = .1, margins .25 and .3, 5 points).
Power       The test of independence is n times the squared correlation of the scores, which noise makes smaller:
            n = (z + z_power)^2 v_A v_B / cov^2, v = p (1 - p) + noise and cov = p_A (1 - p_A) (p_1 - p_0). Without
            noise that is the usual formula for two shares with a pooled variance.
Source      Cohen 1988 (power of chi-square, one degree of freedom).
"""

import math
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Any

from sottovoce.aggregator.analysis.tables.score_intervals import CellChannel
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.variable import Variable
from sottovoce.aggregator.planning.question_channels import drawn_from
from sottovoce.aggregator.planning.share_channel import ShareChannel
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Question, Survey

CELL, MARGINS, POINTS = 0.1, (0.25, 0.3), 0.05
"""Of the table for which numbers of reports are told: a cell, the margins of its row and column, the half-width."""
DIFFERENCE, ODDS_RATIO = 0.2, 2.0
"""What is to be told from nothing."""


@dataclass(frozen=True)
class PairPlan:
    """
    Two questions together.

    Attributes:
        first, second: their names.
        share: of the reports that tell of both.
        cell: reports of the survey for a cell of ``CELL`` to within ``POINTS``; None of a number.
        difference: reports for a difference of ``DIFFERENCE`` between the groups of the first.
        odds_ratio: reports for an odds ratio of ``ODDS_RATIO``.
    """

    first: str
    second: str
    share: float
    cell: int | None
    difference: int | None
    odds_ratio: int | None

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def pair_plan(survey: Survey, first: Question, second: Question, power: float = 0.8) -> PairPlan:
    """
    What two questions together will allow.

    Args:
        survey: that asks them.
        first: one of them, whose categories are groups.
        second: the other one.
        power: chance to find a difference, or an odds ratio.

    Raises:
        EstimateError: they are one, or no report will tell of both.
    """
    if first.name == second.name:
        raise EstimateError("a pair is two different questions")
    share = pair_share(survey, first, second)
    if not share:
        raise EstimateError(
            f"no report will tell of both '{first.name}' and '{second.name}': each person is asked one private question"
        )
    one, other = (variables_of(question)[0] for question in (first, second))
    if not (one.categories and other.categories):
        return PairPlan(first.name, second.name, share, None, None, None)
    channels = _channel(one), _channel(other)
    group, base = MARGINS
    with_odds = ODDS_RATIO * base / (1 - base)
    higher = with_odds / (1 + with_odds)
    cell = cell_reports(channels, CELL, MARGINS, POINTS)
    difference = power_reports(channels, group, (base, base + DIFFERENCE), power)
    odds_ratio = power_reports(channels, group, (base, higher), power)
    return PairPlan(first.name, second.name, share, *(math.ceil(n / share) for n in (cell, difference, odds_ratio)))


def pair_share(survey: Survey, first: Question, second: Question) -> float:
    """
    The chance that a report tells of both questions, or of one option of each.

    Args:
        survey: that asks them.
        first: one of them.
        second: the other one.
    """
    drawn = 1 / (drawn_from(first) * drawn_from(second))
    private = sum(question.mechanism is not None for question in (first, second))
    ask, asked = survey.ask, len(survey.private)
    if ask is None or not private:
        return drawn
    return drawn * (ask / asked if private == 1 else ask * (ask - 1) / (asked * (asked - 1)))


def cell_reports(
    channels: tuple[ShareChannel, ShareChannel], cell: float, margins: tuple[float, float], half_width: float
) -> float:
    """
    Reports of a pair for a cell of a table, with 95 % confidence.

    Args:
        channels: of the row's and of the column's category.
        cell: its expected share.
        margins: expected shares of its row and of its column.
        half_width: wanted.
    """
    (one, other), z = channels, NormalDist().inv_cdf(0.975)
    variance = CellChannel((one.a, one.b), (other.a, other.b), 1).cell_variance(cell, *margins)
    return z**2 * variance / half_width**2


def cell_half_width(first: Question, second: Question, reports: float) -> float | None:
    """
    Half-width of the 95 % interval of a cell of ``CELL`` in the table of two questions; None of a number.

    Args:
        first: the rows.
        second: the columns.
        reports: that tell of both, or of one option of each.
    """
    one, other = (variables_of(question)[0] for question in (first, second))
    if not (one.categories and other.categories):
        return None
    return math.sqrt(cell_reports((_channel(one), _channel(other)), CELL, MARGINS, 1.0) / reports)


def power_reports(
    channels: tuple[ShareChannel, ShareChannel], group: float, shares: tuple[float, float], power: float
) -> float:
    """
    Reports of a pair with which the test of independence at 5 % finds that two groups differ.

    Args:
        channels: of the group and of the outcome.
        group: expected share of the group.
        shares: expected shares of the outcome outside and inside the group.
        power: wanted chance to find it.
    """
    outcome = (1 - group) * shares[0] + group * shares[1]
    spreads = channels[0].variance(group) * channels[1].variance(outcome)
    reach = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(power)
    return reach**2 * spreads / (group * (1 - group) * (shares[1] - shares[0])) ** 2


def pair_words(plan: PairPlan) -> list[str]:
    """The same in sentences."""
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
    """What tables and models of a survey will allow: the widest figures, and what will be refused."""
    lines = []
    private = [survey.questions[place] for place in survey.private]
    if survey.ask is not None and len(private) > 1:
        share = survey.ask * (survey.ask - 1) / (len(private) * (len(private) - 1))
        told = (
            f"is in {100 * share:.1f} % of the reports" if share else "is in no report: there will be no tables of two"
        )
        lines.append(f"a pair of private questions {told}")
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
    """Of all pairs that reports will tell of, with categories on both sides, one of them private."""
    found = []
    for first, second in combinations(survey.questions, 2):
        if (first.mechanism or second.mechanism) is not None and pair_share(survey, first, second):
            plan = pair_plan(survey, first, second)
            found += [plan] if plan.cell is not None else []
    return found


def _only_outcomes(survey: Survey) -> list[str]:
    return [question.name for question in survey.questions if any(each.only_outcome for each in variables_of(question))]


def _channel(variable: Variable) -> ShareChannel:
    """Of the last category: yes, of a yes/no."""
    return ShareChannel(*variable.channels[-1])
