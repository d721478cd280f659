"""Exact probabilities: fractions in lowest terms, written as strings, and their logarithms."""

import math
import re
from fractions import Fraction

MAX_DENOMINATOR = 2**32
"""The largest sum of weights a device draws from; JavaScript numbers stay exact far beyond it."""

_FRACTION = re.compile(r"(0|[1-9][0-9]{0,9})(?:/([1-9][0-9]{0,9}))?")


def parse_fraction(text: object) -> Fraction:
    """
    The fraction written as ``"3/4"`` or ``"3"``.

    Lowest terms only: ``"2/8"`` and ``"3/1"`` are refused, since two spellings of one number would be
    two digests and, in a language that does not reduce, two different draws.

    Raises:
        ValueError: not a string of that form, not in lowest terms, or beyond ``MAX_DENOMINATOR``.
    """
    match = _FRACTION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError('must be a fraction written as a string, such as "3/4"')
    value = Fraction(int(match[1]), int(match[2] or 1))
    if dump_fraction(value) != text:
        raise ValueError("must be in lowest terms")
    if max(value.numerator, value.denominator) > MAX_DENOMINATOR:
        raise ValueError("numerator and denominator must not exceed 2^32")
    return value


def dump_fraction(value: Fraction) -> str:
    """``"3/4"``, or ``"3"`` for a whole number."""
    return str(value)


def log(ratio: Fraction) -> float:
    """Natural logarithm of a positive fraction; correct to the last digit or the one before."""
    return math.log(ratio)


def show_epsilon(epsilon: float) -> str:
    """Epsilon with two decimals, rounded up: what is shown is never less than what is spent."""
    return f"{math.ceil(epsilon * 100) / 100:.2f}"
