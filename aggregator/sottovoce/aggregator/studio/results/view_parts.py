"""What the pages of joint results are made of: tables, bars with their limits, and sentences."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class EstimateBar:
    """
    One figure as a bar with its limits, in a box 100 units wide.

    Attributes:
        name: what it is of.
        value, limits: in words.
        start, width: of the bar; "" where there is no figure.
        low, high: of the limits.
    """

    name: str
    value: str
    limits: str
    start: str
    width: str
    low: str
    high: str


@dataclass(frozen=True)
class ShownTable:
    """
    One table, its chart, and what is said under it.

    Attributes:
        title: above it.
        headings: of its columns.
        lines: its cells; the first of each names it.
        bars: the chart; none where a picture would say nothing more.
        sentences: under it.
        aside: it is looked at by few, and folded.
    """

    title: str
    headings: Sequence[str] = ()
    lines: Sequence[Sequence[str]] = ()
    bars: Sequence[EstimateBar] = ()
    sentences: Sequence[str] = ()
    aside: bool = False


@dataclass(frozen=True)
class ShownAnswer:
    """
    An answer as a page shows it.

    Attributes:
        paper: the sentence to write in a paper; "" where there is none.
        tables: in order.
        notes: what a reader must know.
    """

    paper: str
    tables: Sequence[ShownTable]
    notes: Sequence[str]


@dataclass(frozen=True)
class ToDraw:
    """A figure before it has a place: its name, its words, and its numbers."""

    name: str
    value: str
    limits: str
    figure: float | None
    low: float | None
    high: float | None


def bars(drawn: Sequence[ToDraw], least: float | None = None, most: float | None = None) -> list[EstimateBar]:
    """
    The figures on one scale.

    Args:
        drawn: the figures.
        least: the lower end of the scale; without, it reaches as far as the figures and their limits, and to 0.
        most: the upper end, likewise.
    """
    known = [end for each in drawn for end in (each.low, each.high, each.figure) if end is not None]
    start = min([0.0, *known]) if least is None else least
    end = max([0.0, *known]) if most is None else most
    if not known or not math.isfinite(end - start) or start == end:
        return []
    return [_bar(each, start, end) for each in drawn if each.figure is not None or each.low is not None]


def _bar(each: ToDraw, start: float, end: float) -> EstimateBar:
    zero, low, high = (_place(value, start, end) for value in (0.0, each.low, each.high))
    low, high = 0.0 if each.low is None else low, 100.0 if each.high is None else high
    if each.figure is None:
        return EstimateBar(each.name, each.value, each.limits, "", "", f"{low:.2f}", f"{high:.2f}")
    place = _place(each.figure, start, end)
    from_, width = min(zero, place), abs(place - zero)
    return EstimateBar(each.name, each.value, each.limits, f"{from_:.2f}", f"{width:.2f}", f"{low:.2f}", f"{high:.2f}")


def _place(value: float | None, start: float, end: float) -> float:
    return min(max(100 * ((value or 0.0) - start) / (end - start), 0.0), 100.0)


def joined(parts: Iterable[str]) -> str:
    """Names beside each other."""
    return ", ".join(filter(None, parts))
