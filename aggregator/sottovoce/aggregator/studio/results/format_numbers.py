"""How figures and mechanisms are written in the pages, in the reader's language: the filters that templates use."""

from fractions import Fraction

from flask import Flask
from sottovoce.aggregator.analysis.worked_example import Workings, has_band, limits, written
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.i18n.formatting import NumberFormat
from sottovoce.aggregator.studio.language import words
from sottovoce.shared.answers import Grid
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.spec import Question

HUNDRED = 100


def register(app: Flask) -> None:
    """Give the app's templates their filters."""
    for each in FILTERS:
        app.add_template_filter(each)


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
    return percent(value) if estimate.kind == "share" else _format().number(value, grid)


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
        return percent(value, 0) if part == HUNDRED else words().number(value * 100)
    return _format().number(value, grid)


def percent(share: float | Fraction, decimals: int = 1) -> str:
    """Write a share as a percentage in the reader's language."""
    return _format().percent(share, decimals)


def epsilon(value: float) -> str:
    """Write epsilon with two decimals, rounded up."""
    return _format().epsilon(value)


def worked(told: Workings) -> str:
    """The sentences that work a share of yes out, its limits last."""
    say, write = words().say, _format()
    yes, result = written(told.yes, write), written(told.result, write)
    sentences = [say("results_worked", yes=yes, reports=told.reports, arithmetic=told.arithmetic(write), result=result)]
    if told.beyond:
        sentences.append(say("results_worked_beyond"))
    kind = "results_limits_band" if told.is_band else "results_limits_interval"
    within = write.interval(percent(told.low), percent(told.high))
    sentences.append(say(kind, confidence=percent(told.confidence, 0), range=within))
    return " ".join(sentences)


def odds(question: Question) -> str:
    """What is sent for it, of 100 people."""
    if question.mechanism is None:
        return words().say("results_public")
    write, found = _format().of_hundred, question.mechanism.explain()
    told = {name: write(value) if isinstance(value, Fraction) else value for name, value in found.items()}
    usual = f"odds_{question.mechanism.report_kind}"
    # The latest date is not the largest one.
    own = f"results_{question.type}_{usual}"
    return words().say(own if words().knows(own) else f"results_{usual}", **told)


def numbers(mechanism: Mechanism) -> str:
    """What textbooks call a mechanism, where they do, its name and its numbers."""
    dumped = mechanism.dump()
    parameters = [f"{key} {value}" for key, value in dumped.items() if isinstance(value, int | str) and key != "name"]
    known = f"{mechanism.known_as} · " if mechanism.known_as else ""
    return f"{known}{mechanism.name}{': ' if parameters else ''}{', '.join(parameters)}"


def _range(low: float, high: float, estimate: Estimate, grid: Grid | None) -> str:
    if estimate.kind == "share":
        return _format().interval(percent(low), percent(high))
    return _format().interval(_format().number(low, grid, -1), _format().number(high, grid, 1))


def _format() -> NumberFormat:
    return NumberFormat(words())


FILTERS = (has_band, figure, difference, interval, together, place, tick, percent, epsilon, worked, odds, numbers)
"""Each is called in templates by its own name."""
