"""Lay out a question's charts as one SVG, for a paper or a slide, and draw the same layout as PNG.

The server cannot measure text, so lines are wrapped by a generous letter width, and labels are placed above the bars.

PNG is drawn without a browser by matplotlib, an extra (``[plot]``). Its own font has Latin, Greek, Cyrillic and Arabic
letters, and no others.
"""

import importlib
import io
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from sottovoce.aggregator.analysis.worked_example import limits
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.studio.request_context import figure, interval, place, tick
from sottovoce.aggregator.studio.results.results_view import Chart, ChartRow, QuestionCard, ResultsView

WIDTH, MARGIN = 760, 20
LETTERS, TITLE_LETTERS = 88, 68
LINE, ROW, AXIS = 18, 30, 44
TICKS = (0, 25, 50, 75, 100)

DPI, SCALE = 100, 2
POINTS = 72 / DPI
"""Size of a pixel of the layout in points."""

SIZES = {"title": 18, "label": 14, "trial": 14, "tick": 12, "axis": 12, "foot": 11}
COLOURS = {"trial": "#8a3b12", "tick": "#565d66", "axis": "#565d66", "foot": "#565d66"}
OTHER_SCRIPTS = frozenset({"hi", "zh-Hans"})
"""Languages of the studio whose letters the font lacks."""


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
        yield words.translate(head, confidence=words.write.percent(estimates[0].confidence, 0))
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


def has_png(language: str) -> bool:
    """Return True if the server can draw pictures in a language of the studio."""
    return language not in OTHER_SCRIPTS and find_spec("matplotlib") is not None


def png_of(drawn: Drawing) -> bytes:
    """Draw a layout; raise Refusal if matplotlib is not installed, or its font lacks a letter."""
    if find_spec("matplotlib") is None:
        raise Refusal("not_found", "this server draws no PNG; take the SVG")
    _check_letters(drawn)
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(WIDTH / DPI, drawn.height / DPI), dpi=DPI)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(drawn.height, 0))
    axes.set_axis_off()
    for top, bottom in drawn.grids:
        axes.vlines([float(drawn.x(part)) for part in (0, 25, 50, 75, 100)], top, bottom, color="#d9d6cc", lw=0.8)
    for bar in drawn.bars:
        low, high = float(drawn.x(bar.low)), float(drawn.x(bar.high))
        axes.fill_between([low, high], bar.y, bar.y + 18, color="#8fbcb5", lw=0)
        if bar.middle is not None:
            axes.plot(float(drawn.x(bar.middle)), bar.y + 9, "o", ms=12 * POINTS, color="#173f3c")
    for text in drawn.texts:
        _write(axes, drawn, text)
    made = io.BytesIO()
    figure.savefig(made, format="png", dpi=DPI * SCALE, facecolor="white", metadata={"Software": None})
    return made.getvalue()


def _check_letters(drawn: Drawing) -> None:
    fonts = importlib.import_module("matplotlib.font_manager")
    known = fonts.get_font(fonts.findfont("DejaVu Sans")).get_charmap()
    if any(ord(letter) not in known for text in drawn.texts for letter in text.text if letter.isprintable()):
        raise Refusal("not_found", "this server has no font for letters of this picture; take the SVG")


def _write(axes: Any, drawn: Drawing, text: Text) -> None:  # noqa: ANN401 - matplotlib's
    is_end = text.across == 100
    centred = bool(text.across) and not is_end
    axes.text(
        float(drawn.x(text.across or 0)),
        text.y,
        text.text,
        ha="center" if centred else "right" if is_end != (drawn.direction == "rtl") else "left",
        va="baseline",
        family="DejaVu Sans",
        fontsize=SIZES[text.kind] * POINTS,
        weight="bold" if text.kind in ("title", "trial") else "normal",
        color=COLOURS.get(text.kind, "#1f2328"),
        parse_math=False,
    )
