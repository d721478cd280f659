"""What releases cost together: the sum, or zCDP where it is smaller, always rounded up."""

import math
from fractions import Fraction

import pytest
from sottovoce.aggregator.curator.budget import SUM, ZCDP, rho_of, total
from sottovoce.aggregator.curator.release import Charge

DELTA = Fraction(1, 10**6)


def pure(epsilon: str) -> Charge:
    """Of a release with delta 0 that says no rho."""
    return Charge(Fraction(epsilon))


def test_few_releases_cost_their_sum() -> None:
    """Exactly; nothing at all costs nothing."""
    found = total([pure("1/3"), pure("1/7")], DELTA)
    assert found is not None
    assert (found.epsilon, found.account, found.delta) == (Fraction(10, 21), SUM, 0)
    nothing = total([], Fraction(0))
    assert nothing is not None
    assert nothing.epsilon == 0


def test_many_small_releases_cost_less_by_zcdp() -> None:
    """1,000 of epsilon 0.01 are 10 by the sum; rho is 1,000 x 0.01 x tanh 0.005, at half of delta."""
    found = total([pure("0.01")] * 1000, DELTA)

    rho = 10 * math.tanh(0.005)
    expected = rho + 2 * math.sqrt(rho * math.log(2e6))
    assert found is not None
    assert found.account == ZCDP
    assert 0 <= float(found.epsilon) - expected < 1e-9
    # 1.7508: below the sum by far, and above the best figure there is for 1,000 such releases, 1.37 at delta 1e-6.
    assert 1.37 < found.epsilon < Fraction("1.76")


def test_rho_of_a_pure_release_is_tight() -> None:
    """Epsilon tanh(epsilon/2), .549 at ln 3 where epsilon^2/2 is .603; never below it."""
    rho = rho_of(pure("1.0986122886"))
    assert rho is not None
    assert math.ceil(float(rho) * 1000) == 550
    assert float(rho) >= 1.0986122886 * math.tanh(0.5493061443)
    assert rho_of(Charge(Fraction(1), rho=Fraction(1, 100))) == Fraction(1, 100)


def test_each_account_has_half_of_delta() -> None:
    """Which is smaller is found out along the way; both together stay within delta."""
    gaussian = Charge(Fraction(1, 2), DELTA / 4, Fraction(1, 200))
    twice = total([gaussian] * 2, DELTA)
    assert twice is not None
    assert twice.epsilon < 1
    thrice = total([gaussian] * 3, DELTA)
    assert thrice is not None
    assert (thrice.account, thrice.delta) == (ZCDP, DELTA / 2)


def test_what_neither_account_covers_has_no_total() -> None:
    """More delta than half, and no rho."""
    assert total([Charge(Fraction(1), DELTA * 3 / 4)], DELTA) is None
    assert total([Charge(Fraction(1), DELTA, Fraction(1, 8))], Fraction(0)) is None


@pytest.mark.parametrize("epsilon", ["0.000000001", "1", "1000"])
def test_zcdp_is_never_rounded_down(epsilon: str) -> None:
    """Small and large figures alike."""
    rho = rho_of(pure(epsilon))
    assert rho is not None
    assert rho > Fraction(epsilon) * Fraction(math.tanh(float(Fraction(epsilon)) / 2)) * (1 - Fraction(1, 10**14))
