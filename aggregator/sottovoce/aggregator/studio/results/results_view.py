"""What the page of results shows, worked out before anything is written: charts, groups, waves, alarms, states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sottovoce.aggregator.analysis.diagnostics import CountWarning, alarms
from sottovoce.aggregator.analysis.estimates import QuestionResult, RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.finite_population import Population, group_of
from sottovoce.aggregator.analysis.worked_example import Workings, has_band, limits, yes_workings
from sottovoce.aggregator.api.results import wave_of
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.estimators.projection import norm_sub
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.studio.labels import labels_of, name_of_group, people_in_words, title_of
from sottovoce.shared.answers import Grid
from sottovoce.shared.spec import Survey

MOST_PEOPLE = 10_000_000_000
"""More than there are."""


@dataclass(frozen=True)
class ViewOptions:
    """
    What the reader chose to see; each is a parameter of the page's address.

    Attributes:
        cohort: a group's name; None for all respondents.
        wave: as it stands in the address; None for all.
        by: ``cohort`` or ``wave`` for figures side by side; "" for none.
        by_size: the largest option first.
        people: people in the whole group, of whom shares are told as numbers; None for shares alone.
        is_refused: what was written as the number of people is none.
    """

    cohort: str | None
    wave: str | None
    by: str
    by_size: bool
    people: int | None
    is_refused: bool

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "ViewOptions":
        """As the address says."""
        written = query.get("people", "").strip()
        people = (
            int(written) if written.isascii() and written.isdigit() and len(written) <= len(str(MOST_PEOPLE)) else 0
        )
        known = 1 <= people <= MOST_PEOPLE
        by = query.get("by", "")
        return cls(
            query.get("cohort") or None,
            query.get("wave") or None,
            by if by in {"cohort", "wave"} else "",
            query.get("sort") == "size",
            people if known else None,
            bool(written) and not known,
        )

    @property
    def address(self) -> dict[str, object]:
        """The parameters that lead to the same view; those that are not chosen are None."""
        return {
            "cohort": self.cohort,
            "wave": self.wave,
            "by": self.by or None,
            "sort": "size" if self.by_size else None,
            "people": self.people,
        }


@dataclass(frozen=True)
class Point:
    """One group's or wave's estimate of an option."""

    name: str
    estimate: Estimate


@dataclass(frozen=True)
class Stop:
    """A wave's limits and estimate, as places in the possible range from 0 to 100."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class ChartRow:
    """
    One option of a chart.

    Attributes:
        label: in the reader's language.
        estimate: of it.
        bar: length of its bar, clipped or made to sum to a whole; None without reports.
        people: as how many people it is told; "" for none.
        points: the same of each group or wave, side by side.
        course: the same wave by wave, as a line; none where it is not asked for.
    """

    label: str
    estimate: Estimate
    bar: float | None
    people: str
    points: Sequence[Point] = ()
    course: Sequence[Stop] = ()


@dataclass(frozen=True)
class Chart:
    """
    The figures of one kind of a question.

    Attributes:
        kind: ``mean``, ``quantile`` or ``share``.
        rows: one an option.
        grid: of a question with numbers, which writes its own.
    """

    kind: str
    rows: Sequence[ChartRow]
    grid: Grid | None


@dataclass(frozen=True)
class QuestionCard:
    """
    One question.

    Attributes:
        title: its text.
        result: its figures.
        labels: of its options, by name.
        worked: how its share of yes is worked out; None where it has no such sentence.
        charts: what is drawn.
        absent_as: what an answer that was not given is counted as; "" if there is no such thing.
    """

    title: str
    result: QuestionResult
    labels: Mapping[str, str]
    worked: Workings | None
    charts: Sequence[Chart]
    absent_as: str


@dataclass(frozen=True)
class ResultsView:
    """
    All of the page.

    Attributes:
        results: what is shown.
        choices: what was chosen.
        cards: the questions.
        alarms: what looks wrong.
        group: the people that shares are told of; None without their number.
        planned: people who are to answer; None where nobody said.
        invited: people in the group; None where nobody said.
        unshown: reports of a closed survey that stay unshown.
        revisions: how many have reports.
        withheld: public answers are not told by group, because they are published under a budget.
    """

    results: SurveyResults
    choices: ViewOptions
    cards: Sequence[QuestionCard]
    alarms: Sequence[CountWarning]
    group: Population | None
    planned: int | None
    invited: int | None
    unshown: int
    revisions: int
    withheld: bool

    @property
    def survey(self) -> Survey:
        """The newest revision."""
        return self.results.survey

    @property
    def has_band(self) -> bool:
        """Whether shares are shown with the band that holds at all looks."""
        estimates = (estimate for card in self.cards for estimate in card.result.estimates)
        return any(has_band(estimate, not self.results.closed) for estimate in estimates)


def view_of(revisions: Sequence[RevisionCounts], choices: ViewOptions, words: Words, plan: PlannedSize) -> ResultsView:
    """
    The page's content.

    Args:
        revisions: all of the survey, oldest first.
        choices: what the reader wants to see.
        words: the reader's language.
        plan: for how many people the survey is.

    Raises:
        EstimateError: there is no such group or wave.
    """
    results = analyse(revisions, choices.cohort, wave=wave_of(choices.wave))
    group = None if choices.people is None else group_of(revisions, results, choices.people)
    side = _side_by_side(revisions, results, choices, words)
    # The groups are a public question's: with another one they are an exact table of two, as in joint/withheld.py.
    withheld = results.released and (results.cohort is not None or choices.by == "cohort")
    told = [
        index for index, result in enumerate(results.questions) if not withheld or result.question.mechanism is not None
    ]
    return ResultsView(
        results=results,
        choices=choices,
        cards=[_card(results, index, side, (choices, group, words)) for index in told],
        alarms=alarms(results, plan.group),
        group=group,
        planned=plan.people,
        invited=plan.group,
        unshown=results.received - sum(results.waves) if results.closed else 0,
        revisions=sum(any(cell.reports for cell in revision.cells) for revision in revisions),
        withheld=withheld,
    )


def _side_by_side(
    revisions: Sequence[RevisionCounts], results: SurveyResults, choices: ViewOptions, words: Words
) -> Sequence[tuple[str, SurveyResults]]:
    """The results of each group, or of each wave, with its name."""
    if choices.by == "cohort" and results.cohort is None:
        named = partial(name_of_group, results.survey, words=words)
        return [(named(group), analyse(revisions, group.name, wave=results.wave)) for group in results.cohorts]
    if choices.by == "wave" and results.wave is None and len(results.waves) > 1:
        shown = [number for number, reports in enumerate(results.waves) if reports]
        return [
            (words.say("results_wave_number", number=number), analyse(revisions, results.cohort, wave=number))
            for number in shown
        ]
    return ()


def _card(
    results: SurveyResults,
    index: int,
    side: Sequence[tuple[str, SurveyResults]],
    chosen: tuple[ViewOptions, Population | None, Words],
) -> QuestionCard:
    result, (choices, group, words) = results.questions[index], chosen
    question, survey = result.question, results.survey
    labels = labels_of(survey, question, words)
    beside = [(name, other.questions[index]) for name, other in side]
    charts = [_chart(result, kind, labels, group, words) for kind in ("mean", "quantile", "share")]
    charts = [_with_points(chart, beside) for chart in charts if chart.rows]
    if choices.by == "wave":
        charts = [_with_course(chart, not results.closed) for chart in charts]
    return QuestionCard(
        title=title_of(survey, question, words),
        result=result,
        labels=labels,
        worked=yes_workings(result, not results.closed),
        charts=[_by_size(chart) for chart in charts] if choices.by_size and question.choices else charts,
        absent_as=_absent_as(result, labels, words),
    )


def _chart(
    result: QuestionResult, kind: str, labels: Mapping[str, str], group: Population | None, words: Words
) -> Chart:
    estimates = result.of_kind(kind) if result.n else []
    question = result.question
    whole = question.kind.truth == "option" or question.domain.absent
    rows = [
        ChartRow(_label(estimate, labels, words), estimate, bar, _people(estimate, group, question.kind.truth, words))
        for estimate, bar in bars(estimates, whole)
    ]
    return Chart(kind, rows, question.domain.grid)


def bars(estimates: Sequence[Estimate], whole: bool) -> list[tuple[Estimate, float | None]]:
    """Each estimate with the length of its bar; where the options are a whole, the bars are shares that sum to 1."""
    raw = [estimate.raw for estimate in estimates if estimate.raw is not None]
    if whole and raw and len(raw) == len(estimates):
        return list(zip(estimates, norm_sub(raw), strict=True))
    return [(estimate, estimate.clipped) for estimate in estimates]


def _label(estimate: Estimate, labels: Mapping[str, str], words: Words) -> str:
    if estimate.kind == "quantile":
        return words.say("results_quantile", share=words.percent(int(estimate.option[1:]) / 100, 0))
    return labels.get(estimate.option, estimate.option)


def _people(estimate: Estimate, group: Population | None, truth: str, words: Words) -> str:
    if group is None or estimate.kind != "share" or truth == "number":
        return ""
    return people_in_words(estimate, group, words)


def _with_points(chart: Chart, beside: Sequence[tuple[str, QuestionResult]]) -> Chart:
    found = [(name, {each.option: each for each in other.of_kind(chart.kind)}) for name, other in beside if other.n]
    rows = [
        replace(row, points=[Point(name, of[row.estimate.option]) for name, of in found if row.estimate.option in of])
        for row in chart.rows
    ]
    return replace(chart, rows=rows)


def _with_course(chart: Chart, still_open: bool) -> Chart:
    stops = [[_stop(point.estimate, still_open) for point in row.points] for row in chart.rows]
    return replace(chart, rows=[replace(row, course=of) for row, of in zip(chart.rows, stops, strict=True)])


def _stop(estimate: Estimate, still_open: bool) -> Stop:
    low, high = limits(estimate, still_open)
    middle = estimate.lowest if estimate.clipped is None else estimate.clipped
    width = estimate.highest - estimate.lowest
    return Stop(*(round(100 * (value - estimate.lowest) / width, 2) for value in (low, middle, high)))


def _by_size(chart: Chart) -> Chart:
    return replace(chart, rows=sorted(chart.rows, key=lambda row: -(row.bar or 0.0)))


def _absent_as(result: QuestionResult, labels: Mapping[str, str], words: Words) -> str:
    question = result.question
    if question.absent is None or question.domain.absent:
        return ""
    answer = question.answer(question.absent)
    if isinstance(answer, Mapping):
        answer = ", ".join(f"{labels.get(name, name)} {number}" for name, number in answer.items())
    if isinstance(answer, list | tuple):
        answer = ", ".join(labels.get(name, name) for name in answer) or words.say("results_none_of_them")
    return words.say("results_absent_as", answer=labels.get(str(answer), str(answer)))
