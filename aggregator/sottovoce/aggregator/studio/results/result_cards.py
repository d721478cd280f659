"""Display data of the questions on the page "Results": their charts, rows and groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sottovoce.aggregator.analysis.estimates import QuestionResult
from sottovoce.aggregator.estimators import Estimate
from sottovoce.shared.answers import ABSENT, Grid


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
