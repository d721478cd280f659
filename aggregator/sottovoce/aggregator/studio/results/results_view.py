"""Build the page "Results": cards of questions with charts, comparisons and warnings, ready to render."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby

from sottovoce.aggregator.analysis.careless_results import anchors_of
from sottovoce.aggregator.analysis.diagnostics import CountWarning, alarms, chance_of_arms
from sottovoce.aggregator.analysis.estimates import QuestionResult, RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.mixtures.mixture import notes_alone
from sottovoce.aggregator.analysis.published_counts import is_split
from sottovoce.aggregator.analysis.results_document import Population, group_of
from sottovoce.aggregator.analysis.variable_names import VariableNames
from sottovoce.aggregator.analysis.worked_example import (
    careless_in_words,
    counted_in_words,
    declined_in_words,
    has_band,
    limits,
    worked_in_words,
)
from sottovoce.aggregator.api.results import wave_of
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.estimators.question_variables import scale_mean
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.studio.labels import labels_of, name_of_group, people_in_words, title_of
from sottovoce.aggregator.studio.request_context import words
from sottovoce.aggregator.studio.results.arm_split import NO_SPLIT, ArmSplit
from sottovoce.aggregator.studio.results.view_options import ViewOptions
from sottovoce.shared.answers import ABSENT, Grid
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.spec import Survey


@dataclass(frozen=True)
class Point:
    """Estimate of an option in a group or wave."""

    name: str
    estimate: Estimate


@dataclass(frozen=True)
class ChartRow:
    """Row of a chart: an option, the mean or a quantile.

    Attributes:
        people: the share as a number of people, in words; "" if not requested.
        points: estimates of each group or wave, side by side.
        corrected: the share corrected for careless people; None without one.
    """

    label: str
    estimate: Estimate
    people: str
    points: Sequence[Point] = ()
    corrected: Point | None = None

    @property
    def is_absent(self) -> bool:
        """True for the people who gave no answer; their row is set apart."""
        return self.estimate.option == ABSENT


@dataclass(frozen=True)
class Chart:
    """Estimates of one kind of a question, a row each.

    Attributes:
        kind: ``mean``, ``quantile`` or ``share``.
        grid: grid of a number question, which formats its own values.
        axis: values at the ends of the axis.
    """

    kind: str
    rows: Sequence[ChartRow]
    grid: Grid | None
    axis: tuple[float, float] = (0.0, 1.0)

    @property
    def is_unlimited(self) -> bool:
        """True if the estimates have no limits."""
        return any(row.estimate.low is None for row in self.rows)

    @property
    def panels(self) -> Mapping[str, Sequence[ChartRow]]:
        """Rows of each group or wave by its name, to draw side by side; empty if none are compared."""
        found: dict[str, list[ChartRow]] = {}
        for row in self.rows:
            for point in row.points:
                found.setdefault(point.name, []).append(ChartRow(row.label, point.estimate, ""))
        return found


@dataclass(frozen=True)
class QuestionCard:
    """Display data of a question.

    Attributes:
        labels: labels of the options, by name.
        worked: sentences with the arithmetic of the share of "yes"; "" if the question has no worked example.
        absent_as: answer that a missing answer is counted as; "" if the question has none.
        alone: what the figures of a question of a design take for granted; "" of others.
        declined: people whom the shares describe, and the share of the others; "" if everybody answers.
        unlimited: True if limits among the people who answered are all of the range.
        arms: names of the random arms that are asked it; empty if all are.
        mean: mean of a rating with its limits, in the numbers of its points; "" without one.
        by_arm: True if several arms are asked it, so that Tables can compare them.
    """

    title: str
    result: QuestionResult
    labels: Mapping[str, str]
    worked: str
    charts: Sequence[Chart]
    absent_as: str
    alone: str = ""
    declined: str = ""
    unlimited: bool = False
    arms: Sequence[str] = ()
    by_arm: bool = False
    mean: str = ""

    @property
    def headline(self) -> tuple[Chart, ChartRow] | None:
        """Estimate of yes, or the largest one of the first chart; None without a chart."""
        if not self.charts:
            return None
        rows = [row for row in self.charts[0].rows if not row.is_absent] or self.charts[0].rows
        yes = [row for row in rows if row.estimate.option == "yes"] if len(rows) == 2 else []
        return self.charts[0], max(yes or rows, key=lambda row: row.estimate.clipped or 0.0)

    @property
    def is_single(self) -> bool:
        """True if the charts show one estimate only, as for yes or no."""
        rows = [row for chart in self.charts for row in chart.rows]
        return len(rows) == 1 and not rows[0].points and rows[0].corrected is None


@dataclass(frozen=True)
class CardBlock:
    """Consecutive questions that are drawn together.

    ``shared`` is the chart whose axis all have, if each is one line; None for a question with a card of its own.
    """

    shared: Chart | None
    cards: Sequence[QuestionCard]


MOST_OPEN = 12
"""Number of questions up to which each shows all of its answers; with more, each is one line that opens."""

COMPARED = frozenset({"yes_no", "option", "number"})
"""Kinds of true values that one comparison covers; a multiple choice has one for each option."""


@dataclass(frozen=True)
class ResultsView:
    """Content of the page.

    Attributes:
        alarms: warnings about the counts.
        group: population for numbers of people; None if its size is not given.
        planned: number of people expected to answer; None if not given, or once the survey is closed.
        invited: number of people in the group; None if not given.
        revisions: number of revisions with reports.
        careless: sentences on careless answers; empty without anchors.
        arms: results by arm, or the reason why there are none.
        arms_test: test of the numbers of reports in the arms by their weights; "" without arms or reports.
    """

    results: SurveyResults
    choices: ViewOptions
    cards: Sequence[QuestionCard]
    alarms: Sequence[CountWarning]
    group: Population | None
    planned: int | None
    invited: int | None
    revisions: int
    careless: Sequence[str] = ()
    arms: ArmSplit = NO_SPLIT
    arms_test: str = ""

    @property
    def survey(self) -> Survey:
        """Newest revision of the survey."""
        return self.results.survey

    @property
    def finding(self) -> tuple[QuestionCard, Chart, ChartRow] | None:
        """Estimate for the first line of the page: of the first private question with figures, its largest."""
        drawn = [card for card in self.cards if card.headline]
        private = [card for card in drawn if card.result.question.mechanism] or drawn
        return (private[0], *private[0].headline) if private and private[0].headline else None

    @property
    def blocks(self) -> Sequence[CardBlock]:
        """The questions in order; neighbours that are one line each and have the same axis are together."""
        is_long = len(self.cards) > MOST_OPEN

        def key(place: int) -> tuple[object, ...]:
            card = self.cards[place]
            if not (card.is_single or (is_long and card.headline)):
                return (place,)
            return (card.charts[0].axis, card.charts[0].kind, card.charts[0].grid)

        grouped = ((len(axis) > 1, list(places)) for axis, places in groupby(range(len(self.cards)), key))
        return [
            CardBlock(self.cards[places[0]].charts[0] if is_line else None, [self.cards[place] for place in places])
            for is_line, places in grouped
        ]

    @property
    def widest_margin(self) -> float | None:
        """Half of the widest interval of a share, as a share; None if no share is shown."""
        shares = (row.estimate for card in self.cards for chart in card.charts for row in chart.rows)
        bounded = (each for each in shares if each.kind == "share" and each.low is not None)
        ends = [limits(each, not self.results.closed) for each in bounded]
        return max(((high - low) / 2 for low, high in ends), default=None)

    @property
    def may_decline(self) -> bool:
        """True if people may leave a question unanswered, so that shares differ by the people they describe."""
        return any(card.result.question.domain.absent for card in self.cards)

    @property
    def has_band(self) -> bool:
        """True if an estimate is shown with the confidence band that is valid at every look."""
        estimates = (estimate for card in self.cards for estimate in card.result.estimates)
        return any(has_band(estimate, not self.results.closed) for estimate in estimates)


def view_of(
    revisions: Sequence[RevisionCounts], choices: ViewOptions, plan: PlannedSize, arms: ArmSplit = NO_SPLIT
) -> ResultsView:
    """Build the content of the page; revisions are oldest first. Raise EstimateError without such a group or wave."""
    results = analyse(revisions, choices.cohort, wave=wave_of(choices.wave), confidence=choices.confidence)
    titles = {each.name: title_of(results.survey, each, words()) for each in anchors_of(results.survey)}
    group = None if choices.people is None else group_of(revisions, results, choices.people)
    side = _side_by_side(revisions, results, choices) or results_by_arm(results, choices, arms)
    chance = chance_of_arms(results)
    return ResultsView(
        results=results,
        choices=choices,
        cards=[_card(results, result, side, (choices, group)) for result in results.questions],
        alarms=alarms(results, plan.group),
        group=group,
        planned=None if results.closed else plan.reports(len(results.waves)),
        invited=plan.group,
        revisions=sum(any(cell.reports for cell in revision.cells) for revision in revisions),
        careless=[*careless_in_words(results, titles, words())],
        arms=arms,
        arms_test="" if chance is None else words().translate("results_arms_chance", p=words().write.p_equals(chance)),
    )


def _side_by_side(
    revisions: Sequence[RevisionCounts], results: SurveyResults, choices: ViewOptions
) -> Sequence[tuple[str, SurveyResults]]:
    """Compute the results of each group, or of each wave, with its name."""
    of_part = partial(analyse, revisions, confidence=choices.confidence)
    if choices.by == "cohort" and results.cohort is None:
        named = partial(name_of_group, results.survey, words=words())
        return [(named(group), of_part(group.name, wave=results.wave)) for group in results.cohorts]
    if choices.by == "wave" and results.wave is None and len(results.waves) > 1:
        shown = [number for number, reports in enumerate(results.waves) if reports]
        named = partial(words().translate, "wave_number")
        return [(named(number=number), of_part(results.cohort, wave=number)) for number in shown]
    return ()


def results_by_arm(
    results: SurveyResults, choices: ViewOptions, split: ArmSplit
) -> Sequence[tuple[str, SurveyResults]]:
    """Compute the results of each arm, with its name."""
    of_arm = partial(analyse, wave=results.wave, confidence=choices.confidence)
    return [(name, of_arm(revisions)) for name, revisions in split.arms]


def _card(
    results: SurveyResults,
    result: QuestionResult,
    side: Sequence[tuple[str, SurveyResults]],
    context: tuple[ViewOptions, Population | None],
) -> QuestionCard:
    choices, group = context
    question, survey = result.question, results.survey
    labels = labels_of(survey, question, words())
    # By name: results of a group lack the questions that have answers of few people there.
    found = [(name, each) for name, other in side for each in other.questions if each.question.name == question.name]
    others = [(name, shown_result(other, choices)) for name, other in found]
    divides = choices.by == "cohort" and survey.cohort is not None and question == survey.questions[survey.cohort]
    if divides or (choices.by == ARM and not is_split(survey, question)):
        others = []
    answered, result = result, shown_result(result, choices)
    among = result.estimates is answered.answered and bool(result.estimates)
    # Among all, no answer may also mean that the question was not asked.
    told = among or (answered.conditional and not answered.asked_only)
    people = group, answered.estimates
    drawn = (_chart(result, kind, labels, people) for kind in ("mean", "quantile", "share"))
    charts = [_with_points(chart, others) for chart in drawn if chart.rows]
    if among or not answered.answered:
        charts = [_with_corrected(chart, answered.corrected) for chart in charts]
    if question.choices and choices.order != "asked" and (choices.order or question.mechanism):
        charts = [replace(chart, rows=sorted(chart.rows, key=_from_largest)) for chart in charts]
    own = next((item.arms for item in survey.items if question in item.questions), None)
    return QuestionCard(
        title=title_of(survey, question, words()),
        result=answered,
        labels=labels,
        worked="" if among else worked_in_words(result, not results.closed, words()),
        charts=[_with_axis(chart, not results.closed, choices.zoomed) for chart in charts],
        absent_as=counted_in_words(result, labels, words()),
        alone=words().translate("gap").join(map(VariableNames(words()).note, notes_alone(survey, [question.name]))),
        declined=declined_in_words(answered, not results.closed, words(), "" if among else "all") if told else "",
        unlimited=among and any(limits(each, not results.closed) == (0.0, 1.0) for each in result.estimates),
        arms=own or (),
        by_arm=is_split(survey, question) and question.kind.truth in COMPARED,
        mean=_mean(results, answered, choices),
    )


def _mean(results: SurveyResults, result: QuestionResult, choices: ViewOptions) -> str:
    """Return the mean of a closed rating with its limits; "" where reports of several channels or waves are added."""
    question, write = result.question, words().write
    alone = results.closed and not results.same_people and sum(result.tally.values()) == result.n
    found = scale_mean(question, result.tally, choices.confidence) if question.type == "rating" and alone else None
    return "" if found is None else write.with_limits(found, "estimate", write.figure)


def shown_result(result: QuestionResult, choices: ViewOptions) -> QuestionResult:
    """Return the result with the shares to show: among the people who answered, unless all are asked for."""
    return result if choices.among_all or not result.answered else replace(result, estimates=result.answered)


def _chart(
    result: QuestionResult, kind: str, labels: Mapping[str, str], people: tuple[Population | None, Sequence[Estimate]]
) -> Chart:
    group, of_all = people
    # Numbers of people are shares among all people times the size of the group.
    counted = {each.option: each for each in of_all if each.kind == "share"}
    is_number, rows = kind != "share" or result.question.kind.truth == "number", list[ChartRow]()
    for estimate in result.of_kind(kind) if result.n else ():
        whole = counted.get(estimate.option, estimate)
        told = "" if group is None or is_number else people_in_words(whole, group, words())
        rows.append(ChartRow(_label(estimate, labels), estimate, told))
    return Chart(kind, rows, result.question.domain.grid)


def _label(estimate: Estimate, labels: Mapping[str, str]) -> str:
    if estimate.kind == "quantile":
        return words().translate("results_quantile", share=words().percent(int(estimate.option[1:]) / 100, 0))
    return labels.get(estimate.option, estimate.option)


def _with_points(chart: Chart, others: Sequence[tuple[str, QuestionResult]]) -> Chart:
    found = [(name, {each.option: each for each in other.of_kind(chart.kind)}) for name, other in others if other.n]
    rows = [
        replace(row, points=[Point(name, of[row.estimate.option]) for name, of in found if row.estimate.option in of])
        for row in chart.rows
    ]
    return replace(chart, rows=rows)


def _with_corrected(chart: Chart, corrected: Sequence[Estimate]) -> Chart:
    """Add to each row the share that is corrected for careless people, where there is one."""
    found = {each.option: Point(words().translate("results_corrected"), each) for each in corrected}
    return replace(chart, rows=[replace(row, corrected=found.get(row.estimate.option)) for row in chart.rows])


def _from_largest(row: ChartRow) -> tuple[bool, float]:
    return row.is_absent, -(row.estimate.clipped or 0.0)


def _with_axis(chart: Chart, still_open: bool, zoomed: bool) -> Chart:
    """Set the axis of a chart, which all its groups and waves share: the possible range, or where the intervals are."""
    first = chart.rows[0].estimate
    beside = [point.estimate for row in chart.rows for point in (row.corrected, *row.points) if point]
    drawn = [*(row.estimate for row in chart.rows), *beside]
    ends = [end for each in drawn for end in limits(each, still_open)]
    low, high = min(ends), max(ends)
    if not zoomed or low == high:
        return replace(chart, axis=(first.lowest, first.highest))
    beyond = (high - low) / 10
    return replace(chart, axis=(max(low - beyond, first.lowest), min(high + beyond, first.highest)))
