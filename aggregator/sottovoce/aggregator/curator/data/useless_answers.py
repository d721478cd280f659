"""Find answers that would say nothing: their error may exceed the range in which the true answer lies anyway.

Error       From the mechanism itself, which answers about made-up records: an error bound depends on epsilon, the
            declaration and the number of records, and on no value.
Range       Of a count the number of records, of a sum or vector that number times the declared range, of a mean the
            declared range. Under add/remove the number is not public, so that there is no range to compare with.
Private     Nothing here reads data. A rule such as "more than half of the count" would be a free search for the count.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from sottovoce.aggregator.curator.declaration import DataRecords, Declaration, NumberColumn
from sottovoce.aggregator.curator.draws import system_draws
from sottovoce.aggregator.curator.parse_epsilon import MOST_EPSILON
from sottovoce.aggregator.curator.questions import CuratorQuestion
from sottovoce.aggregator.curator.release import ReleaseTerms
from sottovoce.aggregator.curator.text_report import decimal

OF_RANGES = frozenset({"sum", "mean", "vector"})
"""Verbs whose answers have the unit of a column; all others count records."""

STEPS = 20
"""Number of larger epsilons that are tried."""


def useless_words(question: CuratorQuestion, declaration: Declaration, terms: ReleaseTerms, records: int | None) -> str:
    """Say that the error of an answer may exceed the whole range of it, and which epsilon would do; "" if it does not.

    ``records`` is the number of records if it is public; else None.
    """
    if records is None:
        return ""
    whole = _range(question, declaration, records)
    error = _error(question, terms, records)
    if error <= whole:
        return ""
    return (
        f"with epsilon {decimal(terms.epsilon)} this answer would say nothing: its error may reach {decimal(error)}, "
        f"and the answer itself lies in a range of {decimal(whole)}; {_advice(question, terms, records, whole)}"
    )


def _range(question: CuratorQuestion, declaration: Declaration, records: int) -> Fraction:
    """Return the width of the interval in which the true answer lies whatever the data are."""
    verb = question.form["verb"]
    if verb not in OF_RANGES:
        return Fraction(records)
    kinds = [declaration.column(name) for name in question.columns]
    numbers = [kind for kind in kinds if isinstance(kind, NumberColumn)]
    if verb == "vector":
        return Fraction(records * max((number.steps for number in numbers), default=1))
    (number,) = numbers
    return (number.maximum - number.minimum) * (1 if verb == "mean" else records)


def _error(question: CuratorQuestion, terms: ReleaseTerms, records: int) -> Fraction:
    made_up = DataRecords(records, dict.fromkeys(question.columns, np.broadcast_to(np.int64(0), records)), {})
    release = question.draw(made_up, terms, system_draws())
    # Of names that are not declared, those below a threshold are not shown at all.
    return max([*_bounds(release.error), Fraction(release.values.get("threshold", 0))])


def _bounds(error: Mapping[str, Any]) -> Iterator[Fraction]:
    """Yield the error bounds of a release, but for those of sums beside counts, whose unit is another."""
    if "t" in error:
        yield Fraction(error["t"])
    for part, below in error.items():
        if isinstance(below, Mapping) and part not in {"theorem", "sums"}:
            yield from _bounds(below)


def _advice(question: CuratorQuestion, terms: ReleaseTerms, records: int, whole: Fraction) -> str:
    """Return the epsilon that would do, to two digits."""
    epsilon, error = terms.epsilon, _error(question, terms, records)
    for _ in range(STEPS):
        # Errors fall a little faster than 1 / epsilon, so that few steps suffice.
        epsilon = _up(epsilon * error / whole) if whole else Fraction(MOST_EPSILON + 1)
        if epsilon > MOST_EPSILON:
            break
        error = _error(question, ReleaseTerms(epsilon, terms.neighbours), records)
        if error <= whole:
            return f"epsilon {decimal(epsilon)} would do"
        epsilon *= Fraction(11, 10)
    return "no epsilon that may be asked for would do"


def _up(epsilon: Fraction) -> Fraction:
    unit = Fraction(1)
    while epsilon / unit >= 100:
        unit *= 10
    while epsilon / unit < 10:
        unit /= 10
    return -(-epsilon // unit) * unit
