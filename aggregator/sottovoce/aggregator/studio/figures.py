"""How figures, charts and mechanisms are written in the pages: the filters that templates use."""

from collections.abc import Mapping, Sequence

from flask import Flask
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.estimators.projection import norm_sub
from sottovoce.aggregator.results.in_words import limits, yes_in_words
from sottovoce.shared.answers import Grid
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question


def register(app: Flask) -> None:
    """Give the app's templates their filters."""
    for written in FILTERS:
        app.add_template_filter(written)


def figure(value: float | None, estimate: Estimate, grid: Grid | None = None) -> str:
    """
    A share as a percentage with one decimal, another figure as the grid's own numbers are written.

    Args:
        value: a figure; None is a dash.
        estimate: says what kind of figure it is.
        grid: of a question with numbers, which writes its own.
    """
    if value is None:
        return "–"
    return f"{value * 100:.1f} %" if estimate.kind == "share" else _number(value, grid)


def difference(value: float | None, estimate: Estimate, grid: Grid | None = None) -> str:
    """
    How far two such figures lie apart.

    Args:
        value: a figure; None is a dash.
        estimate: says what kind of figure it is.
        grid: of a question with numbers, which writes its own.
    """
    unit = "" if grid is None or value is None or estimate.kind == "share" else grid.unit
    return f"{figure(value, estimate)}{unit}"


def interval(estimate: Estimate, still_open: bool, grid: Grid | None = None) -> str:
    """
    Those limits in words.

    Args:
        estimate: says what kind of figure it is.
        still_open: whether more reports may come.
        grid: of a question with numbers, which writes its own.
    """
    return _range(*limits(estimate, still_open), estimate, grid)


def together(estimate: Estimate, grid: Grid | None = None) -> str:
    """The limits that hold for all options of the question at once."""
    return _range(estimate.simultaneous_low, estimate.simultaneous_high, estimate, grid)


def bars(estimates: Sequence[Estimate], whole: bool) -> list[tuple[Estimate, float | None]]:
    """Each estimate with the length of its bar; where the options are a whole, the bars are shares that sum to 1."""
    raw = [estimate.raw for estimate in estimates if estimate.raw is not None]
    if whole and len(raw) == len(estimates):
        return list(zip(estimates, norm_sub(raw), strict=True))
    return [(estimate, estimate.clipped) for estimate in estimates]


def place(value: float, estimate: Estimate) -> str:
    """Where a figure lies in its possible range, from 0 to 100."""
    return f"{100 * (value - estimate.lowest) / (estimate.highest - estimate.lowest):.3f}"


def tick(part: int, estimate: Estimate, grid: Grid | None = None) -> str:
    """
    What stands under the axis at this part of 100 of the range.

    Args:
        part: of 100 of the range.
        estimate: says what kind of figure it is.
        grid: of a question with numbers, which writes its own.
    """
    value = estimate.lowest + part / 100 * (estimate.highest - estimate.lowest)
    if estimate.kind == "share":
        return f"{value * 100:.0f}{' %' if part == 100 else ''}"
    return _number(value, grid)


def _range(low: float, high: float, estimate: Estimate, grid: Grid | None) -> str:
    if estimate.kind == "share":
        return f"{low * 100:.1f} to {high * 100:.1f} %"
    return f"{_number(low, grid, -1)} to {_number(high, grid, 1)}"


def _number(value: float, grid: Grid | None, towards: int = 0) -> str:
    """Four digits and a real minus sign; as the grid writes it, where that is no number."""
    written = value if grid is None else grid.figure(value, towards)
    return written if isinstance(written, str) else f"{written:.4g}".replace("-", "−")


def epsilon(value: float) -> str:
    """Epsilon with two decimals, rounded up."""
    return show_epsilon(value)


def when_absent(question: Question, labels: Mapping[str, str]) -> str:
    """What an answer that was not given is counted as: the share or mean includes it."""
    answer = question.answer(question.absent if question.absent is not None else 0)
    if isinstance(answer, Mapping):
        answer = ", ".join(f"{labels.get(name, name)} {number}" for name, number in answer.items())
    return f"no answer counts as {labels.get(answer, answer) if isinstance(answer, str) else 'none of them'}"


def numbers(mechanism: Mechanism) -> str:
    """What textbooks call a mechanism, where they do, its name and its numbers."""
    dumped = mechanism.dump()
    parameters = [f"{key} {value}" for key, value in dumped.items() if isinstance(value, int | str) and key != "name"]
    known = f"{mechanism.known_as} · " if mechanism.known_as else ""
    return f"{known}{mechanism.name}{': ' if parameters else ''}{', '.join(parameters)}"


FILTERS = (
    limits,
    yes_in_words,
    figure,
    difference,
    interval,
    together,
    bars,
    place,
    tick,
    epsilon,
    when_absent,
    numbers,
)
"""Each is called in templates by its own name."""
