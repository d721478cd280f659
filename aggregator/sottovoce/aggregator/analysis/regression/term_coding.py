"""Choose contrast or full coding of the categorical factors in each term, so that no column follows from others.

Maths   A categorical factor in full coding spans the constant and its contrasts; a term in full coding spans every
        subset of its factors. Subsets that an earlier term with the same numbers spans already are left out, and what
        is left is joined again into as few products as possible: a*b is the constant, a and b in contrasts, and
        contrasts by contrasts; a:b alone is b in contrasts, and contrasts of a by all categories of b.
Source  Smith 2018 (patsy, redundancy of categorical terms); the same columns as R where R's have full rank.
"""

from collections.abc import Collection, Sequence
from itertools import combinations

from sottovoce.aggregator.analysis.regression.formula_terms import Factors

Coding = dict[str, bool]
"""Categorical factors of one product, and whether each has full coding (True) or contrasts (False)."""


def codings(terms: Sequence[Factors], categorical: Collection[str]) -> list[list[Coding]]:
    """Return for each term the products of its categorical factors that it adds to the terms before it.

    Args:
        terms: factors of each term, () for the constant; a margin comes before the terms that contain it.
        categorical: factors that are categorical; all others are numbers.
    """
    spanned: set[tuple[frozenset[str], frozenset[str]]] = set()
    found = []
    for term in terms:
        named = [factor for factor in term if factor in categorical]
        numbers = frozenset(term) - frozenset(named)
        subsets = [frozenset(subset) for size in range(len(named) + 1) for subset in combinations(named, size)]
        # A subset that an earlier term spans would make the columns collinear.
        new = [subset for subset in subsets if (numbers, subset) not in spanned]
        spanned |= {(numbers, subset) for subset in new}
        found.append([{factor: coding[factor] for factor in named if factor in coding} for coding in _joined(new)])
    return found


def _joined(subsets: Sequence[frozenset[str]]) -> list[Coding]:
    """Join products that differ by one factor in contrasts into one with this factor in full coding."""
    found: list[Coding] = [dict.fromkeys(subset, False) for subset in subsets]
    while (pair := _pair(found)) is not None:
        short, long = pair
        joined = {factor: long[factor] or factor not in short for factor in long}
        found = [joined if each is short else each for each in found if each is not long]
    return found


def _pair(found: Sequence[Coding]) -> tuple[Coding, Coding] | None:
    """Return the first two products of which the second has one factor more, in contrasts."""
    for place, short in enumerate(found):
        for long in found[place + 1 :]:
            more = long.keys() - short.keys()
            if len(more) == 1 and short.items() <= long.items() and not any(long[factor] for factor in more):
                return short, long
    return None
