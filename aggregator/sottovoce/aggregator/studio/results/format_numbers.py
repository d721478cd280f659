"""Template filters that format numbers, intervals and mechanisms in the reader's language."""

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
    """Register the filters on the app."""
    for written in FILTERS:
        app.add_template_filter(written)


def figure(value: float | None, estimate: Estimate, grid: Grid | None = None) -> str:
    """
    Format a share as a percentage with one decimal, and any other value by the question's grid.

    Args:
        value: the value; None gives a dash.
        estimate: the estimate, which tells shares from other values.
        grid: grid of a number question, which formats its own values.
    """
    if value is None:
        return "–"
    return percent(value) if estimate.kind == "share" else _number(value, grid)


def difference(value: float | None, estimate: Estimate, grid: Grid | None = None) -> str:
    """
    Format a difference of two values, with the unit of the grid.

    Args:
        value: the difference; None gives a dash.
        estimate: the estimate, which tells shares from other values.
        grid: grid of a number question, which formats its own values.
    """
    unit = "" if grid is None or value is None or estimate.kind == "share" else grid.unit
    return f"{figure(value, estimate)}{unit}"


def interval(estimate: Estimate, still_open: bool, grid: Grid | None = None) -> str:
    """
    Format the interval of an estimate; while the survey is open, the band that is valid at every look.

    Args:
        estimate: the estimate.
        still_open: True if more reports may come.
        grid: grid of a number question, which formats its own values.
    """
    return _range(*limits(estimate, still_open), estimate, grid)


def together(estimate: Estimate, grid: Grid | None = None) -> str:
    """Format the simultaneous interval, which covers all options of the question at once."""
    return _range(estimate.simultaneous_low, estimate.simultaneous_high, estimate, grid)


def place(value: float, estimate: Estimate) -> str:
    """Scale a value to 0..100 within its possible range, for SVG coordinates."""
    return f"{100 * (value - estimate.lowest) / (estimate.highest - estimate.lowest):.3f}"


def tick(part: int, estimate: Estimate, grid: Grid | None = None) -> str:
    """
    Format the label of an axis tick.

    Args:
        part: place of the tick in the range, from 0 to 100.
        estimate: the estimate, which has the range.
        grid: grid of a number question, which formats its own values.
    """
    value = estimate.lowest + part / 100 * (estimate.highest - estimate.lowest)
    if estimate.kind == "share":
        return percent(value, 0) if part == HUNDRED else words().number(value * 100)
    return _number(value, grid)


def percent(share: float | Fraction, decimals: int = 1) -> str:
    """Format a share as a percentage; a negative value that rounds to zero is shown without a minus sign."""
    rounded = round(Fraction(share), decimals + 2)
    return words().percent(rounded, decimals).replace("-", "−")


def epsilon(value: float) -> str:
    """Format epsilon with two decimals, rounded up."""
    return words().number(Fraction(show_epsilon(value)), 2)


def worked(told: Workings) -> str:
    """Write the sentences that show how a share of "yes" is computed, ending with its interval."""
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
    """Explain a mechanism by what devices send for 100 people."""
    if question.mechanism is None:
        return words().say("results_public")
    told = {name: _of_hundred(n) if isinstance(n, Fraction) else n for name, n in question.mechanism.explain().items()}
    usual = f"odds_{question.mechanism.report_kind}"
    # Some types need a sentence of their own: for dates it says "latest", not "largest".
    own = f"results_{question.type}_{usual}"
    return words().say(own if words().knows(own) else f"results_{usual}", **told)


def numbers(mechanism: Mechanism) -> str:
    """Describe a mechanism by its textbook name, if any, its name here and its numbers."""
    dumped = mechanism.dump()
    parameters = [f"{key} {value}" for key, value in dumped.items() if isinstance(value, int | str) and key != "name"]
    known = f"{mechanism.known_as} · " if mechanism.known_as else ""
    return f"{known}{mechanism.name}{': ' if parameters else ''}{', '.join(parameters)}"


def _range(low: float, high: float, estimate: Estimate, grid: Grid | None) -> str:
    if estimate.kind == "share":
        return words().say("results_range", low=percent(low), high=percent(high))
    return words().say("results_range", low=_number(low, grid, -1), high=_number(high, grid, 1))


def _number(value: float, grid: Grid | None, towards: int = 0) -> str:
    """Format a value with four significant digits; a grid of dates, for example, returns text of its own."""
    written = value if grid is None else grid.figure(value, towards)
    if isinstance(written, str):
        return written
    short = f"{written:.4g}"
    return short if "e" in short else words().number(float(short), len(short.partition(".")[2])).replace("-", "−")


def _written(number: Number) -> str:
    """Format a number of the worked example; ratios and other fractions stay fractions."""
    if isinstance(number, Percent):
        return percent(number.share, number.digits)
    if isinstance(number, Ratio):
        return f"{words().number(number.count)}/{words().number(number.of)}"
    return words().number(number) if isinstance(number, int) else str(number)


def _of_hundred(share: Fraction) -> str:
    """
    Format a probability as a number of 100 people, as the respondents' form does.

    Rounding never claims certainty: a probability above 99.5 % is "> 99", never 100.
    """
    whole = floor(share * HUNDRED + Fraction(1, 2))
    if whole == share * HUNDRED:
        return words().number(whole)
    if 0 < whole < HUNDRED:
        return words().say("poster_about", number=words().number(whole))
    return f"{'<' if whole <= 0 else '>'} {words().number(1 if whole <= 0 else HUNDRED - 1)}"


FILTERS = (has_band, figure, difference, interval, together, place, tick, percent, epsilon, worked, odds, numbers)
"""All filters; templates use them by function name."""
