"""Parse epsilon and delta as a curator writes them, and check the size of delta."""

import math
import re
from fractions import Fraction

from sottovoce.shared.errors import SpecError

_AMOUNT = re.compile(r"(?:[0-9]{1,12}(?:\.[0-9]{1,30})?|\.[0-9]{1,30})(?:e-[0-9]{1,2})?|[0-9]{1,12}/[1-9][0-9]{0,29}")
_LOGARITHM = re.compile(r"ln ?\(?([1-9][0-9]{0,5})\)?")
MOST_EPSILON = 1000


def parse_epsilon(text: str) -> Fraction:
    """Parse epsilon from ``0.5``, ``0,5``, ``1/2``, ``5e-1`` or ``ln 2``, as an exact number and not the nearest float.

    Raises SpecError if it is not a number above 0 and at most 1000.
    """
    found = _parse(text)
    if found is None or not 0 < found <= MOST_EPSILON:
        raise SpecError(f"epsilon must be a number above 0 and at most {MOST_EPSILON}, such as 0.5 or 1/2")
    return found


def parse_delta(text: str) -> Fraction:
    """Parse delta from ``1e-6``, ``0.000001`` or ``1/1000000``; raise SpecError if it is not from 0 to below 1."""
    found = _parse(text)
    if found is None or found >= 1:
        raise SpecError("delta must be a number from 0 to below 1, such as 1e-6")
    return found


def _parse(text: str) -> Fraction | None:
    logarithm = _LOGARITHM.fullmatch(text)
    if logarithm:
        # Rounded down to 12 decimals: a budget must be a fraction, and may not exceed what was asked for.
        return Fraction(math.floor(math.log(int(logarithm[1])) * 10**12), 10**12)
    text = text.replace(",", ".")
    return Fraction(text) if _AMOUNT.fullmatch(text) else None


def check_delta(delta: Fraction, records: int) -> str | None:
    """Check the delta of a budget against the number of records n, and return a warning or None.

    With a delta of 1/n, a mechanism that publishes one whole record on average still meets the definition (Dwork and
    Roth 2014, 2.3). Raises SpecError if delta is 1/(10 n) or more.
    """
    if delta * 10 * records >= 1:
        raise SpecError(
            "delta must be below 1/(10 n): with so large a one, publishing some whole records would be allowed"
        )
    if delta * records * records > 1:
        return "delta is above 1/n^2: it is the probability that a person's record is revealed; choose less if you can"
    return None


def usual_delta(records: int) -> Fraction:
    """Return the default delta: 1/n^2, or for n below 20 half of the smallest refused delta, 1/(20 n)."""
    return min(Fraction(1, records * records), Fraction(1, 20 * records))
