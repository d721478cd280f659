"""How the share of yes follows from the reports, in a sentence that anyone can check with a pencil."""

from collections.abc import Iterator
from fractions import Fraction

from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.results.analysis import QuestionResult, Results

SHORT = 1000
"""Numbers below it are written as fractions; the 32 bits of an epsilon's channel are not, but as percentages."""

MOST_DIGITS = 9
"""After the point, of a percentage; few are enough, but where a result lies just between two that could be shown."""


def limits(estimate: Estimate, still_open: bool) -> tuple[float, float]:
    """The limits to show: the band while the survey is open and there is one, else the interval."""
    if still_open and estimate.band_low is not None and estimate.band_high is not None:
        return estimate.band_low, estimate.band_high
    return estimate.low, estimate.high


def yes_in_words(result: QuestionResult, still_open: bool) -> str:
    """
    "Of 100 reports 30 % said yes; 2 × 30 % − 1/2 = 10.0 % (95 % interval 0.0 to 30.2 %)."

    The arithmetic gives the estimate to the digit shown, and no estimate stands without its limits.

    Args:
        result: of one question.
        still_open: whether more reports may come.

    Returns:
        "" where there is no such sentence: another type of question, a public one, no reports yet, or revisions whose
        channels differ.
    """
    support = getattr(result.question.mechanism, "support", None)
    if result.question.kind.truth != "yes_no" or support is None:
        return ""
    for yes in result.estimates:
        if yes.option == "yes" and yes.raw is not None and yes.count is not None:
            a, b = support
            return _sentence(yes, a, b, still_open)
    return ""


def results_in_words(results: Results) -> list[str]:
    """The sentence of each yes/no question that has one, after the question's name."""
    told = [(each.question.name, yes_in_words(each, not results.closed)) for each in results.questions]
    return [f"{name}: {words}" for name, words in told if words]


def _sentence(yes: Estimate, a: Fraction, b: Fraction, still_open: bool) -> str:
    raw, count = yes.raw or 0.0, yes.count or 0
    shown = f"{100 * raw:.1f}"
    share, arithmetic = _arithmetic(Fraction(count, yes.n), a, b, Fraction(shown))
    low, high = limits(yes, still_open)
    kind = "band" if still_open and yes.band_low is not None else "interval"
    beyond = "" if 0 <= raw <= 1 else ": chance alone, for no share lies there"
    return (
        f"Of {yes.n:,} reports {share or f'{count:,}'} said yes; {arithmetic or _line(f'{count:,}/{yes.n:,}', a, b)} = "
        f"{shown.replace('-', '−')} %{beyond} "
        f"({100 * yes.confidence:.0f} % {kind} {100 * low:.1f} to {100 * high:.1f} %)."
    )


def _arithmetic(share: Fraction, a: Fraction, b: Fraction, shown: Fraction) -> tuple[str, str]:
    """
    The share of yes among the reports and what to do with it, with as few digits as give the estimate that is shown.

    Args:
        share: of the reports that said yes, exactly.
        a: P(report yes | yes).
        b: P(report yes | no).
        shown: the estimate in percent, rounded.

    Returns:
        Two empty texts where no digits are enough.
    """
    ways = _lines(share, a, b) if _is_short(a, b) else _quotients(share, a, b)
    return next(((told, way) for told, way, made in ways if abs(made - shown) <= Fraction(1, 20)), ("", ""))


def _is_short(a: Fraction, b: Fraction) -> bool:
    return all(max(part.as_integer_ratio()) < SHORT for part in (1 / (a - b), b / (a - b)))


def _lines(share: Fraction, a: Fraction, b: Fraction) -> Iterator[tuple[str, str, Fraction]]:
    """``slope × share − offset``, both exactly; the share, this text and its value in percent, digit by digit."""
    for digits in range(MOST_DIGITS + 1):
        told, percent = _rounded(share, digits)
        yield told, _line(told, a, b), (percent - 100 * b) / (a - b)


def _line(share: str, a: Fraction, b: Fraction) -> str:
    return f"{1 / (a - b)} × {share} − {b / (a - b)}"


def _quotients(share: Fraction, a: Fraction, b: Fraction) -> Iterator[tuple[str, str, Fraction]]:
    """``(share − b) / (a − b)``, all three rounded, likewise."""
    for digits in range(1, MOST_DIGITS + 1):
        (told, percent), (low, other), (gap, width) = (_rounded(part, digits) for part in (share, b, a - b))
        if width:
            yield told, f"({told} − {low}) / {gap}", 100 * (percent - other) / width


def _rounded(part: Fraction, digits: int) -> tuple[str, Fraction]:
    """A share in percent with so many digits after the point, as text and as that very number."""
    scaled = round(part * 100 * 10**digits)
    percent = Fraction(scaled, 10**digits)
    return f"{float(percent):.{digits}f} %", percent
