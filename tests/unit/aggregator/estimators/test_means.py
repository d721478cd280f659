import math

import pytest
from sottovoce.aggregator.estimators import IntervalRule
from sottovoce.aggregator.estimators.intervals import score_cc
from sottovoce.aggregator.estimators.means import ScoredChannel, estimate_mean
from sottovoce.shared.errors import EstimateError

RATING = ScoredChannel.from_table((0.0, 1.0, 2.0), (-1.5, 1.0, 3.5), ((3, 1, 1), (1, 3, 1), (1, 1, 3)))


def two_valued(low: float, high: float) -> ScoredChannel:
    """Rounding to one of two ends, then the coin flip: scores low - (high - low)/2 and high + (high - low)/2."""
    half = (high - low) / 2
    return ScoredChannel.from_table((low, high), (low - half, high + half), ((3, 1), (1, 3)))


@pytest.mark.parametrize("n", [1, 2, 7, 20, 100, 400])
def test_two_scores_give_the_interval_of_the_share(n: int) -> None:
    """For every count, and in any unit: score-cc, mapped."""
    channel = two_valued(10.0, 30.0)
    for count in range(0, n + 1, max(n // 20, 1)):
        estimate = estimate_mean("mean", {0: n - count, 1: count}, channel)
        low, high = score_cc(count, n, 0.75, 0.25, 0.95)

        assert (estimate.low, estimate.high) == pytest.approx((10 + 20 * float(low), 10 + 20 * float(high)), abs=1e-9)
        assert estimate.raw == pytest.approx(10 + 20 * (2 * count / n - 0.5))


def test_mean_is_in_its_unit_and_flagged_outside_its_range() -> None:
    estimate = estimate_mean("mean", {0: 20, 1: 30, 2: 50}, RATING)
    scores = [-1.5] * 20 + [1.0] * 30 + [3.5] * 50
    mean = sum(scores) / 100

    assert estimate.raw == pytest.approx(mean)
    assert estimate.std_error == pytest.approx(math.sqrt(sum((z - mean) ** 2 for z in scores) / 99 / 100))
    assert (estimate.lowest, estimate.highest) == (0.0, 2.0)
    assert estimate.poisoning == pytest.approx(0.035)
    assert (estimate.a, estimate.b, estimate.count, estimate.n) == (None, None, None, 100)

    estimate = estimate_mean("mean", {2: 100}, RATING)

    assert (estimate.raw, estimate.clipped, estimate.high) == (3.5, 2.0, 2.0)
    assert estimate.implausible
    assert estimate.low < 2.0
    assert not estimate_mean("mean", {0: 20, 1: 20, 2: 60}, RATING).implausible


def test_variance_is_the_envelope_of_the_second_moments() -> None:
    """By hand for the rating: E z^2 = 4, 3.5, 9 at 0, 1, 2; the middle lies below the chord."""
    second = [(3 * 2.25 + 1 + 12.25) / 5, (2.25 + 3 + 12.25) / 5, (2.25 + 1 + 3 * 12.25) / 5]

    assert RATING.second_moments == pytest.approx(second)
    assert RATING.variance(1.0) == pytest.approx((second[0] + second[2]) / 2 - 1)
    assert RATING.variance(0.0) == pytest.approx(second[0])
    assert RATING.gap == 2.5


def test_no_reports_give_the_whole_range() -> None:
    """N = 0 has no point; n = 1 no i.i.d. error."""
    nothing, one = estimate_mean("mean", {}, RATING), estimate_mean("mean", {1: 1}, RATING)

    assert (nothing.raw, nothing.clipped, nothing.std_error, nothing.low, nothing.high) == (None, None, None, 0.0, 2.0)
    assert one.std_error is None
    assert one.low < one.high


def test_joint_limits_of_coordinates_are_wider() -> None:
    """A vector of four means: each at alpha / 4."""
    alone = estimate_mean("mean", {0: 20, 1: 30, 2: 50}, RATING)
    of_four = estimate_mean("mean", {0: 20, 1: 30, 2: 50}, RATING, means=4)
    strict = estimate_mean("mean", {0: 20, 1: 30, 2: 50}, RATING, IntervalRule(confidence=1 - 0.05 / 4))

    assert (alone.low, alone.high) == (alone.simultaneous_low, alone.simultaneous_high)
    assert (of_four.simultaneous_low, of_four.simultaneous_high) == (strict.low, strict.high)
    assert of_four.simultaneous_low < of_four.low


@pytest.mark.parametrize("tally", [{3: 1}, {-1: 1}, {0: -1}])
def test_impossible_tallies_are_refused(tally: dict[int, int]) -> None:
    with pytest.raises(EstimateError):
        estimate_mean("mean", tally, RATING)


@pytest.mark.parametrize(
    ("levels", "scores", "table"),
    [
        ((0.0,), (1.0,), ((1,),)),
        ((1.0, 0.0), (-0.5, 1.5), ((3, 1), (1, 3))),
        ((0.0, 1.0), (-0.5,), ((3, 1), (1, 3))),
        ((0.0, 1.0), (-0.4, 1.5), ((3, 1), (1, 3))),
        ((0.0, 1.0), (math.nan, 1.5), ((3, 1), (1, 3))),
        ((0.0, 1.0), (-0.5, 1.5), ((3, 1), (0, 0))),
        ((0.0, 1.0), (-0.5, 1.5), ((3, 1), (1, 3), (1, 3))),
    ],
)
def test_impossible_channels_are_refused(
    levels: tuple[float, ...], scores: tuple[float, ...], table: tuple[tuple[int, ...], ...]
) -> None:
    with pytest.raises(EstimateError):
        ScoredChannel.from_table(levels, scores, table)
