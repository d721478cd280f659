"""
What looks wrong with the reports of a survey, from shown counts alone.

Implausible Counts that a channel could not send, see ``estimators.support``.
Drawn       Where devices draw one option or coordinate, chi-square of the drawn ones against uniform. Who forges
            reports draws the same one each time.
Asked       Where devices draw m of q questions, X^2 (q - 1) / (q - m) of the reports on each is chi-square with q - 1
            degrees of freedom: a question is drawn with chance m / q, and of two at most one more is drawn instead, so
            that the variance of a count is n m (q - m) / q^2 and not its mean.
More        More reports than people were asked, in the steps in which reports are counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sottovoce.aggregator.analysis.estimates import SurveyResults
from sottovoce.aggregator.analysis.tables.table_diagnostics import TAIL
from sottovoce.aggregator.estimators.chi_square import upper_tail
from sottovoce.shared.spec import Question

LOOKS = 20
"""People look again while reports come: the rate of false alarms is shared by so many looks."""


@dataclass(frozen=True)
class CountWarning:
    """
    One thing that looks wrong.

    Attributes:
        kind: ``implausible``, ``drawn``, ``asked`` or ``more``.
        question: the one it is about; None if it is the whole survey.
    """

    kind: str
    question: Question | None = None


def alarms(results: SurveyResults, invited: int | None = None) -> list[CountWarning]:
    """
    All that looks wrong, the gravest first.

    Args:
        results: what is shown.
        invited: people in the group; None where that is not known.
    """
    found = [CountWarning("more")] if invited is not None and results.received > invited else []
    for result in results.questions:
        if any(estimate.implausible for estimate in result.estimates):
            found.append(CountWarning("implausible", result.question))
        if _draws(result.question) and _uneven([estimate.n for estimate in result.estimates]):
            found.append(CountWarning("drawn", result.question))
    if _uneven(*_asked(results)):
        found.append(CountWarning("asked"))
    return found


def _draws(question: Question) -> bool:
    return question.mechanism is not None and question.mechanism.name in {"sampled_option", "sampled_coordinate"}


def _asked(results: SurveyResults) -> tuple[list[int], int]:
    """Reports on each private question, and how many of them each device draws; none where the survey asks all."""
    survey = results.survey
    if survey.ask is None or survey.revision > 1:
        return [], 1
    return [results.questions[index].n for index in survey.private], survey.ask


def _uneven(counts: Sequence[int], drawn: int = 1) -> bool:
    """
    Whether chance alone hardly draws so unevenly.

    Args:
        counts: how often each was drawn.
        drawn: how many each device draws, fewer than there are.
    """
    expected = sum(counts) / len(counts) if counts else 0.0
    if not expected or drawn >= len(counts):
        return False
    statistic = sum((count - expected) ** 2 for count in counts) / expected
    freedom = len(counts) - 1
    return upper_tail(statistic * freedom / (len(counts) - drawn), freedom) < TAIL / LOOKS
