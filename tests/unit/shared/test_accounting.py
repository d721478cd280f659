"""What adds up adds up, with a small delta too, to the digits that were worked out beforehand."""

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import product

import pytest
from sottovoce.shared.accounting import (
    advanced_epsilon,
    belief_after,
    group_epsilon,
    optimal_epsilon,
    report_epsilon,
    waves_epsilon,
)
from sottovoce.shared.mechanisms.binary_rr import BinaryRR

LN2, LN3 = math.log(2), math.log(3)

COIN = BinaryRR(Fraction(3, 4), Fraction(1, 4))

NONSENSE = [-1e-9, math.nan, math.inf, -math.inf]

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


def test_questions_and_waves_add_up() -> None:
    """Five coin questions cost 5 ln 3 = 5.49, ten waves of the coin flip 10.99."""
    assert report_epsilon([LN3] * 5) == pytest.approx(5.4930614433)
    assert report_epsilon([]) == 0
    assert round(waves_epsilon(LN3, 10), 2) == 10.99


def test_joint_answers_cost_the_sum() -> None:
    """The product channel of two questions, as one table, has the sum as its epsilon."""
    warner = BinaryRR(Fraction(2, 3), Fraction(1, 3))
    pairs = list(product((0, 1), repeat=2))

    worst = max(
        COIN.probability(y, x) * warner.probability(z, w) / (COIN.probability(y, u) * warner.probability(z, v))
        for (y, z), (x, w), (u, v) in product(pairs, repeat=3)
    )
    assert worst == 6
    assert report_epsilon([LN3, LN2]) == pytest.approx(math.log(worst))


def test_processing_costs_nothing() -> None:
    """Whatever two reported values are merged, the worst ratio of the merged table is no larger."""
    rows = [[Fraction(w, 12) for w in row] for row in ((6, 2, 2, 2), (2, 6, 2, 2), (1, 2, 6, 3))]
    worst = max(max(c) / min(c) for c in zip(*rows, strict=True))

    for i, j in product(range(4), repeat=2):
        merged = [row[i] + row[j] for row in rows if i != j]
        assert not merged or max(merged) / min(merged) <= worst


def test_questions_drawn_cost_the_largest() -> None:
    """With ``ask: 2`` the charge is that of the two dearest questions, in whatever order they stand."""
    assert report_epsilon([0.5, LN3, 0.0, 1.0], ask=2) == pytest.approx(LN3 + 1)
    assert report_epsilon([0.5, 0.25], ask=2) == pytest.approx(0.75)


def test_group_pays_for_each_of_its_people() -> None:
    """It is k epsilon, and no delta comes of it."""
    assert [group_epsilon(1.0, people) for people in (1, 4, 1000)] == [1.0, 4.0, 1000.0]


BELIEFS = [
    (0.01, LN3, "2.9"), (0.1, LN3, "25.0"), (0.3, LN3, "56.2"), (0.5, LN3, "75.0"),
    (0.01, LN2, "2.0"), (0.1, LN2, "18.2"), (0.3, LN2, "46.2"), (0.5, LN2, "66.7"),
]  # fmt: skip


def test_belief_grows_by_the_odds() -> None:
    """The table of beliefs before and after a report, to its printed digits."""
    assert [(p, epsilon, f"{100 * belief_after(p, epsilon):.1f}") for p, epsilon, _ in BELIEFS] == BELIEFS


def test_certainty_stays_certainty() -> None:
    """What was believed fully or not at all does not move, even with an epsilon that overflows."""
    assert [belief_after(before, 5000.0) for before in (0.0, 1e-300, 1.0)] == [0.0, 1.0, 1.0]


@pytest.mark.parametrize("epsilon", NONSENSE)
def test_nonsense_is_no_epsilon(epsilon: float) -> None:
    """No account is made of a number that could not be a privacy loss."""
    for account in (
        lambda: report_epsilon([1.0, epsilon]),
        lambda: waves_epsilon(epsilon, 2),
        lambda: group_epsilon(epsilon, 2),
        lambda: belief_after(0.5, epsilon),
    ):
        with pytest.raises(ValueError, match="epsilon must be at least 0 and finite"):
            account()


@pytest.mark.parametrize("number", [0, -1, 1.0, True, 10**9])
def test_nonsense_is_no_number_of_people_waves_or_questions(number: object) -> None:
    """Zero people, half a wave, a thousand million of them: a message, no figure."""
    for account in (
        lambda: group_epsilon(1.0, number),  # type: ignore[arg-type]
        lambda: waves_epsilon(1.0, number),  # type: ignore[arg-type]
        lambda: report_epsilon([1.0] * 3, number),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match="must be a whole number from 1 to"):
            account()


@pytest.mark.parametrize("before", [-0.1, 1.1, math.nan])
def test_nonsense_is_no_belief(before: float) -> None:
    with pytest.raises(ValueError, match="belief"):
        belief_after(before, 1.0)


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
def test_nonsense_is_no_delta_to_compose(delta: float) -> None:
    """Delta 0 is pure privacy, delta 1 none; neither has such an account."""
    for account in (optimal_epsilon, advanced_epsilon):
        with pytest.raises(ValueError, match="delta must lie between 0 and 1"):
            account(0.1, 10, delta)


@pytest.mark.parametrize("epsilon", [-0.1, math.nan, math.inf])
def test_nonsense_is_no_epsilon_to_compose(epsilon: float) -> None:
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
