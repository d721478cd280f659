"""Format numbers, intervals and mechanisms in the reader's language, as template filters.

The estimate tells shares from other values; the ``grid`` of a number question formats that question's own values.
"""

from fractions import Fraction

from sottovoce.aggregator.analysis.worked_example import Workings, has_band, limits, worked_in_words
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.i18n.translator import NumberFormat, decimals_of
from sottovoce.aggregator.studio.language import words
from sottovoce.shared.answers import Grid
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.spec import Question

HUNDRED = 100


def figure(value: float | None, estimate: Estimate, grid: Grid | None = None) -> str:
    """Format a share as a percentage with one decimal, and any other value by the question's grid; None as a dash."""
    if value is None:
        return "–"
    return percent(value) if estimate.kind == "share" else _format().number(value, grid, decimals=_digits(estimate))


def _digits(estimate: Estimate) -> int | None:
    """Return the decimals of a mean or quantile and its limits."""
    return decimals_of(estimate.raw if estimate.clipped is None else estimate.clipped, *estimate.ends)


def difference(value: float | None, estimate: Estimate, grid: Grid | None = None) -> str:
    """Format a difference of two values, with the unit of the grid; None as a dash."""
    unit = "" if grid is None or value is None or estimate.kind == "share" else grid.unit
    return f"{figure(value, estimate)}{unit}"


def interval(estimate: Estimate, still_open: bool, grid: Grid | None = None) -> str:
    """Format the interval of an estimate; while the survey is open, the band that is valid at every look.

    A dash if there is none.
    """
    if estimate.low is None:
        return "–"
    return _range(*limits(estimate, still_open), estimate, grid)


def together(estimate: Estimate, grid: Grid | None = None) -> str:
    """Format the simultaneous interval, which covers all options of the question at once."""
    if estimate.low is None:
        return "–"
    return _range(estimate.simultaneous_low, estimate.simultaneous_high, estimate, grid)


def place(value: float, axis: tuple[float, float]) -> str:
    """Scale a value to 0..100 between the ends of an axis, for SVG coordinates."""
    low, high = axis
    return f"{100 * (value - low) / (high - low):.3f}"


def tick(part: int, axis: tuple[float, float], kind: str, grid: Grid | None = None) -> str:
    """Format the label of a tick at ``part`` (0 to 100) of an axis with these ends, for estimates of a ``kind``."""
    low, high = axis
    value = low + part / 100 * (high - low)
    if kind == "share":
        decimals = 0 if high - low >= 0.2 else 1
        return percent(value, decimals) if part == HUNDRED else words().number(value * 100, decimals)
    return _format().number(value, grid)


def points(share: float) -> str:
    """Format a difference of shares in percentage points."""
    return words().translate("joint_points", number=words().number(100 * share, 1))


def percent(share: float | Fraction, decimals: int = 1) -> str:
    """Write a share as a percentage in the reader's language."""
    return _format().percent(share, decimals)


def epsilon(value: float) -> str:
    """Write epsilon with two decimals, rounded up."""
    return _format().epsilon(value)


def worked(steps: Workings) -> str:
    """Write the sentences that work a share of yes out, its limits last."""
    return worked_in_words(steps, words())


def odds(question: Question) -> str:
    """Explain a mechanism by what devices send for 100 people."""
    if question.mechanism is None:
        return words().translate("results_public")
    write, found = _format().of_hundred, question.mechanism.explain()
    figures = {name: write(value) if isinstance(value, Fraction) else value for name, value in found.items()}
    usual = f"odds_{question.mechanism.report_kind}"
    if question.by_fact and question.by_fact.is_crosswise:
        usual = "odds_crosswise"
    # Some types need a sentence of their own: for dates it says "latest", not "largest".
    own = f"results_{question.type}_{usual}"
    return words().translate(own if words().knows(own) else f"results_{usual}", **figures)


def numbers(mechanism: Mechanism) -> str:
    """Describe a mechanism by its textbook name, if any, its name here and its numbers."""
    dumped = mechanism.dump()
    parameters = [f"{key} {value}" for key, value in dumped.items() if isinstance(value, int | str) and key != "name"]
    known = f"{mechanism.known_as} · " if mechanism.known_as else ""
    return f"{known}{mechanism.name}{': ' if parameters else ''}{', '.join(parameters)}"


def _range(low: float, high: float, estimate: Estimate, grid: Grid | None) -> str:
    if estimate.kind == "share":
        return _format().interval(percent(low), percent(high))
    ends = (_format().number(end, grid, towards, _digits(estimate)) for end, towards in ((low, -1), (high, 1)))
    return _format().interval(*ends)


def _format() -> NumberFormat:
    return NumberFormat(words())


FILTERS = (
    has_band, figure, difference, interval, together, place, tick, percent, epsilon, points, worked, odds, numbers,
)  # fmt: skip
"""All filters; templates use them by function name."""
