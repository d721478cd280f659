"""Limits of one share: printed oracles, shapes, edges."""

import math

import numpy as np
import pytest
from sottovoce.aggregator.estimators.intervals import METHODS, normal_quantile, t_quantile, upper_tail

COIN = (0.75, 0.25)


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
    """The oracles of the coin flip, to four digits."""
    actual = METHODS[method](count, n, *COIN, 0.95)

    assert (low, high) == tuple(round(float(limit), 4) for limit in actual)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_say_nothing_without_reports(method: str) -> None:
    """No reports give [0, 1], also inside an array."""
    low, high = METHODS[method]([0, 3, 0], [0, 9, 0], *COIN, 0.95)

    assert [low[0], low[2]] == [0.0, 0.0]
    assert [high[0], high[2]] == [1.0, 1.0]


@pytest.mark.parametrize("method", METHODS)
def test_intervals_mirror_for_symmetric_channels(method: str) -> None:
    """The share of no is one minus the share of yes."""
    low, high = METHODS[method](np.arange(41), 40, *COIN, 0.95)

    assert (1 - high[::-1]) == pytest.approx(low, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_move_up_with_the_count(method: str) -> None:
    """More supporting reports never lower a limit."""
    low, high = METHODS[method](np.arange(61), 60, 11 / 12, 1 / 6, 0.95)

    assert np.all(np.diff(low) >= -1e-12)
    assert np.all(np.diff(high) >= -1e-12)


def test_intervals_narrow_to_the_share_with_a_million_reports() -> None:
    """All four methods agree where n is large."""
    for method in METHODS.values():
        low, high = method(400_000, 1_000_000, *COIN, 0.95)

        assert float(high - low) == pytest.approx(2 * 1.96 * 0.00098, rel=0.15)
        assert low < 0.3 < high


def test_methods_are_the_closed_list() -> None:
    """The names that a survey may use."""
    assert list(METHODS) == ["score-cc", "wilson", "exact", "fixed-population"]


def test_normal_quantile_is_the_familiar_one() -> None:
    """1.959963984540054 at 95 percent."""
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
    """To four digits, and near the normal ones for a million."""
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
    """The usual quantiles, and two worked examples."""
    assert upper_tail(statistic, df) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("df", [1, 2, 3, 8, 31])
def test_tail_falls_as_the_density_says(df: int) -> None:
    """A difference quotient against the density."""
    for x in (0.4, 3.0, 40.0):
        density = math.exp((df / 2 - 1) * math.log(x) - x / 2 - df / 2 * math.log(2) - math.lgamma(df / 2))
        assert (upper_tail(x - 1e-5, df) - upper_tail(x + 1e-5, df)) / 2e-5 == pytest.approx(
            density, rel=1e-5, abs=1e-9
        )


def test_nothing_lies_below_zero() -> None:
    """A statistic of 0, and far out."""
    assert (upper_tail(0.0, 3), upper_tail(1e4, 5)) == (1.0, 0.0)
