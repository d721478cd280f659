"""
From shown counts to results, on one page: cells -> cohort groups -> tallies -> estimates.

Reads snapshots only. Nothing here can see a single report.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.estimators import DEFAULT_RULE, Estimate, IntervalRule, public
from sottovoce.aggregator.estimators.pooling import Stratum, estimate_strata, merge
from sottovoce.aggregator.estimators.protection import protected
from sottovoce.aggregator.storage import Cell, Storage, StoredSurvey
from sottovoce.aggregator.storage.interface import ALL
from sottovoce.aggregator.surveys.stored_surveys import reports_so_far, survey_of
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
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
        estimates: one per option, for a boolean question of "yes" only unless a category was added; for a number its
            mean, and what its mechanism tells of the distribution; for a vector the mean of each coordinate. None where
            devices remember a draw and several waves are added up: such reports of one person hang together.
        protection: (s, share of yes if a share s of reports were a self-protective no); where people toss themselves.
    """

    question: Question
    epsilon: float | None
    n: int
    tally: Mapping[int, int]
    estimates: Sequence[Estimate]
    protection: Sequence[tuple[float, Estimate]] = ()

    def of_kind(self, kind: str) -> list[Estimate]:
        """The estimates of one kind: "share", "mean" or "quantile"."""
        return [estimate for estimate in self.estimates if estimate.kind == kind]


@dataclass(frozen=True)
class SurveyResults:
    """
    One survey's results, for all respondents or for one cohort group.

    Attributes:
        survey: the survey.
        closed: no more reports are admitted, and after the first close everything admitted is counted here.
        received: reports so far, in the snapshot or not; in whole batches while the survey is open.
        reports, withdrawn: reports in the snapshot.
        cohort: name of the cohort group, or None for all respondents.
        cohorts: the groups one may ask for.
        wave: the wave, or None for all of them together.
        waves: reports in the snapshot, wave by wave.
        same_people: several waves are added up and may be of the same people, which the intervals allow for.
        released: public answers are published under a budget.
    """

    survey: Survey
    closed: bool
    received: int
    reports: int
    withdrawn: int
    cohort: str | None
    cohorts: tuple[CohortGroup, ...]
    wave: int | None
    waves: tuple[int, ...]
    same_people: bool
    questions: tuple[QuestionResult, ...]
    released: bool = False

    @property
    def published(self) -> tuple[QuestionResult, ...]:
        """What files and programs are told of: once a budget is open, no exact table of public answers."""
        return tuple(each for each in self.questions if not self.released or each.question.mechanism is not None)


@dataclass(frozen=True)
class RevisionCounts:
    """
    One revision of a survey with its shown counts.

    Attributes:
        stored: its row, for what is not in its cells.
        survey: the survey itself.
        cells: shown counts of all waves and cohorts.
        released: public answers are published under a budget, and exactly nowhere: see ``files.public_answers``.
    """

    stored: StoredSurvey
    survey: Survey
    cells: tuple[Cell, ...]
    released: bool = False


def revisions_of(storage: Storage, name: str) -> list[RevisionCounts]:
    """All revisions of a survey, oldest first; empty if there is none."""
    released = storage.releases.has_any(name)
    return [
        RevisionCounts(stored, survey_of(stored.document), tuple(storage.cells(stored.key)), released)
        for stored in storage.revisions(name)
    ]


def analyse(
    revisions: Sequence[RevisionCounts],
    cohort: str | None = None,
    interval: str = DEFAULT_RULE.method,
    wave: int | None = None,
) -> SurveyResults:
    """
    The results of a survey, as its newest revision asks it.

    A question that keeps its name, its type and its true values through the revisions is one question: equal
    mechanisms add their counts, different ones are pooled by inverse variance.

    Args:
        revisions: of one survey, oldest first, at least one.
        cohort: name of a cohort group; None means all respondents.
        interval: how the intervals of shares are made, one of ``intervals.METHODS``.
        wave: only this wave; None adds them up, with intervals for the same people in all of them, and estimates
            nothing where devices remember a draw from wave to wave.

    Raises:
        EstimateError: there is no such cohort group, no such wave, or no such interval.
    """
    waves = _reports_by_wave(revisions)
    newest = revisions[-1]
    groups = cohort_groups(newest.survey, [_cohort_cells(revision, newest) for revision in revisions])
    if wave is not None:
        revisions = _of_wave(revisions, wave, len(waves))
        groups = tuple(replace(each, cells=tuple(cell for cell in each.cells if cell.wave == wave)) for each in groups)
    chosen = _of_everybody(revisions) if cohort is None else _of_group(revisions, _group(groups, cohort))
    # While more reports may come, people look again and again: the band is valid however often they do.
    added_up = sum(map(bool, waves)) if wave is None else 1
    same_people = added_up > 1 and not newest.survey.fresh_samples
    rule = IntervalRule(interval, band=not newest.stored.closed, waves=added_up if same_people else 1)
    results = [_result(question, chosen, rule) for question in newest.survey.questions]
    if added_up > 1:
        # Reports of one person hang together where devices remember a draw: their sum has no honest interval.
        for index in newest.survey.memoized:
            results[index] = replace(results[index], estimates=())
    return SurveyResults(
        survey=newest.survey,
        closed=newest.stored.closed,
        # What was withdrawn since it was shown is still among the reports that are shown.
        received=max(sum(reports_so_far(revision.stored) for revision in revisions), sum(waves)),
        reports=sum(cell.reports for revision in chosen for cell in revision.cells),
        withdrawn=sum(cell.withdrawn for revision in chosen for cell in revision.cells),
        cohort=cohort,
        cohorts=groups,
        wave=wave,
        waves=waves,
        same_people=same_people,
        questions=tuple(results),
        released=newest.released,
    )


def cohort_groups(survey: Survey, revisions: Sequence[Sequence[Cell]]) -> tuple[CohortGroup, ...]:
    """
    The survey's cohorts in their order, those that are small somewhere together, so that no group has 1 to 4 reports.

    They are the same in every view: a cohort that stood alone in one wave and not in another would be told by
    subtracting. The first close settles them; a group that is small even with all others is not shown at all.

    Args:
        survey: the newest revision.
        revisions: the cells of the cohorts of each revision, of all waves.
    """
    if survey.cohort is None:
        return ()
    sizes = _sizes(revisions)
    # While nothing is shown of a cohort, not even its name is listed.
    present = {cell.cohort for cells in revisions for cell in cells if cell.reports}
    by_size = sorted(present, key=lambda cohort: (sizes[cohort].total(), cohort))
    joined = [cohort for cohort in by_size if _is_small(sizes[cohort])]
    rest = [cohort for cohort in by_size if cohort not in joined]
    while rest and _is_small(_added(sizes, joined)):
        joined.append(rest.pop(0))
    if _is_small(_added(sizes, joined)):
        return ()
    groups = [*([cohort] for cohort in sorted(rest)), *([sorted(joined)] if joined else [])]
    return tuple(_group_of(survey.questions[survey.cohort].options, group, revisions) for group in groups)


def _sizes(revisions: Sequence[Sequence[Cell]]) -> dict[int, Counter[tuple[int, int]]]:
    """For each cohort, its reports by (revision, wave): those of the first close, once there was one."""
    settled = any(cell.at_close is not None for cells in revisions for cell in cells)
    sizes: dict[int, Counter[tuple[int, int]]] = {}
    for number, cells in enumerate(revisions):
        for cell in cells:
            size = cell.at_close or 0 if settled else cell.reports
            sizes.setdefault(cell.cohort, Counter())[number, cell.wave] += size
    return sizes


def _added(sizes: Mapping[int, Counter[tuple[int, int]]], cohorts: Iterable[int]) -> Counter[tuple[int, int]]:
    return sum((sizes[cohort] for cohort in cohorts), Counter())


def _is_small(sizes: Counter[tuple[int, int]]) -> bool:
    return any(0 < size < LEAST_COHORT for size in sizes.values())


def _group_of(options: Sequence[str], cohorts: Sequence[int], revisions: Sequence[Sequence[Cell]]) -> CohortGroup:
    cells = tuple(cell for cells in revisions for cell in cells if cell.cohort in cohorts)
    return CohortGroup(tuple(options[cohort] for cohort in cohorts), cells)


def _reports_by_wave(revisions: Sequence[RevisionCounts]) -> tuple[int, ...]:
    cells = [cell for revision in revisions for cell in revision.cells if cell.cohort == ALL]
    count = max(len(revision.survey.waves) for revision in revisions)
    return tuple(sum(cell.reports for cell in cells if cell.wave == wave) for wave in range(count))


def _of_wave(revisions: Sequence[RevisionCounts], wave: int, waves: int) -> list[RevisionCounts]:
    if not 0 <= wave < waves:
        raise EstimateError("the survey has no such wave")
    return [_with_cells(each, (cell for cell in each.cells if cell.wave == wave)) for each in revisions]


def _of_everybody(revisions: Sequence[RevisionCounts]) -> list[RevisionCounts]:
    return [_with_cells(each, (cell for cell in each.cells if cell.cohort == ALL)) for each in revisions]


def _of_group(revisions: Sequence[RevisionCounts], group: CohortGroup) -> list[RevisionCounts]:
    # An earlier revision that divided people by another question has no cells of this group.
    values = {cell.cohort for cell in group.cells}
    return [
        _with_cells(each, (cell for cell in _cohort_cells(each, revisions[-1]) if cell.cohort in values))
        for each in revisions
    ]


def _with_cells(revision: RevisionCounts, cells: Iterable[Cell]) -> RevisionCounts:
    return replace(revision, cells=tuple(cells))


def _cohort_cells(revision: RevisionCounts, newest: RevisionCounts) -> tuple[Cell, ...]:
    """The cells of its cohorts, if they are the newest revision's."""
    mine, wanted = (each.survey.cohort for each in (revision, newest))
    if mine is None or wanted is None:
        return ()
    same = same_question(revision.survey.questions[mine], newest.survey.questions[wanted])
    return tuple(cell for cell in revision.cells if cell.cohort != ALL) if same else ()


def same_question(one: Question, other: Question) -> bool:
    """Whether two revisions ask the same, so that their reports speak of one thing, through whatever channels."""
    # Under another fixed value for no answer another share is estimated.
    if (one.name, one.type, one.domain, one.absent) != (other.name, other.type, other.domain, other.absent):
        return False
    return (one.mechanism is None) == (other.mechanism is None)


def _strata(question: Question, revisions: Iterable[RevisionCounts]) -> list[Stratum]:
    """(mechanism, tally) of every revision that asks this question, oldest first."""
    return [
        (asked.mechanism, _tally(revision.cells, index))
        for revision in revisions
        for index, asked in enumerate(revision.survey.questions)
        if same_question(asked, question)
    ]


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
    return tally


def _result(question: Question, revisions: Sequence[RevisionCounts], rule: IntervalRule) -> QuestionResult:
    rule = rule.when_asked(_asked(question, revisions))
    result = _question(question, _strata(question, revisions), rule)
    # Reports of another procedure are protected otherwise.
    by_hand = merge(_strata(question, (revision for revision in revisions if revision.survey.own_coin)))
    if not (by_hand and revisions[-1].survey.own_coin and isinstance(question.mechanism, BinaryRR)):
        return result
    tally = next(tally for mechanism, tally in by_hand if mechanism == question.mechanism)
    return replace(result, protection=protected(question.mechanism, tally, rule))


def _asked(question: Question, revisions: Sequence[RevisionCounts]) -> Fraction:
    """The chance that a respondent is asked this question, in the revision where that is least."""
    if question.mechanism is None:
        return Fraction(1)
    asking = [revision.survey for revision in revisions if revision.survey.ask is not None]
    return min((Fraction(survey.ask or 1, len(survey.private)) for survey in asking), default=Fraction(1))


def _question(question: Question, strata: Sequence[Stratum], rule: IntervalRule) -> QuestionResult:
    groups = merge(strata)
    # The newest revision's own mechanism, whose numbers and tally are shown.
    mechanism, tally = next(group for group in groups if group[0] == question.mechanism)
    reports = sum(question.reports(tally) if made is None else made.reports(tally) for made, tally in groups)
    tally = dict(sorted(tally.items()))
    if mechanism is None:
        estimates, epsilon = public.estimate(tally, question.domain, rule), None
    else:
        estimates, epsilon = estimate_strata(groups, question.domain, rule), mechanism.epsilon
    if question.kind.truth == "yes_no" and not question.domain.absent:
        # The share of "no" is the rest.
        estimates = estimates[-1:]
    return QuestionResult(question, epsilon, reports, tally, estimates)


def mechanism_document(question: Question) -> dict[str, Any] | None:
    """The mechanism as the survey writes it; None for a public question."""
    return None if question.mechanism is None else question.mechanism.dump()
