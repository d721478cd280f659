"""How figures and mechanisms are written in the pages, in the reader's language: the filters that templates use."""

from fractions import Fraction
from math import floor

from flask import Flask
from sottovoce.aggregator.analysis.worked_example import Number, Percent, Ratio, Workings, has_band, limits
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.studio.language import words
from sottovoce.shared.answers import Grid
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question

HUNDRED = 100


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
    return percent(value) if estimate.kind == "share" else _number(value, grid)


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
    return _number(value, grid)


def percent(share: float | Fraction, decimals: int = 1) -> str:
    """A share as the reader's language writes percentages; what rounds to nothing is 0 and never less."""
    rounded = round(Fraction(share), decimals + 2)
    return words().percent(rounded, decimals).replace("-", "−")


def epsilon(value: float) -> str:
    """Epsilon with two decimals, rounded up."""
    return words().number(Fraction(show_epsilon(value)), 2)


def worked(told: Workings) -> str:
    """The sentences that work a share of yes out, its limits last."""
    say = words().say
    arithmetic = told.arithmetic(_written)
    sentences = [
        say(
            "results_worked",
            yes=_written(told.yes),
            reports=told.reports,
            arithmetic=arithmetic,
            result=_written(told.result),
        )
    ]
    if told.beyond:
        sentences.append(say("results_worked_beyond"))
    kind = "results_limits_band" if told.is_band else "results_limits_interval"
    within = say("results_range", low=percent(told.low), high=percent(told.high))
    sentences.append(say(kind, confidence=percent(told.confidence, 0), range=within))
    return " ".join(sentences)


def odds(question: Question) -> str:
    """What is sent for it, of 100 people."""
    if question.mechanism is None:
        return words().say("results_public")
    told = {name: _of_hundred(n) if isinstance(n, Fraction) else n for name, n in question.mechanism.explain().items()}
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
        return words().say("results_range", low=percent(low), high=percent(high))
    return words().say("results_range", low=_number(low, grid, -1), high=_number(high, grid, 1))


def _number(value: float, grid: Grid | None, towards: int = 0) -> str:
    """Four digits; as the grid writes it, where that is no number."""
    written = value if grid is None else grid.figure(value, towards)
    if isinstance(written, str):
        return written
    short = f"{written:.4g}"
    return short if "e" in short else words().number(float(short), len(short.partition(".")[2])).replace("-", "−")


def _written(number: Number) -> str:
    """A number of a result's arithmetic; a fraction stays one."""
    if isinstance(number, Percent):
        return percent(number.share, number.digits)
    if isinstance(number, Ratio):
        return f"{words().number(number.count)}/{words().number(number.of)}"
    return words().number(number) if isinstance(number, int) else str(number)


def _of_hundred(share: Fraction) -> str:
    """How many of 100 people, as the form tells it: nothing certain is claimed where chance has a say."""
    whole = floor(share * HUNDRED + Fraction(1, 2))
    if whole == share * HUNDRED:
        return words().number(whole)
    if 0 < whole < HUNDRED:
        return words().say("poster_about", number=words().number(whole))
    return f"{'<' if whole <= 0 else '>'} {words().number(1 if whole <= 0 else HUNDRED - 1)}"


FILTERS = (has_band, figure, difference, interval, together, place, tick, percent, epsilon, worked, odds, numbers)
"""Each is called in templates by its own name."""
