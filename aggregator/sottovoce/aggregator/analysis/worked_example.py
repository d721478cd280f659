"""Compute the estimated share of yes from the reports in steps that a reader can check by hand.

``Workings`` holds the arithmetic as numbers and a template. The caller formats the numbers: in English here, in the
reader's language in the studio.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sottovoce.aggregator.analysis.estimates import ANSWERED, ASKED_AND_ANSWERED, QuestionResult, SurveyResults
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.estimators.careless.anchors import Careless
from sottovoce.aggregator.i18n.formatting import TERMINAL, NumberFormat

SHORT = 1000
"""Limit for fractions: channels with larger terms, such as 32-bit ones for an epsilon, are shown as percentages."""

MOST_DIGITS = 9
"""Most decimals of a percentage; only results close to a rounding boundary need many."""

LINE, QUOTIENT = "{} × {} − {}", "({} − {}) / {}"


@dataclass(frozen=True)
class Percent:
    """Share, already rounded to a percentage with ``digits`` decimals."""

    share: Fraction
    digits: int


@dataclass(frozen=True)
class Ratio:
    """Fraction of two counts, shown with both."""

    count: int
    of: int


WorkedNumber = Percent | Ratio | Fraction | int
"""A number in the sentence; a Fraction is shown as one."""


@dataclass(frozen=True)
class Workings:
    """Parts of the sentence about one share of yes.

    Attributes:
        yes: reported share of yes; a count if no rounded share gives the displayed result.
        form: template of the arithmetic, ``LINE`` or ``QUOTIENT``.
        parts: numbers for the template.
        result: unbiased share, as displayed.
        beyond: True if the result is outside [0, 1], which only chance can cause.
        low, high: limits to show, at level ``confidence``.
        is_band: True if the limits are valid for repeated looks.
    """

    reports: int
    yes: Percent | int
    form: str
    parts: tuple[WorkedNumber, ...]
    result: Percent
    beyond: bool
    low: float
    high: float
    confidence: float
    is_band: bool

    def arithmetic(self, write: NumberFormat) -> str:
        """Return the arithmetic with its numbers written in one language."""
        return self.form.format(*(written(part, write) for part in self.parts))


def written(number: WorkedNumber, write: NumberFormat) -> str:
    """Return a number of the arithmetic in one language; a fraction stays one."""
    if isinstance(number, Percent):
        return write.percent(number.share, number.digits).replace("-", "−")
    if isinstance(number, Ratio):
        return f"{write.words.number(number.count)}/{write.words.number(number.of)}"
    return write.words.number(number) if isinstance(number, int) else str(number)


def limits(estimate: Estimate, still_open: bool) -> tuple[float, float]:
    """Return the limits to draw: the band if the survey is open and has one, else ``Estimate.ends``."""
    if has_band(estimate, still_open):
        return estimate.band_low or 0.0, estimate.band_high or 0.0
    return estimate.ends


def has_band(estimate: Estimate, still_open: bool) -> bool:
    """Return True if the band is shown instead of the interval."""
    return still_open and estimate.band_low is not None and estimate.band_high is not None


def yes_workings(result: QuestionResult, still_open: bool) -> Workings | None:
    """Return the share of yes to the displayed digit, with its limits; None if it has no workings.

    That is so for other question types, public questions, no reports yet, or revisions with different channels.
    """
    support = getattr(result.question.mechanism, "support", None)
    # In the crosswise model people say neither yes nor no.
    is_crosswise = result.question.by_fact and result.question.by_fact.is_crosswise
    if result.question.kind.truth != "yes_no" or support is None or is_crosswise:
        return None
    for yes in result.estimates:
        if yes.option == "yes" and yes.raw is not None and yes.count is not None:
            a, b = support
            return _workings(yes, a, b, still_open)
    return None


def yes_in_words(result: QuestionResult, still_open: bool) -> str:
    """Return the workings as an English sentence; "" if ``yes_workings`` returns None.

    Example: "Of 100 reports 30 % said yes; 2 × 30 % − 1/2 = 10.0 % (95 % interval 0.0 to 30.2 %)."
    """
    steps = yes_workings(result, still_open)
    if steps is None:
        return ""
    beyond = ": chance alone, for no share lies there" if steps.beyond else ""
    return (
        f"Of {steps.reports:,} reports {written(steps.yes, TERMINAL)} said yes; {steps.arithmetic(TERMINAL)} = "
        f"{written(steps.result, TERMINAL)}{beyond} ({TERMINAL.percent(steps.confidence, 0)} "
        f"{'band' if steps.is_band else 'interval'} {100 * steps.low:.1f} to {TERMINAL.percent(steps.high)})."
    )


def results_in_words(results: SurveyResults) -> list[str]:
    """Return "name: sentence" for each yes/no question that has workings, or that people may leave unanswered."""
    sentences = [
        (each.question.name, words)
        for each in results.questions
        for words in (
            yes_in_words(each, not results.closed),
            answered_in_words(each, not results.closed),
            _HOW_COUNTED[each.asked_only] if each.conditional and not each.question.domain.absent else "",
            TERMINAL.no_limits if any(one.low is None for one in each.estimates) else "",
        )
    ]
    found = [f"{name}: {words}" for name, words in sentences if words]
    return found if results.careless is None else [*found, *_careless_in_words(results, results.careless)]


def _careless_in_words(results: SurveyResults, careless: Careless) -> Iterator[str]:
    """Yield the share of careless people, and the corrected shares of each question, in English."""
    low, high = careless.limits
    names = ", ".join(each.name for each in careless.anchors)
    agree = "" if careless.agreement is None else f" They agree with {TERMINAL.p_equals(careless.agreement)}."
    yield (
        f"Careless answers: {TERMINAL.percent(careless.clipped)} ({100 * low:.1f} to {TERMINAL.percent(high)}) of the "
        f"people answered at random, by {names}.{agree}{' Report both figures.' if low <= 0 else ''}"
    )
    for each in results.questions:
        if each.corrected:
            shares = ", ".join(_with_limits(share, still_open=False) for share in each.corrected)
            yield f"{each.question.name}: corrected for careless answers: {shares}."


def answered_in_words(result: QuestionResult, still_open: bool) -> str:
    """Return the shares of answers among those who answered, and of the others; "" if everybody must answer."""
    declined = result.declined
    if declined is None or not result.answered:
        return ""
    yes_only = result.question.kind.truth == "yes_no"
    shares = ", ".join(_with_limits(each, still_open) for each in result.answered[1 if yes_only else 0 :])
    others = _with_limits(declined, still_open).removeprefix(f"{declined.option} ")
    who, rest = _PEOPLE[result.described][0], _PEOPLE[ANSWERED if result.asked_only else result.described][1]
    return f"Among those who {who}: {shares}; {rest} {others}."


_PEOPLE = {
    ANSWERED: ("answered", "no answer"),
    ASKED_AND_ANSWERED: ("were asked and answered", "not asked or no answer"),
}

_HOW_COUNTED = ("People who were not asked count as an answer.", "Among those who were asked.")
"""What is said of a question without a category of no answer that not everybody was asked, by ``asked_only``."""


def _with_limits(estimate: Estimate, still_open: bool) -> str:
    low, high = limits(estimate, still_open)
    shown = "none" if estimate.clipped is None else TERMINAL.percent(estimate.clipped)
    unlimited = ", which the reports do not limit" if (low, high) == (0.0, 1.0) else ""
    return f"{estimate.option} {shown} ({100 * low:.1f} to {TERMINAL.percent(high)}{unlimited})"


def _workings(yes: Estimate, a: Fraction, b: Fraction, still_open: bool) -> Workings:
    raw, count = yes.raw or 0.0, yes.count or 0
    # From the text on screen, so that the example ends in exactly the digits shown elsewhere.
    shown = Percent(Fraction(f"{100 * raw:.1f}") / 100, 1)
    made = _shortest(Fraction(count, yes.n), a, b, shown.share)
    reported, form, parts = made or (count, LINE, _line(Ratio(count, yes.n), a, b))
    low, high = limits(yes, still_open)
    banded = has_band(yes, still_open)
    return Workings(yes.n, reported, form, parts, shown, not 0 <= raw <= 1, low, high, yes.confidence, banded)


def _shortest(
    share: Fraction, a: Fraction, b: Fraction, shown: Fraction
) -> tuple[Percent, str, tuple[WorkedNumber, ...]] | None:
    """Return the arithmetic with the fewest digits that still gives the displayed estimate, or None."""
    form = LINE if all(max(part.as_integer_ratio()) < SHORT for part in (1 / (a - b), b / (a - b))) else QUOTIENT
    # Fractions throughout: a float could miss the displayed digit by its last bit.
    ways = _lines(share, a, b) if form == LINE else _quotients(share, a, b)
    near = Fraction(1, 2000)  # half of the last displayed digit, 0.1 %
    return next(((reported, form, parts) for reported, parts, made in ways if abs(made - shown) <= near), None)


def _lines(share: Fraction, a: Fraction, b: Fraction) -> Iterator[tuple[Percent, tuple[WorkedNumber, ...], Fraction]]:
    """Yield (share, numbers, value) of ``slope × share − offset`` with exact slope and offset, by number of digits."""
    for digits in range(MOST_DIGITS + 1):
        rounded = _rounded(share, digits)
        yield rounded, _line(rounded, a, b), (rounded.share - b) / (a - b)


def _line(share: WorkedNumber, a: Fraction, b: Fraction) -> tuple[WorkedNumber, ...]:
    return 1 / (a - b), share, b / (a - b)


def _quotients(
    share: Fraction, a: Fraction, b: Fraction
) -> Iterator[tuple[Percent, tuple[WorkedNumber, ...], Fraction]]:
    """Yield (share, numbers, value) of ``(share − b) / (a − b)`` with all three rounded, by number of digits."""
    for digits in range(1, MOST_DIGITS + 1):
        rounded, low, gap = (_rounded(part, digits) for part in (share, b, a - b))
        # Two channels close together can round to the same percentage; more digits are tried then.
        if gap.share:
            yield rounded, (rounded, low, gap), (rounded.share - low.share) / gap.share


def _rounded(part: Fraction, digits: int) -> Percent:
    return Percent(Fraction(round(part * 100 * 10**digits), 100 * 10**digits), digits)
