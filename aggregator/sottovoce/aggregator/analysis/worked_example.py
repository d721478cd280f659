"""
How the share of yes follows from the reports, worked out so that anyone can check it with a pencil.

The arithmetic is done once, as numbers and the places where they stand; whoever tells it writes the numbers, in English
here and as the reader's language does in the studio.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from sottovoce.aggregator.analysis.estimates import QuestionResult, SurveyResults
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.i18n.formatting import TERMINAL, NumberFormat

SHORT = 1000
"""Numbers below it are written as fractions; the 32 bits of an epsilon's channel are not, but as percentages."""

MOST_DIGITS = 9
"""After the point, of a percentage; few are enough, but where a result lies just between two that could be shown."""

LINE, QUOTIENT = "{} × {} − {}", "({} − {}) / {}"


@dataclass(frozen=True)
class Percent:
    """A share, rounded to what is written: a percentage with so many digits after the point."""

    share: Fraction
    digits: int


@dataclass(frozen=True)
class Ratio:
    """A count over another, written with both."""

    count: int
    of: int


Number = Percent | Ratio | Fraction | int
"""What stands in the sentence; a Fraction is written as one."""


@dataclass(frozen=True)
class Workings:
    """
    The sentence of one share of yes.

    Attributes:
        reports: all of them.
        yes: those that said yes, as a share or, where no rounded share gives the result, counted.
        form: the arithmetic, ``LINE`` or ``QUOTIENT``.
        parts: what stands in its places.
        result: the unbiased share, as shown.
        beyond: no share can lie there, so chance alone brought it about.
        low, high: the limits to show.
        confidence: of these.
        is_band: they hold however often one looks.
    """

    reports: int
    yes: Percent | int
    form: str
    parts: tuple[Number, ...]
    result: Percent
    beyond: bool
    low: float
    high: float
    confidence: float
    is_band: bool

    def arithmetic(self, write: NumberFormat) -> str:
        """Return the arithmetic with its numbers written in one language."""
        return self.form.format(*(written(part, write) for part in self.parts))


def written(number: Number, write: NumberFormat) -> str:
    """Return a number of the arithmetic in one language; a fraction stays one."""
    if isinstance(number, Percent):
        return write.percent(number.share, number.digits).replace("-", "−")
    if isinstance(number, Ratio):
        return f"{write.words.number(number.count)}/{write.words.number(number.of)}"
    return write.words.number(number) if isinstance(number, int) else str(number)


def limits(estimate: Estimate, still_open: bool) -> tuple[float, float]:
    """The limits to show: the band while the survey is open and there is one, else the interval."""
    if has_band(estimate, still_open):
        return estimate.band_low or 0.0, estimate.band_high or 0.0
    return estimate.low, estimate.high


def has_band(estimate: Estimate, still_open: bool) -> bool:
    """Whether the limits to show are the band."""
    return still_open and estimate.band_low is not None and estimate.band_high is not None


def yes_workings(result: QuestionResult, still_open: bool) -> Workings | None:
    """
    How the share of yes is worked out, to the digit shown, with its limits.

    Args:
        result: of one question.
        still_open: whether more reports may come.

    Returns:
        None where there is no such sentence: another type of question, a public one, no reports yet, or revisions whose
        channels differ.
    """
    support = getattr(result.question.mechanism, "support", None)
    if result.question.kind.truth != "yes_no" or support is None:
        return None
    for yes in result.estimates:
        if yes.option == "yes" and yes.raw is not None and yes.count is not None:
            a, b = support
            return _workings(yes, a, b, still_open)
    return None


def yes_in_words(result: QuestionResult, still_open: bool) -> str:
    """
    "Of 100 reports 30 % said yes; 2 × 30 % − 1/2 = 10.0 % (95 % interval 0.0 to 30.2 %)."

    Args:
        result: of one question.
        still_open: whether more reports may come.

    Returns:
        "" where ``yes_workings`` has none.
    """
    told = yes_workings(result, still_open)
    if told is None:
        return ""
    beyond = ": chance alone, for no share lies there" if told.beyond else ""
    return (
        f"Of {told.reports:,} reports {written(told.yes, TERMINAL)} said yes; {told.arithmetic(TERMINAL)} = "
        f"{written(told.result, TERMINAL)}{beyond} ({TERMINAL.percent(told.confidence, 0)} "
        f"{'band' if told.is_band else 'interval'} {100 * told.low:.1f} to {TERMINAL.percent(told.high)})."
    )


def results_in_words(results: SurveyResults) -> list[str]:
    """The sentence of each yes/no question that has one, after the question's name."""
    told = [(each.question.name, yes_in_words(each, not results.closed)) for each in results.questions]
    return [f"{name}: {words}" for name, words in told if words]


def _workings(yes: Estimate, a: Fraction, b: Fraction, still_open: bool) -> Workings:
    raw, count = yes.raw or 0.0, yes.count or 0
    shown = Percent(Fraction(f"{100 * raw:.1f}") / 100, 1)
    made = _shortest(Fraction(count, yes.n), a, b, shown.share)
    told, form, parts = made or (count, LINE, _line(Ratio(count, yes.n), a, b))
    low, high = limits(yes, still_open)
    banded = has_band(yes, still_open)
    return Workings(yes.n, told, form, parts, shown, not 0 <= raw <= 1, low, high, yes.confidence, banded)


def _shortest(
    share: Fraction, a: Fraction, b: Fraction, shown: Fraction
) -> tuple[Percent, str, tuple[Number, ...]] | None:
    """
    The share of yes among the reports and what to do with it, with as few digits as give the estimate that is shown.

    Args:
        share: of the reports that said yes, exactly.
        a: P(report yes | yes).
        b: P(report yes | no).
        shown: the estimate, rounded.

    Returns:
        None where no digits are enough.
    """
    form = LINE if _is_short(a, b) else QUOTIENT
    ways = _lines(share, a, b) if form == LINE else _quotients(share, a, b)
    near = Fraction(1, 2000)
    return next(((told, form, parts) for told, parts, made in ways if abs(made - shown) <= near), None)


def _is_short(a: Fraction, b: Fraction) -> bool:
    return all(max(part.as_integer_ratio()) < SHORT for part in (1 / (a - b), b / (a - b)))


def _lines(share: Fraction, a: Fraction, b: Fraction) -> Iterator[tuple[Percent, tuple[Number, ...], Fraction]]:
    """``slope × share − offset``, both exactly; the share, these parts and their value, digit by digit."""
    for digits in range(MOST_DIGITS + 1):
        told = _rounded(share, digits)
        yield told, _line(told, a, b), (told.share - b) / (a - b)


def _line(share: Number, a: Fraction, b: Fraction) -> tuple[Number, ...]:
    return 1 / (a - b), share, b / (a - b)


def _quotients(share: Fraction, a: Fraction, b: Fraction) -> Iterator[tuple[Percent, tuple[Number, ...], Fraction]]:
    """``(share − b) / (a − b)``, all three rounded, likewise."""
    for digits in range(1, MOST_DIGITS + 1):
        told, low, gap = (_rounded(part, digits) for part in (share, b, a - b))
        if gap.share:
            yield told, (told, low, gap), (told.share - low.share) / gap.share


def _rounded(part: Fraction, digits: int) -> Percent:
    """A share with so many digits of its percentage after the point, as that very number."""
    return Percent(Fraction(round(part * 100 * 10**digits), 100 * 10**digits), digits)
