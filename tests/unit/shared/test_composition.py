"""Composition with a small delta: the exact curve, and that it hardly ever helps."""

import math
from fractions import Fraction

import pytest
from sottovoce.shared import composition
from sottovoce.shared.composition import (
    advanced_epsilon,
    gaussian_epsilon,
    gaussian_rho,
    optimal_delta,
    optimal_epsilon,
    response_rho,
    zcdp_epsilon,
)

LN2, LN3 = math.log(2), math.log(3)
DELTA = 1e-6


def test_optimal_delta_is_the_closed_theorems() -> None:
    """.0410284146095 for ten releases of epsilon .5 at (10 - 2 x 2) x .5."""
    assert f"{optimal_delta(0.5, 10, 3.0):.13f}" == "0.0410284146095"
    terms = (math.comb(10, i) * (math.exp((10 - i) * 0.5) - math.exp((6 + i) * 0.5)) for i in range(2))
    assert optimal_delta(0.5, 10, 3.0) == pytest.approx(math.fsum(terms) / (1 + math.exp(0.5)) ** 10, rel=1e-13)


def test_optimal_delta_is_exact_where_odds_are_whole() -> None:
    """Twenty coin flips, in fractions."""
    k, bound = 20, Fraction(3) ** 7
    exact = sum(
        max(math.comb(k, i) * (Fraction(3**i, 4**k) - bound * Fraction(3 ** (k - i), 4**k)), Fraction(0))
        for i in range(k + 1)
    )
    assert optimal_delta(LN3, k, 7 * LN3) == pytest.approx(float(exact), rel=1e-12)


COMPOSED = [
    (LN3, 10, 2, "10.99"), (LN3, 50, 1, "52.7"), (LN2, 50, 1, "30.3"), (0.1, 100, 2, "4.77"), (0.01, 1000, 2, "1.37"),
]  # fmt: skip


@pytest.mark.parametrize(("epsilon", "releases", "digits", "expected"), COMPOSED)
def test_optimal_epsilon_is_the_printed_one(epsilon: float, releases: int, digits: int, expected: str) -> None:
    """To the digits of the specification (4.78 there is 4.7746, rounded up)."""
    assert f"{optimal_epsilon(epsilon, releases, DELTA):.{digits}f}" == expected


@pytest.mark.parametrize(("epsilon", "releases"), [(LN3, 10), (0.1, 100), (0.01, 1000), (1.0, 1), (2.0, 3)])
def test_optimal_epsilon_is_the_least(epsilon: float, releases: int) -> None:
    """Its delta is allowed, and that of a slightly smaller one is not."""
    least = optimal_epsilon(epsilon, releases, DELTA)

    assert optimal_delta(epsilon, releases, least) <= DELTA * (1 + 1e-9)
    assert optimal_delta(epsilon, releases, least * (1 - 1e-6)) > DELTA


@pytest.mark.parametrize(("epsilon", "first"), [(LN3, 45), (LN2, 30), (0.1, 15)])
def test_composition_gains_one_per_cent_only_late(epsilon: float, first: int) -> None:
    """The first number of answers from which more than 1 % is gained on the plain sum."""
    gains = [optimal_epsilon(epsilon, k, DELTA) < 0.99 * k * epsilon for k in range(1, first + 1)]

    assert gains == [False] * (first - 1) + [True]


@pytest.mark.parametrize(("epsilon", "releases", "figure"), [(LN3, 10, 40.2), (LN3, 50, 151), (LN2, 50, 60.4)])
def test_advanced_composition_is_not_shown_above_the_sum(epsilon: float, releases: int, figure: float) -> None:
    """It would look like a guarantee, and be larger than the one there is."""
    formula = math.sqrt(2 * releases * math.log(1e6)) * epsilon + releases * epsilon * math.expm1(epsilon)

    assert formula == pytest.approx(figure, rel=5e-3)
    assert advanced_epsilon(epsilon, releases, DELTA) is None


@pytest.mark.parametrize(("epsilon", "releases", "figure"), [(0.1, 100, "6.31"), (0.01, 1000, "1.76")])
def test_advanced_composition_is_shown_below_the_sum(epsilon: float, releases: int, figure: str) -> None:
    """And is never better than the optimal account."""
    found = advanced_epsilon(epsilon, releases, DELTA)

    assert f"{found:.2f}" == figure
    assert optimal_epsilon(epsilon, releases, DELTA) < found


def test_zcdp_of_randomized_response_is_tight() -> None:
    """.549 at ln 3, not epsilon^2 / 2 = .603; and never below any of its Renyi divergences."""
    assert f"{response_rho(LN3):.3f}" == "0.549"
    for order in (1.001, 1.5, 2.0, 4.0, 20.0):
        a, b = 0.75, 0.25
        divergence = math.log(a**order * b ** (1 - order) + b**order * a ** (1 - order)) / (order - 1)
        assert divergence <= response_rho(LN3) * order + 1e-12
    # Tight in the limit: the divergence of order near 1 is (a - b) ln(a / b) = epsilon tanh(epsilon / 2).
    assert response_rho(LN3) == pytest.approx(0.5 * LN3)


def test_gaussian_is_better_than_its_zcdp() -> None:
    """A rho of .3125 gives 4.47, and the exact curve 3.75."""
    rho = gaussian_rho(1.0, math.sqrt(1.6))

    assert rho == pytest.approx(0.3125)
    assert f"{zcdp_epsilon(rho, DELTA):.2f}" == "4.47"
    assert f"{gaussian_epsilon(math.sqrt(2 * rho), DELTA):.2f}" == "3.75"


@pytest.mark.parametrize("mu", [0.1, 0.7, 1.0, 3.0])
def test_gaussian_epsilon_is_rounded_up(mu: float) -> None:
    """The figure itself is allowed, to the last digit; what is a little less is not."""
    found = gaussian_epsilon(mu, DELTA)

    assert composition._gaussian_delta(mu, found) <= DELTA
    assert composition._gaussian_delta(mu, found * (1 - 1e-9)) > DELTA


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-9, math.nan])
def test_nonsense_is_no_delta(delta: float) -> None:
    """Delta 0 is pure privacy, delta 1 none; neither has such an account."""
    for account in (optimal_epsilon, advanced_epsilon):
        with pytest.raises(ValueError, match="delta must lie between 0 and 1"):
            account(0.1, 10, delta)
    with pytest.raises(ValueError, match="delta"):
        zcdp_epsilon(0.1, delta)
    with pytest.raises(ValueError, match="delta"):
        gaussian_epsilon(0.1, delta)


@pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf])
def test_nonsense_is_no_epsilon(epsilon: float) -> None:
    """Nor has it a composition."""
    for account in (optimal_epsilon, optimal_delta, advanced_epsilon):
        with pytest.raises(ValueError, match="epsilon"):
            account(epsilon, 10, 0.5)
    with pytest.raises(ValueError, match="epsilon"):
        response_rho(epsilon)


@pytest.mark.parametrize("releases", [0, -1, 1.5, 10**6])
def test_nonsense_is_no_number_of_releases(releases: int) -> None:
    """At least one, at most ten thousand."""
    for account in (optimal_epsilon, optimal_delta, advanced_epsilon):
        with pytest.raises(ValueError, match="number of releases"):
            account(0.1, releases, 0.5)


def test_gaussian_refuses_what_is_no_noise() -> None:
    """No sigma of 0, no negative sensitivity."""
    for sensitivity, sigma in ((1.0, 0.0), (-1.0, 1.0), (1.0, math.nan)):
        with pytest.raises(ValueError, match="sensitivity"):
            gaussian_rho(sensitivity, sigma)
    with pytest.raises(ValueError, match="mu"):
        gaussian_epsilon(0.0, DELTA)
