"""Composition with a small delta: the exact curve, and that it hardly ever helps."""

import math
from decimal import Context, Decimal, localcontext

import pytest
from sottovoce.shared.accounting import advanced_epsilon, optimal_epsilon

LN2, LN3 = math.log(2), math.log(3)
DELTA = 1e-6


def optimal_delta(epsilon: float, releases: int, total: float) -> float:
    """The hockey-stick of so many randomized responses, summed with 60 digits."""
    with localcontext(Context(prec=60)):
        odds, limit = Decimal(epsilon).exp(), Decimal(total).exp()
        terms = (
            math.comb(releases, count) * max(odds**count - limit * odds ** (releases - count), Decimal(0))
            for count in range(releases + 1)
        )
        return float(sum(terms, Decimal(0)) / (1 + odds) ** releases)


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


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-9, math.nan])
def test_nonsense_is_no_delta(delta: float) -> None:
    """Delta 0 is pure privacy, delta 1 none; neither has such an account."""
    for account in (optimal_epsilon, advanced_epsilon):
        with pytest.raises(ValueError, match="delta must lie between 0 and 1"):
            account(0.1, 10, delta)


@pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf])
def test_nonsense_is_no_epsilon(epsilon: float) -> None:
    """Nor has it a composition."""
    for account in (optimal_epsilon, advanced_epsilon):
        with pytest.raises(ValueError, match="epsilon"):
            account(epsilon, 10, 0.5)


@pytest.mark.parametrize("releases", [0, -1, 1.5, 10**6])
def test_nonsense_is_no_number_of_releases(releases: int) -> None:
    """At least one, at most ten thousand."""
    for account in (optimal_epsilon, advanced_epsilon):
        with pytest.raises(ValueError, match="number of releases"):
            account(0.1, releases, 0.5)
