import math
from fractions import Fraction
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from sottovoce.aggregator.estimators.distributions import beta
from sottovoce.aggregator.estimators.distributions.beta import _halley, _log_mass, _log_peak, _step, beta_quantile
from sottovoce.aggregator.estimators.fixed_population import MOST, PeopleCount, distribution, people_count
from sottovoce.aggregator.estimators.intervals import METHODS, normal_quantile, score_cc, t_quantile, upper_tail
from sottovoce.aggregator.estimators.support import band

COIN = (0.75, 0.25)


def lower_mass(t: float, p: int, q: int) -> Fraction:
    """P(Beta(p, q) <= t) for whole p and q, exactly: p or more of p + q - 1 throws."""
    at, n = Fraction(t), p + q - 1
    return sum((math.comb(n, x) * at**x * (1 - at) ** (n - x) for x in range(p, n + 1)), Fraction(0))


FLIP, WARNER, NONE = (0.75, 0.25), (2 / 3, 1 / 3), (1.0, 0.0)


@pytest.mark.parametrize(
    ("method", "count", "n", "low", "high"),
    [
        ("score-cc", 30, 100, 0.0, 0.3021),
        ("wilson", 30, 100, 0.0, 0.2917),
        ("exact", 30, 100, 0.0, 0.2996),
        ("score-cc", 0, 100, 0.0, 0.1968),
        ("score-cc", 25, 100, 0.0, 0.1968),
        ("wilson", 0, 100, 0.0, 0.1861),
        ("score-cc", 0, 20, 0.0, 0.4882),
        ("score-cc", 0, 1, 0.0, 1.0),
        ("score-cc", 1, 1, 0.0, 1.0),
    ],
)
def test_intervals_give_the_printed_limits(method: str, count: int, n: int, low: float, high: float) -> None:
    actual = METHODS[method](count, n, *COIN, 0.95)

    assert (low, high) == tuple(round(float(limit), 4) for limit in actual)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_say_nothing_without_reports(method: str) -> None:
    low, high = METHODS[method]([0, 3, 0], [0, 9, 0], *COIN, 0.95)

    assert [low[0], low[2]] == [0.0, 0.0]
    assert [high[0], high[2]] == [1.0, 1.0]


@pytest.mark.parametrize("method", METHODS)
def test_intervals_mirror_for_symmetric_channels(method: str) -> None:
    low, high = METHODS[method](np.arange(41), 40, *COIN, 0.95)

    assert (1 - high[::-1]) == pytest.approx(low, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_move_up_with_the_count(method: str) -> None:
    low, high = METHODS[method](np.arange(61), 60, 11 / 12, 1 / 6, 0.95)

    assert np.all(np.diff(low) >= -1e-12)
    assert np.all(np.diff(high) >= -1e-12)


def test_intervals_narrow_to_the_share_with_a_million_reports() -> None:
    for method in METHODS.values():
        low, high = method(400_000, 1_000_000, *COIN, 0.95)

        assert float(high - low) == pytest.approx(2 * 1.96 * 0.00098, rel=0.15)
        assert low < 0.3 < high


def test_methods_are_the_closed_list() -> None:
    assert list(METHODS) == ["score-cc", "wilson", "exact", "fixed-population"]


def test_normal_quantile_is_the_familiar_one() -> None:
    assert normal_quantile(0.95) == pytest.approx(1.959963984540054, abs=1e-14)


@pytest.mark.parametrize("n", [3000, 1_000_000, 20_000_000])
def test_limits_of_a_thousand_options_are_those_of_each_alone(n: int) -> None:
    """Options with equal counts share one computation, and no option waits for another one's rounding to settle."""
    a, b, confidence = 3 / 1026, 1 / 1026, 1 - 0.05 / 1024
    counts = np.random.Generator(np.random.PCG64(1)).multinomial(n, [1 / 1024] * 1024)
    low, high = METHODS["exact"](counts, n, a, b, confidence)

    for index in range(0, 1024, 50):
        alone = METHODS["exact"](counts[index], n, a, b, confidence)
        assert (low[index], high[index]) == pytest.approx(tuple(map(float, alone)), abs=1e-11)
    apart = METHODS["exact"](counts, [n] * 1024, a, b, confidence)
    assert low == pytest.approx(apart[0], abs=1e-11)
    assert high == pytest.approx(apart[1], abs=1e-11)


@pytest.mark.parametrize(
    ("confidence", "df", "printed"),
    [(0.95, 1, 12.7062), (0.95, 2, 4.3027), (0.95, 10, 2.2281), (0.99, 5, 4.0321), (0.999, 3, 12.9240)],
)
def test_quantiles_of_t_are_those_of_tables(confidence: float, df: int, printed: float) -> None:
    assert round(t_quantile(confidence, df), 4) == printed
    assert t_quantile(confidence, 10**6) == pytest.approx(normal_quantile(confidence), abs=2e-5)


@pytest.mark.parametrize(
    ("statistic", "df", "expected"),
    [
        (3.841458820694124, 1, 0.05),
        (5.991464547107979, 2, 0.05),
        (16.918977604620448, 9, 0.05),
        (18.307038053275146, 10, 0.05),
        (124.34211340400407, 100, 0.05),
        (14.811128, 1, 0.000119),
        (5.302600, 1, 0.021294),
    ],
)
def test_tail_is_that_of_the_tables(statistic: float, df: int, expected: float) -> None:
    assert upper_tail(statistic, df) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("df", [1, 2, 3, 8, 31])
def test_tail_falls_as_the_density_says(df: int) -> None:
    for x in (0.4, 3.0, 40.0):
        density = math.exp((df / 2 - 1) * math.log(x) - x / 2 - df / 2 * math.log(2) - math.lgamma(df / 2))
        assert (upper_tail(x - 1e-5, df) - upper_tail(x + 1e-5, df)) / 2e-5 == pytest.approx(
            density, rel=1e-5, abs=1e-9
        )


def test_nothing_lies_below_zero() -> None:
    assert (upper_tail(0.0, 3), upper_tail(1e4, 5)) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("count", "n", "low", "high"),
    [
        (30, 100, 0.0, 0.3960),
        (0, 20, 0.0, 0.3683),
        (300, 1000, 0.0061, 0.1999),
        (0, 1, 0.0, 1.0),
        (1, 1, 0.0, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_band_gives_the_printed_limits(count: int, n: int, low: float, high: float) -> None:
    assert (low, high) == tuple(round(limit, 4) for limit in band(count, n, *COIN, 0.95))


@pytest.mark.parametrize("channel", [COIN, (2 / 3, 1 / 3), (0.99331, 0.00669), (1.0, 0.0)])
def test_band_is_never_empty(channel: tuple[float, float]) -> None:
    """All 101 counts at n = 100 give 0 <= low < high <= 1 around the clipped estimate."""
    a, b = channel
    for count in range(101):
        low, high = band(count, 100, a, b, 0.95)
        clipped = min(max((count / 100 - b) / (a - b), 0), 1)

        assert 0 <= low <= clipped <= high <= 1
        assert low < high


def test_band_of_several_options_is_wider() -> None:
    """Alpha / k each: the band of 4 options is the band at 1 - .05/4."""
    low, high = band(300, 1000, *COIN, 0.95, options=4)

    assert band(300, 1000, *COIN, 1 - 0.05 / 4) == pytest.approx((low, high), abs=1e-12)
    assert low < 0.0060
    assert high > 0.2000


@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 20), (20, 1), (3, 8), (30, 71), (150, 51), (1, 200)])
@pytest.mark.parametrize("tail", [0.025, 0.0005, 0.5])
def test_beta_quantile_is_the_exact_one_to_twelve_digits(p: int, q: int, tail: float) -> None:
    t = float(beta_quantile(tail, p, q))

    assert lower_mass(max(t - 1e-12, 0.0), p, q) <= Fraction(tail) <= lower_mass(min(t + 1e-12, 1.0), p, q)


def test_beta_quantile_has_closed_forms_at_the_edges() -> None:
    """Beta(p, 1) has quantile tail^(1/p), Beta(1, q) has 1 - (1 - tail)^(1/q), for real parameters."""
    for real in (0.3, 1.0, 2.5, 400.25):
        assert float(beta_quantile(0.025, real, 1.0)) == pytest.approx(0.025 ** (1 / real), abs=1e-13)
    for real in (1.0, 2.5, 400.25):
        assert float(beta_quantile(0.025, 1.0, real)) == pytest.approx(1 - 0.975 ** (1 / real), abs=1e-13)


def test_beta_quantile_agrees_with_a_library_at_large_and_real_parameters() -> None:
    """Values computed once with another library's incomplete beta function."""
    cases = {
        (300_000.0, 700_001.0): 0.2991019119335821,
        (0.01, 1.0067): 0.0,
        (12.75, 88.25): 0.06918448845292755,
        (1_234_567.5, 8_765_433.5): 0.12325292078180716,
    }
    for (p, q), expected in cases.items():
        assert float(beta_quantile(0.025, p, q)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("tail", "p", "q"), [(0.0, 1, 1), (0.6, 1, 1), (math.nan, 1, 1), (0.1, 0, 1), (0.1, 1, 0.5)])
def test_beta_quantile_refuses_what_its_root_finding_does_not_cover(tail: float, p: float, q: float) -> None:
    with pytest.raises(ValueError, match="beta quantile"):
        beta_quantile(tail, p, q)


def test_beta_quantiles_take_arrays_and_large_parameters() -> None:
    for p, q in ((5000.0, 5000.0), (5000.0, 20_000.0), (1e6, 5e3), (3e5, 7e5)):
        for tail in (0.4, 0.025, 1e-5):
            fraction = float(_halley(tail, np.array([p]), np.array([q]))[0])
            assert abs(float(beta_quantile(tail, p, q)) - fraction) < 1e-9

    p = np.array([[0.5], [3.0], [80.0]])
    q = np.array([1.0, 20.0])
    both = beta_quantile(0.025, p, q)

    assert both.shape == (3, 2)
    for i in range(3):
        for j in range(2):
            assert float(beta_quantile(0.025, p[i, 0], q[j])) == pytest.approx(both[i, j], abs=1e-14)


@pytest.mark.parametrize("tail", [0.5, 0.025, 2.5e-5])
def test_many_quantiles_at_once_need_no_more_steps_than_one(tail: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """256 steps of the fraction are plenty, and the start is near enough for two of Halley's."""
    p, q = np.meshgrid(np.linspace(12, 4000, 60), np.linspace(12, 10**6, 40))
    expected = beta_quantile(tail, p, q)
    rounds = []

    def counting(*parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rounds.append(len(parameters[0]))
        return _log_mass(*parameters)

    monkeypatch.setattr(beta, "_DEEPEST", 256)
    monkeypatch.setattr(beta, "_log_mass", counting)

    assert beta_quantile(tail, p, q) == pytest.approx(expected, abs=1e-15)
    assert len(rounds) <= 2
    assert rounds[0] == p.size


@pytest.mark.parametrize("tail", [0.5, 0.025, 2.5e-5, 1e-9])
def test_steps_approach_the_quantile_and_never_pass_it(tail: float) -> None:
    """From either side, near and far: the Schwarzian derivative of ln I is nowhere positive."""
    p, q = (grid.ravel() for grid in np.meshgrid([0.2, 1.0, 2.5, 12, 300, 4000], [1.0, 1.5, 9, 80, 2500, 10**6]))
    log_peak, root = _log_peak(p, q), np.log(beta_quantile(tail, p, q))
    for away in (1.5, 1.1, 1.01, 0.99, 0.9, 0.5):
        start = root * away
        step, schwarzian = _step(tail, start, p, q, log_peak)
        left = (root - start - step) / (root - start)

        assert np.all((left > -1e-9) & (left < 1))
        assert np.all(schwarzian <= 1e-9 * (p + q) ** 2)


@pytest.mark.parametrize(("a", "b"), [FLIP, WARNER, (0.9, 0.2)])
@pytest.mark.parametrize("n", [1, 5, 20, 30])
def test_limits_hold_the_number_at_least_as_often_as_they_say(n: int, a: float, b: float) -> None:
    """For every number of people, over the exact distribution of the reports."""
    found = [people_count(count, n, a, b) for count in range(n + 1)]
    for people in range(n + 1):
        inside = sum(
            distribution(people, n, a, b)[count]
            for count in range(n + 1)
            if found[count].low <= people <= found[count].high
        )
        assert inside >= 0.95


def test_tails_are_those_of_two_sums() -> None:
    """P(X >= 3) with 2 people of 5 under the coin flip, in fractions by hand."""
    a, b = Fraction(3, 4), Fraction(1, 4)
    exact = sum(
        comb(2, i) * a**i * (1 - a) ** (2 - i) * comb(3, j) * b**j * (1 - b) ** (3 - j)
        for i in range(3)
        for j in range(4)
        if i + j >= 3
    )
    chances = distribution(2, 5, *FLIP)
    assert (chances[3:].sum(), chances.sum()) == pytest.approx((float(exact), 1), abs=1e-14)


def test_limits_of_a_group_grow_with_reports_and_hold_the_estimate() -> None:
    """And are the printed ones for thirty people under the coin flip."""
    found = [people_count(count, 30, *FLIP) for count in range(31)]
    assert all(one.low <= two.low and one.high <= two.high for one, two in pairwise(found))
    assert all(each.low <= each.people <= each.high for each in found)

    assert people_count(14, 30, *FLIP) == PeopleCount(13, 3, 23, 30)


def test_a_group_is_told_more_narrowly_and_without_chance_exactly() -> None:
    """Than a sample of so many."""
    found = people_count(14, 30, *FLIP)
    low, high = score_cc(14, 30, *FLIP, 0.95)
    assert found.high - found.low < 30 * float(high - low)

    assert people_count(7, 30, *NONE) == PeopleCount(7, 7, 7, 30)


@pytest.mark.parametrize("n", [0, MOST + 1])
def test_groups_have_a_size(n: int) -> None:
    """Nobody is no group, and a town is none either."""
    with pytest.raises(ValueError, match="people"):
        people_count(0, n, *FLIP)
