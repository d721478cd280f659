"""Lay out a question's charts as one SVG, for a paper or a slide.

The server cannot measure text, so lines are wrapped by a generous letter width, and labels are placed above the bars.
"""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sottovoce.aggregator.analysis.worked_example import limits
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.studio.request_context import figure, interval, percent, place, tick
from sottovoce.aggregator.studio.results.result_cards import Chart, ChartRow, QuestionCard
from sottovoce.aggregator.studio.results.results_view import ResultsView

WIDTH, MARGIN = 760, 20
LETTERS, TITLE_LETTERS = 88, 68
LINE, ROW, AXIS = 18, 30, 44
TICKS = (0, 25, 50, 75, 100)


@dataclass(frozen=True)
class Text:
    """Line of text at height ``y``; ``kind`` is its style, ``across`` its place from 0 to 100, None for the edge."""

    y: int
    text: str
    kind: str
    across: float | None = None


@dataclass(frozen=True)
class ChartBar:
    """Estimate with its interval, on a scale from 0 to 100; ``middle`` is None without an estimate."""

    y: int
    middle: float | None
    low: float
    high: float


@dataclass(frozen=True)
class Drawing:
    """Layout of a picture: lines of text, bars, and top and bottom of the grid of each chart."""

    title: str
    height: int
    direction: str
    language: str
    texts: Sequence[Text]
    bars: Sequence[ChartBar]
    grids: Sequence[tuple[int, int]]

    def x(self, across: float) -> str:
        """Convert a place from 0 to 100 to an x coordinate, mirrored for languages written from right to left."""
        part = 100 - across if self.direction == "rtl" else across
        return f"{MARGIN + part / 100 * (WIDTH - 2 * MARGIN):.2f}"


def drawing(card: QuestionCard, view: ResultsView, words: Words, warning: str = "") -> Drawing:
    """Lay out the charts of a question, with a warning above them if they do not show real results."""
    pen = _Pen(not view.results.closed, words)
    pen.write(card.title, "title", TITLE_LETTERS)
    if warning or view.survey.trial:
        pen.write(warning or words.translate("results_svg_trial"), "trial")
    for chart in card.charts:
        pen.draw(chart)
    for line in _foot(card, view, words):
        pen.write(line, "foot")
    return Drawing(card.title, pen.y + MARGIN, words.direction, words.language, pen.texts, pen.bars, pen.grids)


def _foot(card: QuestionCard, view: ResultsView, words: Words) -> Iterator[str]:
    estimates = [row.estimate for chart in card.charts for row in chart.rows]
    if estimates:
        banded = any(each.band_low is not None for each in estimates) and not view.results.closed
        head = "results_band_head" if banded else "results_interval_head"
        yield words.translate(head, confidence=percent(estimates[0].confidence, 0))
    if any(chart.is_unlimited for chart in card.charts):
        yield words.translate("results_no_limits")
    yield words.translate("results_n", reports=card.result.n)
    survey = view.survey
    yield words.translate("results_svg_foot", survey=survey.name, revision=survey.revision, digest=survey.digest)


class _Pen:
    """Layout under construction, filled from top to bottom; ``y`` is the current height."""

    def __init__(self, still_open: bool, words: Words) -> None:
        self.y = MARGIN
        self.texts: list[Text] = []
        self.bars: list[ChartBar] = []
        self.grids: list[tuple[int, int]] = []
        self._still_open, self._words = still_open, words

    def write(self, text: str, kind: str, letters: int = LETTERS) -> None:
        """Add a text, wrapped into lines."""
        for line in textwrap.wrap(text, letters) or [""]:
            self.y += LINE + 4 * (kind == "title")
            self.texts.append(Text(self.y, line, kind))

    def draw(self, chart: Chart) -> None:
        """Add a chart with its labelled axis."""
        first = self.y + LINE // 2
        for row in chart.rows:
            self._row(row, chart)
        self.grids.append((first, self.y))
        self._axis(chart)

    def _row(self, row: ChartRow, chart: Chart) -> None:
        named = [(row.label, row.estimate)]
        for point in (row.corrected, *row.points) if row.corrected else row.points:
            label = self._words.translate("results_series", option=row.label, name=point.name)
            named.append((label, point.estimate))
        for label, estimate in named:
            within = "" if chart.is_unlimited else f" ({interval(estimate, self._still_open, chart.grid)})"
            self.write(f"{label}: {figure(estimate.clipped, estimate, chart.grid)}{within}", "label")
            self.bars.append(self._bar(estimate, chart.axis))
            self.y += ROW

    def _bar(self, estimate: Estimate, axis: tuple[float, float]) -> ChartBar:
        low, high = (float(place(limit, axis)) for limit in limits(estimate, self._still_open))
        middle = None if estimate.clipped is None else float(place(estimate.clipped, axis))
        return ChartBar(self.y + 6, middle, low, high)

    def _axis(self, chart: Chart) -> None:
        self.y += LINE
        self.texts += [Text(self.y, tick(part, chart.axis, chart.kind, chart.grid), "tick", part) for part in TICKS]
        unit = "results_share_axis" if chart.kind == "share" else "results_number_axis"
        self.write(self._words.translate(unit), "axis")
        self.y += AXIS - LINE - LINE
