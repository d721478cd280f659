"""
From shown counts to results, on one page: cells -> cohort groups -> tallies -> estimates.

Reads snapshots only. Nothing here can see a single report.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.aggregator.estimators import ESTIMATORS, Estimate, IntervalRule, public
from sottovoce.aggregator.storage import Cell, StoredSurvey
from sottovoce.aggregator.storage.base import ALL
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Question, Survey

LEAST_COHORT = 5
"""Cohorts with fewer respondents are merged: a public group of one or two would be a person."""


@dataclass(frozen=True)
class CohortGroup:
    """One or more cohorts that are shown as one, because alone they would be too small."""

    options: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        """What to ask for it by: the options' names joined with ``+``."""
        return "+".join(self.options)

    @property
    def reports(self) -> int:
        """Respondents in the group."""
        return sum(cell.reports for cell in self.cells)


@dataclass(frozen=True)
class QuestionResult:
    """
    One question's shown counts and estimates.

    Attributes:
        epsilon: privacy loss of one report; None for a public question.
        n: reports that carry a value for this question.
        tally: number of reports by reported value; for bit masks see ``mechanisms.base.Mask``.
        estimates: one per option, for a boolean question of "yes" only; for a number its mean, and what its mechanism
            tells of the distribution; for a vector the mean of each coordinate.
    """

    question: Question
    epsilon: float | None
    n: int
    tally: Mapping[int, int]
    estimates: Sequence[Estimate]

    def of_kind(self, kind: str) -> list[Estimate]:
        """The estimates of one kind: "share", "mean" or "quantile"."""
        return [estimate for estimate in self.estimates if estimate.kind == kind]


@dataclass(frozen=True)
class Results:
    """
    One survey's results, for all respondents or for one cohort group.

    Attributes:
        survey: the survey.
        closed: no more reports are admitted, and everything admitted is counted here.
        received: reports so far, in the snapshot or not.
        reports, withdrawn: reports in the snapshot.
        cohort: name of the cohort group, or None for all respondents.
        cohorts: the groups one may ask for.
    """

    survey: Survey
    closed: bool
    received: int
    reports: int
    withdrawn: int
    cohort: str | None
    cohorts: tuple[CohortGroup, ...]
    questions: tuple[QuestionResult, ...]


def analyse(stored: StoredSurvey, survey: Survey, cells: Iterable[Cell], cohort: str | None = None) -> Results:
    """
    The results of one survey from its shown cells.

    Args:
        stored: the survey's row, for what is not in its cells.
        survey: the survey itself.
        cells: shown counts of all waves and cohorts.
        cohort: name of a cohort group; None means all respondents.

    Raises:
        EstimateError: there is no such cohort group.
    """
    cells = list(cells)
    groups = cohort_groups(survey, cells)
    chosen = _all(cells) if cohort is None else _group(groups, cohort).cells
    # While more reports may come, people look again and again: the band is valid however often they do.
    rule = IntervalRule(band=not stored.closed)
    return Results(
        survey=survey,
        closed=stored.closed,
        received=stored.reports,
        reports=sum(cell.reports for cell in chosen),
        withdrawn=sum(cell.withdrawn for cell in chosen),
        cohort=cohort,
        cohorts=groups,
        questions=tuple(
            _question(question, _tally(chosen, index), rule) for index, question in enumerate(survey.questions)
        ),
    )


def cohort_groups(survey: Survey, cells: Iterable[Cell]) -> tuple[CohortGroup, ...]:
    """The survey's cohorts in their order, with the small ones merged until every group has ``LEAST_COHORT``."""
    if survey.cohort is None:
        return ()
    options = survey.questions[survey.cohort].options
    singles = [
        CohortGroup((option,), tuple(cell for cell in cells if cell.cohort == value))
        for value, option in enumerate(options)
    ]
    by_size = sorted((group for group in singles if group.reports), key=lambda group: group.reports)
    merged: list[CohortGroup] = []
    while by_size and (by_size[0].reports < LEAST_COHORT or 0 < _total(merged) < LEAST_COHORT):
        merged.append(by_size.pop(0))
    if 0 < _total(merged) < LEAST_COHORT:
        return ()
    kept = [group for group in singles if group in by_size]
    return tuple(kept) + ((_merge(singles, merged),) if merged else ())


def _all(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    return tuple(cell for cell in cells if cell.cohort == ALL)


def _total(groups: Iterable[CohortGroup]) -> int:
    return sum(group.reports for group in groups)


def _merge(singles: Sequence[CohortGroup], merged: Sequence[CohortGroup]) -> CohortGroup:
    ordered = [group for group in singles if group in merged]
    return CohortGroup(
        tuple(option for group in ordered for option in group.options),
        tuple(cell for group in ordered for cell in group.cells),
    )


def _group(groups: Iterable[CohortGroup], name: str) -> CohortGroup:
    for group in groups:
        if group.name == name:
            return group
    raise EstimateError("there is no such cohort, or it is still too small to be shown")


def _tally(cells: Iterable[Cell], question: int) -> dict[int, int]:
    tally: dict[int, int] = {}
    for cell in cells:
        for value, count in cell.tallies.get(question, {}).items():
            if count:
                tally[value] = tally.get(value, 0) + count
    return dict(sorted(tally.items()))


def _question(question: Question, tally: Mapping[int, int], rule: IntervalRule) -> QuestionResult:
    mechanism = question.mechanism
    if mechanism is None:
        estimates, epsilon = public.estimate(tally, question.domain, rule), None
    else:
        estimates, epsilon = ESTIMATORS[mechanism.name](mechanism, tally, question.domain, rule), mechanism.epsilon
    if question.type == "boolean":
        # The share of "no" is the rest.
        estimates = estimates[-1:]
    return QuestionResult(question, epsilon, question.reports(tally), tally, estimates)


def mechanism_document(question: Question) -> dict[str, Any] | None:
    """The mechanism as the survey writes it; None for a public question."""
    return None if question.mechanism is None else question.mechanism.dump()
