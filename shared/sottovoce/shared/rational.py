"""Read and write exact numbers: fractions in lowest terms and decimals, as strings, and their logarithms."""

import math
import re
from decimal import Context, Decimal
from fractions import Fraction

MAX_DENOMINATOR = 2**32
"""The largest sum of weights a device draws from; JavaScript numbers stay exact far beyond it."""

MAX_DECIMALS = 9
"""Most digits after the point in a decimal."""

_FRACTION = re.compile(r"(0|[1-9][0-9]{0,9})(?:/([1-9][0-9]{0,9}))?")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,9})?")


def parse_fraction(text: object) -> Fraction:
    """Parse the fraction written as ``"3/4"`` or ``"3"``.

    Lowest terms only: ``"2/8"`` and ``"3/1"`` are refused, since two spellings of one number would be two digests and,
    in a language that does not reduce, two different draws. Raises ValueError for anything else, or beyond
    ``MAX_DENOMINATOR``.
    """
    match = _FRACTION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError('must be a fraction written as a string, such as "3/4"')
    value = Fraction(int(match[1]), int(match[2] or 1))
    if str(value) != text:
        raise ValueError("must be in lowest terms")
    if max(value.numerator, value.denominator) > MAX_DENOMINATOR:
        raise ValueError("numerator and denominator must not exceed 2^32")
    return value


def parse_decimal(value: object) -> Fraction:
    """Parse ``"-0.25"`` or an integer; ValueError beyond 15 digits before and 9 after the point, or another form."""
    text = str(value) if type(value) is int and abs(value) < 10**15 else value
    if not isinstance(text, str) or not _DECIMAL.fullmatch(text):
        raise ValueError('must be a whole number, or a decimal written as a string, such as "0.25"')
    whole, _, decimals = text.partition(".")
    return Fraction(int(whole + decimals), 10 ** len(decimals))


def dump_decimal(value: Fraction) -> str:
    """Return the one spelling of a number that ``parse_decimal`` may have read: no needless zeros, no ``-0``."""
    whole, rest = divmod(abs(value), 1)
    digits = f"{int(rest * 10**MAX_DECIMALS):0{MAX_DECIMALS}}".rstrip("0")
    return ("-" if value < 0 else "") + str(whole) + (f".{digits}" if digits else "")


def log(ratio: Fraction) -> float:
    """Return the natural logarithm of a fraction of at least 1, to 15 digits, however near 1 or large it is."""
    if ratio < 2:
        return math.log1p(float(ratio - 1))
    if ratio < 10**300:
        return math.log(ratio)
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def exp_below(epsilon: Fraction) -> Fraction:
    """Return a fraction below e^epsilon, by less than 1 part in 10^49: odds up to it cost at most epsilon."""
    context = Context(prec=60)
    power = context.exp(context.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator)))
    return Fraction(power) * (1 - Fraction(1, 10**50))


def odds_below(epsilon: Fraction, inside: int, outside: int) -> Fraction:
    """Return odds r/s, at most e^epsilon, for ``inside`` weights r and ``outside`` weights s that sum to <= 2^32.

    s is as large as such rows allow and r rounded down, so that little of epsilon is lost and draws seldom reject.
    """
    bound = exp_below(epsilon)
    small = math.floor(MAX_DENOMINATOR / (inside * bound + outside))
    return Fraction(math.floor(small * bound), small)


def show_epsilon(epsilon: float) -> str:
    """Format epsilon with two decimals, rounded up: what is shown is never less than what is spent."""
    return f"{math.ceil(epsilon * 100) / 100:.2f}"


def show_odds(odds: float | Fraction) -> str:
    """Format odds to 1 with one decimal, rounded up; the decimal is left out where it is 0."""
    return f"{math.ceil(10 * float(odds) - 1e-9) / 10:.1f}".removesuffix(".0")
