"""Sums of products of scores, from counts of supports and from the scores themselves."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.tables import pair_moments as module
from sottovoce.aggregator.analysis.tables.pair_moments import Pairs

from tests.documents import one_of
from tests.unit.aggregator.analysis.samples import coin, geometric, kary, openly, subset, variable

HADAMARD = variable(one_of(5, {"name": "hadamard_response", "odds": "3"}))
MASK = variable(one_of(13, {"name": "optimal_unary", "odds": "3"}))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        (coin, openly), (kary, coin), (subset, HADAMARD), (geometric, subset), (coin, geometric), (MASK, subset),
        (MASK, MASK), (MASK, coin),
    ],
)  # fmt: skip
def test_sums_are_those_of_the_scores(monkeypatch, first, second, weighted):
    """Whichever way is taken, in blocks, with weights and without."""
    monkeypatch.setattr(module, "ROWS", 64)
    places = np.arange(1000)
    reported = tuple(_values(each)[places * step % len(_values(each))] for each, step in ((first, 7), (second, 11)))
    weights = 1 + places % 5 / 4 if weighted else np.ones(1000)

    found = Pairs(first, second, reported, weights, weights**2, np.ones(1000)).products

    v = np.column_stack([np.ones(1000), first.scores(reported[0]), second.scores(reported[1])])
    for sums, left, right, power in zip(found, (v, v, v**2, v**2), (v, v, v, v**2), (1, 2, 2, 2), strict=True):
        assert sums == pytest.approx((left * weights[:, None] ** power).T @ right, rel=1e-9, abs=1e-7)


def _values(each):
    """Some reported values of a variable, of no order."""
    if each is MASK:
        return np.arange(1 << 13, dtype=np.uint16)[::37]
    if each is subset:
        return np.array([3, 12, 5, 10, 6, 9])
    return np.array([1, 0, 2, 7, 4][: 2 if each in {coin, openly} else 3 if each is kary else 5])


def test_sums_over_no_report_are_zeros():
    """Of a group that nobody is in."""
    nothing = np.array([], dtype=np.uint8)

    found = Pairs(coin, geometric, (nothing, nothing), *[nothing.astype(float)] * 3).products

    assert all((sums == 0).all() for sums in found)
