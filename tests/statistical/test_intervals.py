"""Intervals for a share keep their promise, by exact enumeration of every count."""

from statistics import NormalDist

import numpy as np
import pytest
from sottovoce.aggregator.estimators.intervals import METHODS, exact, fixed_population, score_cc, wilson

from tests.statistical.exact import CHANNELS, GRID, SIZES, Array, Limits, binomial, coverage, log_choose, minimum

COIN, WARNER, FORCED = CHANNELS["coin"], CHANNELS["warner"], CHANNELS["forced"]
NINE = np.array([0, 0.01, 0.02, 0.05, 0.1, 0.3, 0.5, 0.9, 1])


@pytest.mark.parametrize("channel", CHANNELS)
def test_score_cc_covers_at_least_95_percent(channel: str) -> None:
    """No n up to 400 and no share gets less than .95; at epsilon 5 and n of 1 or 2, .946."""
    small = [1, 2] if channel == "epsilon 5" else []

    assert minimum(score_cc, CHANNELS[channel], [n for n in SIZES if n not in small]) >= 0.95
    assert not small or minimum(score_cc, CHANNELS[channel], small) >= 0.946


@pytest.mark.parametrize("channel", CHANNELS)
def test_exact_covers_at_least_95_percent(channel: str) -> None:
    """The method with a theorem behind it has no exception; the least in the sweep is .9501."""
    least = minimum(exact, CHANNELS[channel], SIZES)

    assert least >= 0.95
    assert channel != "epsilon .5" or least == pytest.approx(0.9501, abs=5e-5)


def test_exact_covers_at_other_levels_too() -> None:
    """At 90 and 99 percent, where score limits of skewed channels fall short."""
    for channel in CHANNELS.values():
        assert minimum(exact, channel, SIZES[::4], 0.9) >= 0.9
        assert minimum(exact, channel, SIZES[::4], 0.99) >= 0.99


def test_score_cc_has_the_minima_of_the_specification() -> None:
    """90 percent: .9003; 99 percent: .9901 for coin flip and Warner, but .979 for skewed channels at n <= 4."""
    four = [COIN, WARNER, FORCED, CHANNELS["epsilon 3"]]

    assert min(minimum(score_cc, channel, SIZES, 0.9) for channel in four) == pytest.approx(0.9003, abs=2e-4)
    assert min(minimum(score_cc, channel, SIZES, 0.99) for channel in (COIN, WARNER)) == pytest.approx(0.9901, abs=1e-4)
    assert min(minimum(score_cc, channel, [1, 2, 3, 4], 0.99) for channel in four) == pytest.approx(0.979, abs=1e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("channel", CHANNELS)
def test_no_interval_leaves_the_unit_or_is_empty_or_a_point(method: str, channel: str) -> None:
    """For every count, every method gives 0 <= low < high <= 1 around the clipped estimate."""
    a, b = CHANNELS[channel]
    for n in SIZES:
        low, high = METHODS[method](np.arange(n + 1), n, a, b, 0.95)
        clipped = np.clip((np.arange(n + 1) / n - b) / (a - b), 0, 1)

        assert np.all((low >= 0) & (low < high) & (high <= 1))
        assert np.all((low <= clipped + 1e-12) & (clipped <= high + 1e-12))


@pytest.mark.parametrize(
    ("method", "minima"),
    [
        (wilson, {20: 0.929, 50: 0.935, 100: 0.938, 500: 0.945}),
        (score_cc, {20: 0.958, 50: 0.953, 100: 0.952, 500: 0.950}),
        (exact, {20: 0.958, 50: 0.953, 100: 0.950, 500: 0.951}),
    ],
)
def test_coin_flip_minima_are_those_of_the_specification(method: object, minima: dict[int, float]) -> None:
    """Minimum over 401 shares, to three digits."""
    shares = np.linspace(0, 1, 401)
    for n, expected in minima.items():
        actual = coverage(method(np.arange(n + 1), n, *COIN, 0.95), n, *COIN, shares).min()  # type: ignore[operator]

        assert actual == pytest.approx(expected, abs=6e-4)


@pytest.mark.parametrize(
    ("method", "channel", "n", "covers", "widths"),
    [
        (wilson, COIN, 20, ".959 .954 .982 .973 .983 .979 .959 .983 .959",
         ".509 .514 .519 .535 .563 .675 .724 .563 .509"),
        (score_cc, COIN, 20, ".986 .984 .982 .973 .983 .979 .959 .983 .986",
         ".559 .564 .569 .585 .613 .729 .781 .613 .559"),
        (wilson, COIN, 100, ".972 .978 .971 .976 .966 .948 .943 .966 .972",
         ".221 .227 .233 .251 .286 .372 .383 .286 .221"),
        (score_cc, COIN, 50, ".986 .983 .979 .981 .975 .971 .967 .975 .986",
         ".341 .347 .352 .370 .404 .526 .562 .404 .341"),
        (score_cc, COIN, 100, ".972 .978 .983 .976 .979 .968 .965 .979 .972",
         ".232 .238 .243 .263 .299 .390 .402 .299 .232"),
        (score_cc, COIN, 500, ".977 .979 .975 .976 .955 .950 .956 .955 .977",
         ".097 .103 .109 .130 .157 .175 .178 .157 .097"),
        (score_cc, WARNER, 100, ".983 .980 .976 .975 .978 .979 .965 .978 .983",
         ".363 .368 .373 .390 .422 .548 .593 .422 .363"),
    ],
)  # fmt: skip
def test_coverage_and_width_are_those_of_the_specification(
    method: object, channel: tuple[float, float], n: int, covers: str, widths: str
) -> None:
    """At nine shares, to the three printed digits."""
    a, b = channel
    low, high = method(np.arange(n + 1), n, a, b, 0.95)  # type: ignore[operator]
    mean_width = binomial(n, b + (a - b) * NINE) @ (high - low)

    assert coverage((low, high), n, a, b, NINE) == pytest.approx([float(x) for x in covers.split()], abs=6e-4)
    assert mean_width == pytest.approx([float(x) for x in widths.split()], abs=6e-4)


def fixed_coverage(limits: Limits, n: int, a: float, b: float) -> float:
    """Smallest coverage over the numbers T of true yes among n, x = Bin(T, a) + Bin(n - T, b)."""
    low, high = limits
    covers = []
    for true in range(n + 1):
        counts = np.convolve(binomial(true, np.array([a]))[0], binomial(n - true, np.array([b]))[0])
        covers.append(counts[(low <= true / n + 1e-9) & (true / n <= high + 1e-9)].sum())
    return float(min(covers))


@pytest.mark.parametrize(("n", "expected"), [(20, 0.932), (100, 0.936), (500, 0.944)])
def test_fixed_population_has_the_minima_of_the_specification(n: int, expected: float) -> None:
    """Enumerated over every number of true yes; the i.i.d. interval covers more there, and is wider."""
    limits, iid = (method(np.arange(n + 1), n, *COIN, 0.95) for method in (fixed_population, wilson))

    assert fixed_coverage(limits, n, *COIN) == pytest.approx(expected, abs=6e-4)
    assert fixed_coverage(iid, n, *COIN) > 0.95
    assert np.median(limits[1] - limits[0]) < np.median(iid[1] - iid[0])


# Mutants: what the sweep above must not let pass.


def unguarded(count: Array, n: int, a: float, b: float, confidence: float) -> Limits:
    """The textbook limits with a special case at x == 0 and x == n only."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    x = np.clip(count, n * b, n * a)
    low, high = (
        (x + s + z * z / 2 + 2 * s * z * np.sqrt(np.maximum((x + s) * (n - x - s) / n + z * z / 4, 0))) / (n + z * z)
        for s in (-0.5, 0.5)
    )
    low, high = np.where(x == 0, 0, low), np.where(x == n, 1, high)
    return np.clip((low - b) / (a - b), 0, 1), np.clip((high - b) / (a - b), 0, 1)


def unclipped(count: Array, n: int, a: float, b: float, confidence: float) -> Limits:
    """Wilson's limits mapped without the clipped-count rule."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    half = z * np.sqrt(count * (n - count) / n + z * z / 4)
    return tuple(((count + z * z / 2 + sign * half) / (n + z * z) - b) / (a - b) for sign in (-1, 1))  # type: ignore[return-value]


def truncated_posterior(count: Array, n: int, a: float, b: float, confidence: float) -> Limits:
    """Jeffreys' posterior cut to [b, a], one-sided where the estimate is at an edge."""
    shares = (np.arange(4000) + 0.5) / 4000
    reported = b + (a - b) * shares
    logs = np.outer(count - 0.5, np.log(reported)) + np.outer(n - count - 0.5, np.log1p(-reported))
    cumulative = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
    cumulative /= cumulative[:, -1:]
    tail = (1 - confidence) / 2
    at_zero, at_one = count <= n * b, count >= n * a
    lower = np.where(at_zero, 0, np.where(at_one, 2 * tail, tail))
    upper = np.where(at_zero, 1 - 2 * tail, np.where(at_one, 1, 1 - tail))
    low = np.array([shares[min(np.searchsorted(row, at), 3999)] for row, at in zip(cumulative, lower, strict=True)])
    high = np.array([shares[min(np.searchsorted(row, at), 3999)] for row, at in zip(cumulative, upper, strict=True)])
    return np.where(at_zero, 0, low), np.where(at_one, 1, high)


def test_sweep_catches_a_missing_guard() -> None:
    """Without the two guards of one half, coverage is 0 at n = 1 with epsilon 5."""
    assert minimum(unguarded, CHANNELS["epsilon 5"], [1]) == pytest.approx(0, abs=1e-9)


def test_sweep_catches_unclipped_counts() -> None:
    """Without the clipped count, an interval lies wholly below 0: n = 20, x = 0 gives [-.50, -.18]."""
    low, high = unclipped(np.arange(21), 20, *COIN, 0.95)

    assert (round(low[0], 2), round(high[0], 2)) == (-0.50, -0.18)


def test_sweep_catches_a_truncated_posterior() -> None:
    """Cutting a posterior to the possible range covers only .602 just beside 0 (folk error 6)."""
    shares = np.linspace(0, 1, 401)
    counts = np.arange(21)

    assert coverage(truncated_posterior(counts, 20, *COIN, 0.95), 20, *COIN, shares).min() == pytest.approx(
        0.602, abs=0.01
    )


@pytest.mark.parametrize("told", [(0.75 * 1.04, 0.25), (0.75, 0.25 * 1.08), (0.75, 0.25 * 0.92), (2 / 3, 1 / 3)])
def test_sweep_catches_wrong_channels(told: tuple[float, float]) -> None:
    """A coin flip analysed with probabilities a few percent off falls below .95."""
    assert minimum(score_cc, COIN, SIZES, claimed=told) < 0.94


def test_sweep_catches_a_swapped_side() -> None:
    """Forced response with 1 - b and 1 - a in the places of a and b."""
    assert minimum(score_cc, FORCED, [50], claimed=(1 - FORCED[1], 1 - FORCED[0])) < 0.6


def test_sweep_catches_a_lower_level() -> None:
    """Limits made for 93 percent are found out."""
    assert minimum(lambda x, n, a, b, _: score_cc(x, n, a, b, 0.93), COIN, SIZES) < 0.95


def test_enumeration_adds_up() -> None:
    """The probabilities that all of this rests on sum to 1."""
    assert binomial(400, GRID * 0.5 + 0.25).sum(axis=1) == pytest.approx(1, abs=1e-11)
    assert np.exp(log_choose(5)) == pytest.approx([1, 5, 10, 10, 5, 1])
