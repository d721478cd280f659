"""The two formulas that the project began with fall out of the one estimator."""

from fractions import Fraction

import pytest
from sottovoce.aggregator.estimators import estimate
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.binary_rr import BinaryRR

COIN = BinaryRR(Fraction(3, 4), Fraction(1, 4))
WARNER = BinaryRR(Fraction(2, 3), Fraction(1, 3))
OPTIONS = Domain(("no", "yes"))


@pytest.mark.parametrize("yes", [0, 1, 30, 50, 99, 100])
def test_coin_flip_estimate_is_2_p_minus_one_half(yes: int) -> None:
    """P_A = 2 P_B - 1/2."""
    assert estimate(COIN, {0: 100 - yes, 1: yes}, OPTIONS)[0].raw == float(2 * Fraction(yes, 100) - Fraction(1, 2))


@pytest.mark.parametrize("yes", [0, 1, 30, 50, 99, 100])
def test_warner_estimate_is_3_mean_minus_one(yes: int) -> None:
    """P = 3 E[Y] - 1."""
    assert estimate(WARNER, {0: 100 - yes, 1: yes}, OPTIONS)[0].raw == float(3 * Fraction(yes, 100) - 1)
