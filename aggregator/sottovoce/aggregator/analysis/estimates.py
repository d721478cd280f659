"""Estimate from published counts: cells -> cohort groups -> tallies -> estimates.

This module reads snapshots only; it has no access to single reports.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sottovoce.aggregator.analysis.careless_results import correct_careless
from sottovoce.aggregator.estimators import DEFAULT_RULE, Estimate, IntervalRule, public
from sottovoce.aggregator.estimators.answered_shares import StratumTally, answered_shares, estimate_strata, merge
from sottovoce.aggregator.estimators.careless.anchors import Careless
from sottovoce.aggregator.estimators.support import protected
from sottovoce.aggregator.storage import Cell, StoredSurvey
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.surveys.lifecycle import reports_so_far, same_question
from sottovoce.shared.arms.arms import reports_by_question, share_asked
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Question, Survey

ANSWERED, ASKED_AND_ANSWERED = "answered", "asked_and_answered"
"""People whom a share describes; where one category holds hidden and declined answers, only the second is known."""

LEAST_COHORT = 5
"""Smallest cohort shown alone; smaller ones are merged, because a group of one or two would identify people."""

Sizes = Counter[tuple[int, int]]
"""Reports by (revision, wave)."""


def merge_small(sizes: Mapping[int, Sizes], least: int) -> list[list[int]]:
    """Return the groups: each answer alone, except that small ones are merged (last) until no group is small.

    A group is small with fewer than ``least`` reports in a stratum (revision, wave) that is not empty. The result is
    empty if all answers together are still too small.
    """
    # Smallest first: groups then merge as few respondents as possible. Ties break by index, to be reproducible.
    by_size = sorted(sizes, key=lambda answer: (sizes[answer].total(), answer))
    joined = [answer for answer in by_size if _is_small(sizes[answer], least)]
    rest = [answer for answer in by_size if answer not in joined]
    while rest and _is_small(_added(sizes, joined), least):
        joined.append(rest.pop(0))
    if _is_small(_added(sizes, joined), least):
        return []
    return [*([answer] for answer in sorted(rest)), *([sorted(joined)] if joined else [])]


def _added(sizes: Mapping[int, Sizes], answers: Iterable[int]) -> Sizes:
    return sum((sizes[answer] for answer in answers), Counter())


def _is_small(sizes: Sizes, least: int) -> bool:
    return any(0 < size < least for size in sizes.values())


@dataclass(frozen=True)
class CohortGroup:
    """A cohort, or several small ones that are shown together."""

    options: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        """Name that selects the group in requests: its options, with commas between them."""
        return ", ".join(self.options)

    @property
    def reports(self) -> int:
        """Number of reports published for the group."""
        return sum(cell.reports for cell in self.cells)


@dataclass(frozen=True)
class QuestionResult:
    """Published counts and estimates of one question.

    Attributes:
        epsilon: privacy loss of one report, the largest of all revisions counted; None for a public question.
        redrawn: reports of an earlier revision, drawn through another channel, are among them.
        n: reports that carry a value for this question.
        tally: number of reports by reported value; for bit masks see ``mechanisms.base.Mask``.
        estimates: one per option, for a boolean question of "yes" only unless a category was added; for a number its
            mean, and whatever its mechanism estimates of the distribution; for a vector the mean of each coordinate.
            Empty where devices memoize a draw and several waves are added up: reports of one person are then dependent.
        answered: of a question that people may leave unanswered, the share of each answer among those who answered.
        conditional: not everybody was asked this question.
        asked_only: only people who were asked are counted; otherwise no answer may also mean that it was hidden.
        asked_in_part: not so, but people whom public answers kept from it are left out; a randomized one decided too.
        protection: (s, share of yes if a share s of reports were a self-protective no); only for surveys where
            respondents toss their own coin.
        corrected: shares corrected for careless people, see ``careless_results``; empty without anchors.
    """

    question: Question
    epsilon: float | None
    n: int
    tally: Mapping[int, int]
    estimates: Sequence[Estimate]
    answered: Sequence[Estimate] = ()
    conditional: bool = False
    asked_only: bool = False
    asked_in_part: bool = False
    protection: Sequence[tuple[float, Estimate]] = ()
    corrected: Sequence[Estimate] = ()
    redrawn: bool = False

    @property
    def described(self) -> str:
        """People whom ``answered`` describes: those who answered, or who were asked and answered."""
        return ASKED_AND_ANSWERED if self.conditional else ANSWERED

    @property
    def declined(self) -> Estimate | None:
        """Share of the people who gave no answer; None if everybody must answer, or without an estimate."""
        return self.estimates[-1] if self.question.domain.absent and self.estimates else None

    def of_kind(self, kind: str) -> list[Estimate]:
        """Return the estimates of one kind: "share", "mean" or "quantile"."""
        return [estimate for estimate in self.estimates if estimate.kind == kind]


@dataclass(frozen=True)
class SurveyResults:
    """Results of one survey, for all respondents or for one cohort group.

    Attributes:
        survey: the newest revision of the survey.
        closed: no more reports are admitted; after the first close, every admitted report is counted here.
        was_closed: it was closed at least once: what is shown moves at its closes only.
        received: reports so far, in the snapshot or not; in whole batches while the survey is open.
        reports, withdrawn: reports in the snapshot.
        cohort: name of the cohort group, or None for all respondents.
        wave: the wave, or None for all waves together.
        waves: reports in the snapshot by wave.
        same_people: several waves are added up and may contain the same people; the intervals account for it.
        questions: results of the questions in the survey's order, without those of ``withheld``.
        withheld: names of the public questions whose tables are published with noise, so no exact ones are shown.
        revisions: the revisions whose reports are counted here, oldest first; the newest if there are none.
        careless: share of careless people, from the anchors; None without anchors, and while the survey is open.
    """

    survey: Survey
    closed: bool
    was_closed: bool
    received: int
    reports: int
    withdrawn: int
    cohort: str | None
    cohorts: tuple[CohortGroup, ...]
    wave: int | None
    waves: tuple[int, ...]
    same_people: bool
    questions: tuple[QuestionResult, ...]
    withheld: tuple[str, ...] = ()
    revisions: tuple[Survey, ...] = ()
    careless: Careless | None = None

    @property
    def fullest(self) -> tuple[int, int]:
        """The wave with the most reports, and their number: a person sends one in each."""
        wave, reports = max(enumerate(self.waves), key=lambda each: each[1])
        return wave, reports if len(self.waves) > 1 else self.received

    @property
    def epsilon(self) -> float:
        """Privacy loss of a report, the largest of all revisions counted."""
        return max(each.epsilon for each in self.revisions or (self.survey,))

    @property
    def epsilon_of_person(self) -> float:
        """Privacy loss of a person who sent a report in each wave that is counted, where the same people may have."""
        if not self.same_people:
            return self.epsilon
        waves = sum(map(bool, self.waves))
        return max(each.epsilon_of_memo + waves * each.epsilon_of_wave for each in self.revisions or (self.survey,))


@dataclass(frozen=True)
class RevisionCounts:
    """A revision of a survey with its published counts.

    Attributes:
        stored: database row of the revision.
        cells: published counts of all waves and cohorts.
        released: public answers are published with noise, under a budget: see ``curator.data.survey_source``.
        withheld: names of the public questions that this concerns; their exact results are shown nowhere.
        asked, asked_in_cohorts: names of the questions whose counts have no people who were never asked, of all
            respondents and by cohort; see ``published_counts``.
    """

    stored: StoredSurvey
    survey: Survey
    cells: tuple[Cell, ...]
    released: bool = False
    withheld: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()
    asked_in_cohorts: frozenset[str] = frozenset()

    @classmethod
    def closed_with(
        cls, survey: Survey, reports: int, cells: Sequence[Cell], key: int = 0, asked: frozenset[str] = frozenset()
    ) -> "RevisionCounts":
        """Return a closed revision that is in no database, with the counts of all its reports."""
        stored = StoredSurvey(key, survey.name, survey.revision, survey.digest, survey.canonical, True, reports)
        return cls(stored, survey, tuple(cells), asked=asked)


def analyse(
    revisions: Sequence[RevisionCounts],
    cohort: str | None = None,
    interval: str = DEFAULT_RULE.method,
    wave: int | None = None,
    confidence: float = DEFAULT_RULE.confidence,
) -> SurveyResults:
    """Estimate the results of a survey, for the questions of its newest revision.

    A question that keeps its name, its type and its true values through the revisions is one question: counts of equal
    mechanisms are added, estimates of different mechanisms are pooled by inverse variance.

    Args:
        revisions: revisions of one survey, oldest first, at least one.
        cohort: name of a cohort group; None means all respondents.
        interval: interval method for shares, one of ``intervals.METHODS``.
        wave: only this wave; None adds all waves up, with intervals valid if the same people answered each wave, and no
            estimates where devices memoize a draw from wave to wave.
        confidence: nominal coverage of the intervals.

    Raises:
        EstimateError: the cohort group, the wave or the interval method does not exist.
    """
    waves = _reports_by_wave(revisions)
    newest = revisions[-1]
    groups = cohort_groups(newest.survey, [_cohort_cells(revision, newest) for revision in revisions])
    # In every view the same ones: those of waves could be added up.
    left_out = newest.withheld if cohort is None else newest.withheld | _rare_in_cohorts(revisions, groups)
    if wave is not None:
        if not 0 <= wave < len(waves):
            raise EstimateError("the survey has no such wave")
        revisions = [_with_cells(each, (cell for cell in each.cells if cell.wave == wave)) for each in revisions]
        groups = tuple(replace(each, cells=tuple(cell for cell in each.cells if cell.wave == wave)) for each in groups)
    everybody = [_with_cells(each, (cell for cell in each.cells if cell.cohort == ALL)) for each in revisions]
    selection = everybody if cohort is None else _of_group(revisions, _group(groups, cohort))
    # Researchers look repeatedly while reports arrive, so an open survey gets a band that is valid for all looks.
    added_up = sum(map(bool, waves)) if wave is None else 1
    same_people = added_up > 1 and not newest.survey.fresh_samples
    rule = IntervalRule(interval, confidence, not newest.stored.closed, added_up if same_people else 1)
    results = [_result(question, selection, rule) for question in newest.survey.questions]
    if added_up > 1:
        # Memoized draws make reports of one person dependent over waves: no interval is valid for their sum.
        for index in newest.survey.memoized:
            results[index] = replace(results[index], estimates=(), answered=())
    place = newest.survey.cohort
    if place is not None and newest.survey.release_batch > 1 and not (newest.stored.closed or newest.stored.was_closed):
        # A small cohort is not shown at all yet, and of each some reports are not: shares of cohorts would be no one's.
        results[place] = replace(results[place], estimates=(), answered=())
    shown = {each.question.name: _strata(each.question, selection) for each in results if _is_whole(each, selection)}
    # These limits hold for one look, which test runs may take at once.
    once = newest.stored.closed or newest.survey.trial
    careless, corrected = correct_careless(newest.survey, shown, newest.withheld, rule) if once else (None, {})
    results = [replace(each, corrected=corrected.get(each.question.name, ())) for each in results]
    return SurveyResults(
        survey=newest.survey,
        closed=newest.stored.closed,
        was_closed=newest.stored.was_closed,
        # Reports withdrawn since the last snapshot are still counted in it.
        received=max(sum(reports_so_far(revision.stored) for revision in revisions), sum(waves)),
        reports=sum(cell.reports for revision in selection for cell in revision.cells),
        withdrawn=sum(cell.withdrawn for revision in selection for cell in revision.cells),
        cohort=cohort,
        cohorts=groups,
        wave=wave,
        waves=waves,
        same_people=same_people,
        questions=tuple(each for each in results if each.question.name not in left_out),
        withheld=tuple(each.name for each in newest.survey.questions if each.name in newest.withheld),
        revisions=tuple(each.survey for each in selection if any(cell.reports for cell in each.cells)),
        careless=careless,
    )


def cohort_groups(survey: Survey, revisions: Sequence[Sequence[Cell]]) -> tuple[CohortGroup, ...]:
    """Return the cohort groups: each cohort alone, except that small ones are merged until no group has 1 to 4 reports.

    The groups are the same in every view, because otherwise subtracting two views would reveal a small cohort. The
    first close fixes them. If all cohorts together are still too small, the result is empty.

    Args:
        survey: the newest revision.
        revisions: the cells of the cohorts of each revision, of all waves.
    """
    if survey.cohort is None:
        return ()
    sizes = _sizes(revisions)
    # A cohort without published reports is not listed, not even by name.
    present = {cell.cohort for cells in revisions for cell in cells if cell.reports}
    groups = merge_small({cohort: sizes[cohort] for cohort in present}, LEAST_COHORT)
    options, cells = survey.questions[survey.cohort].options, [cell for each in revisions for cell in each]
    return tuple(
        CohortGroup(tuple(options[cohort] for cohort in group), tuple(cell for cell in cells if cell.cohort in group))
        for group in groups
    )


def _rare_in_cohorts(revisions: Sequence[RevisionCounts], groups: Iterable[CohortGroup]) -> frozenset[str]:
    """Return the public questions with an answer of few people in a cohort group, as a table of both would suppress."""
    return frozenset(
        question.name
        for group in groups
        for revision in _of_group(revisions, group)
        for index, question in enumerate(revision.survey.questions)
        if question.mechanism is None and index != revision.survey.cohort
        for wave in {cell.wave for cell in revision.cells}
        for cells in [[cell for cell in revision.cells if cell.wave == wave]]
        if is_rare(_tally(cells, index), sum(cell.reports for cell in cells))
    )


def is_rare(counts: Mapping[int, int], reports: int) -> bool:
    """Return True if a few people alone gave an answer, or alone did not give it."""
    return any(0 < few < LEAST_COHORT for count in counts.values() for few in (count, reports - count))


def _sizes(revisions: Sequence[Sequence[Cell]]) -> dict[int, Counter[tuple[int, int]]]:
    """Return the reports of each cohort by (revision, wave): as of the first close, once there was one."""
    # The first close fixes the groups, so that later reports cannot split or merge them.
    settled = any(cell.at_close is not None for cells in revisions for cell in cells)
    sizes: dict[int, Counter[tuple[int, int]]] = {}
    for number, cells in enumerate(revisions):
        for cell in cells:
            size = cell.at_close or 0 if settled else cell.reports
            sizes.setdefault(cell.cohort, Counter())[number, cell.wave] += size
    return sizes


def _reports_by_wave(revisions: Sequence[RevisionCounts]) -> tuple[int, ...]:
    cells = [cell for revision in revisions for cell in revision.cells if cell.cohort == ALL]
    count = max(len(revision.survey.waves) for revision in revisions)
    return tuple(sum(cell.reports for cell in cells if cell.wave == wave) for wave in range(count))


def _of_group(revisions: Sequence[RevisionCounts], group: CohortGroup) -> list[RevisionCounts]:
    # Earlier revisions with another cohort question have no cells of this group.
    values, newest = {cell.cohort for cell in group.cells}, revisions[-1]
    own = [(replace(each, asked=each.asked_in_cohorts), _cohort_cells(each, newest)) for each in revisions]
    return [_with_cells(each, (cell for cell in cells if cell.cohort in values)) for each, cells in own]


def _with_cells(revision: RevisionCounts, cells: Iterable[Cell]) -> RevisionCounts:
    return replace(revision, cells=tuple(cells))


def _cohort_cells(revision: RevisionCounts, newest: RevisionCounts) -> tuple[Cell, ...]:
    """Return the cohort cells of a revision if its cohort question equals the newest revision's, else none."""
    mine, wanted = (each.survey.cohort for each in (revision, newest))
    if mine is None or wanted is None:
        return ()
    same = same_question(revision.survey.questions[mine], newest.survey.questions[wanted])
    return tuple(cell for cell in revision.cells if cell.cohort != ALL) if same else ()


def _strata(question: Question, revisions: Iterable[RevisionCounts]) -> list[StratumTally]:
    """Return (mechanism, tally) of every revision that asks this question, oldest first."""
    return [
        (asked.mechanism, _tally(revision.cells, index))
        for revision in revisions
        for index, asked in enumerate(revision.survey.questions)
        if same_question(asked, question)
    ]


def _is_whole(result: QuestionResult, revisions: Sequence[RevisionCounts]) -> bool:
    """Return True if a question has estimates, and none of its public answers is missing: files leave out rare ones."""
    asked = sum(_reports_asking(each, result.question) for each in revisions)
    return bool(result.estimates) and (result.question.mechanism is not None or result.n == asked)


def _reports_asking(revision: RevisionCounts, question: Question) -> int:
    survey, arms = revision.survey, _tally(revision.cells, len(revision.survey.questions) - 1)
    sizes = [arms.get(arm, 0) for arm in range(len(survey.arms))] or [sum(cell.reports for cell in revision.cells)]
    asked = zip(survey.questions, reports_by_question(survey, sizes), strict=True)
    return sum(reports for one, reports in asked if same_question(one, question))


def _group(groups: Iterable[CohortGroup], name: str) -> CohortGroup:
    named = {group.name: group for group in groups}
    if name not in named:
        raise EstimateError("there is no such cohort, or it is still too small to be shown")
    return named[name]


def _tally(cells: Iterable[Cell], question: int) -> dict[int, int]:
    # The sum of counters leaves out values without reports.
    return sum((Counter(cell.tallies.get(question, {})) for cell in cells), Counter[int]())


def _result(question: Question, revisions: Sequence[RevisionCounts], rule: IntervalRule) -> QuestionResult:
    surveys = [each.survey for each in revisions]
    places = [[each.name for each in survey.questions] for survey in surveys]
    asking = [(survey, names) for survey, names in zip(surveys, places, strict=True) if question.name in names]
    share = min(share_asked(survey, names.index(question.name)) for survey, names in asking)
    conditional, asked = (question.name in each for each in (revisions[-1].survey.conditional, revisions[-1].asked))
    strata = _strata(question, revisions)
    if conditional and asked:
        # A forger chooses the public answers, too, for which a question is asked.
        n = sum(question.reports(tally) if made is None else made.reports(tally) for made, tally in strata)
        share = Fraction(n, max(1, sum(cell.reports for each in revisions for cell in each.cells)))
    rule = rule.when_asked(share)
    result = question_result(question, strata, rule)
    result = replace(result, conditional=conditional, asked_only=conditional and asked)
    if conditional and not asked and revisions[-1].survey.ask is None:
        everybody = sum(_reports_asking(each, question) for each in revisions)
        result = replace(result, asked_in_part=0 < result.n < everybody)
    # The model of self-protective answers holds only for reports that respondents randomized by hand.
    by_hand = merge(_strata(question, (revision for revision in revisions if revision.survey.own_coin)))
    if not (by_hand and revisions[-1].survey.own_coin and question.binary):
        return result
    tally = next(tally for mechanism, tally in by_hand if mechanism == question.mechanism)
    return replace(result, protection=protected(question.binary, tally, rule))


def question_result(question: Question, strata: Sequence[StratumTally], rule: IntervalRule) -> QuestionResult:
    """Estimate a question from (mechanism, tally) of each revision that asks it; one has the question's mechanism."""
    groups = merge(strata)
    # The tally is shown for the mechanism of the newest revision.
    mechanism, tally = next(group for group in groups if group[0] == question.mechanism)
    reports = sum(question.reports(tally) if made is None else made.reports(tally) for made, tally in groups)
    tally = dict(sorted(tally.items()))
    if mechanism is None:
        estimates, epsilon = public.estimate(tally, question.domain, rule), None
    else:
        estimates = estimate_strata(groups, question.domain, rule)
        epsilon = max(made.epsilon for made, counts in groups if made and (counts or made == mechanism))
    if question.is_yes_no:
        # The share of "no" is one minus the share of "yes".
        estimates = estimates[-1:]
    answered = answered_shares(groups, question.domain, rule) if question.domain.absent else ()
    redrawn = any(counts for made, counts in groups if made != mechanism)
    return QuestionResult(question, epsilon, reports, tally, estimates, answered, redrawn=redrawn)
