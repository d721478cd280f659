"""Strata: equal channels add, others are weighted, and what cannot be pooled is refused."""

import math
from fractions import Fraction

import pytest
from sottovoce.aggregator.estimators import IntervalRule, estimate
from sottovoce.aggregator.estimators.means import ScoredChannel, estimate_mean
from sottovoce.aggregator.estimators.pooling import combine, estimate_strata, merge, pool
from sottovoce.aggregator.estimators.support import estimate_share
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.kary_rr import KaryRR

COIN, WARNER = BinaryRR(Fraction(3, 4), Fraction(1, 4)), BinaryRR(Fraction(2, 3), Fraction(1, 3))
YES = Domain(("no", "yes"))
RATING = ScoredChannel.from_table((0.0, 1.0, 2.0), (-1.5, 1.0, 3.5), ((3, 1, 1), (1, 3, 1), (1, 1, 3)))


def test_equal_mechanisms_add_their_counts() -> None:
    """Two waves of one channel give what one tally would; the inputs stay as they were."""
    waves = [{0: 70, 1: 30}, {1: 12, 0: 8}]
    groups = merge([(COIN, waves[0]), (WARNER, {1: 1}), (COIN, waves[1])])

    assert groups == [(COIN, {0: 78, 1: 42}), (WARNER, {1: 1})]
    assert waves == [{0: 70, 1: 30}, {1: 12, 0: 8}]
    assert estimate_strata([(COIN, waves[0]), (COIN, waves[1])], YES) == estimate(COIN, {0: 78, 1: 42}, YES)


def test_different_mechanisms_are_weighted_by_inverse_variance() -> None:
    """Coin flip n = 300 and Warner n = 700, both at p = .2: weights .5043 and .4957, not .3 and .7."""
    (estimate,) = estimate_strata([(COIN, {0: 195, 1: 105}), (WARNER, {0: 420, 1: 280})], YES)
    variances = 0.35 * 0.65 / (300 / 4), 0.4 * 0.6 / (700 / 9)
    share = variances[1] / sum(variances)

    assert estimate.raw == pytest.approx(0.2, abs=1e-12)
    assert estimate.std_error == pytest.approx(math.sqrt(share * variances[0]), rel=1e-3)
    assert (estimate.a, estimate.b, estimate.count, estimate.n, estimate.method) == (None, None, None, 1000, "pooled")
    assert estimate.low < 0.2 < estimate.high
    assert estimate.poisoning == pytest.approx(0.01 * max(1.5 * share / 0.3, 2 * (1 - share) / 0.7), rel=1e-3)


def test_pooled_estimates_stay_within_the_unit_at_the_edges() -> None:
    """Strata that point beyond 0 and 1 give an interval inside, and raw stays outside."""
    for counts in ((0, 0), (20, 20), (0, 20)):
        strata = [(COIN, {0: 20 - counts[0], 1: counts[0]}), (WARNER, {0: 20 - counts[1], 1: counts[1]})]
        (estimate,) = estimate_strata(strata, YES)

        assert 0 <= estimate.low < estimate.high <= 1
        assert estimate.raw is not None
        assert estimate.clipped == min(max(estimate.raw, 0), 1)


def test_strata_without_reports_change_nothing() -> None:
    """A revision that nobody answered yet leaves the other's own estimate."""
    alone = estimate(COIN, {0: 70, 1: 30}, YES)

    assert estimate_strata([(COIN, {0: 70, 1: 30}), (WARNER, {})], YES) == alone
    assert estimate_strata([(COIN, {}), (WARNER, {})], YES)[0].raw is None


def test_categories_are_pooled_option_by_option() -> None:
    """Raw shares, pooled with weights of their own, and joint limits wider than single ones."""
    strata = [(KaryRR(Fraction(3), 3), {0: 50, 1: 30, 2: 20}), (KaryRR(Fraction(7), 3), {0: 60, 1: 25, 2: 15})]
    estimates = estimate_strata(strata, Domain(("x", "y", "z")))

    assert [e.option for e in estimates] == ["x", "y", "z"]
    assert sum(e.raw or 0 for e in estimates) == pytest.approx(1, abs=0.02)
    assert all(e.simultaneous_low <= e.low < e.high <= e.simultaneous_high for e in estimates)


def test_means_are_pooled_by_the_noise_of_their_channels() -> None:
    """In the number's unit, within its range."""
    parts = [estimate_mean("mean", {0: 10, 1: 20, 2: 30}, RATING), estimate_mean("mean", {0: 1, 1: 2, 2: 3}, RATING)]
    (whole,) = pool([[part] for part in parts])

    assert whole.raw == pytest.approx(parts[0].raw)
    assert whole.n == 66
    assert 0 <= whole.low < whole.high <= 2
    assert (whole.std_error or 9) < (parts[0].std_error or 0)


def test_weighted_shares_use_raw_values() -> None:
    """.7 of -1/2 and .3 of 1/2: the negative stratum counts in full; weights are scaled."""
    low = estimate_share("yes", 0, 50, COIN.a, COIN.b)
    middle = estimate_share("yes", 25, 50, COIN.a, COIN.b)
    whole = combine([low, middle], [7, 3], "all")

    assert whole.raw == pytest.approx(0.7 * -0.5 + 0.3 * 0.5)
    assert (whole.option, whole.clipped, whole.n) == ("all", 0.0, 100)
    assert whole.implausible


@pytest.mark.parametrize("weights", [[1.0], [0.0, 0.0], [-1.0, 2.0], [math.nan, 1.0], [math.inf, 1.0]])
def test_impossible_weights_are_refused(weights: list[float]) -> None:
    """One for each stratum, finite, not negative, not all 0."""
    part = estimate_share("yes", 30, 100, COIN.a, COIN.b)
    with pytest.raises(EstimateError):
        combine([part, part], weights, "all")


def test_strata_that_do_not_belong_together_are_refused() -> None:
    """No stratum, other options, a single report with a weight, a mean among shares."""
    part, one = estimate_share("yes", 30, 100, COIN.a, COIN.b), estimate_share("yes", 1, 1, COIN.a, COIN.b)
    mean = estimate_mean("mean", {0: 10, 2: 9}, RATING)
    for refuse in (
        lambda: estimate_strata([], YES),
        lambda: pool([]),
        lambda: pool([[part], [mean]]),
        lambda: combine([part, one], [1, 1], "all"),
        lambda: combine([part, mean], [1, 1], "all"),
    ):
        with pytest.raises(EstimateError):
            refuse()


def test_rule_reaches_the_pooled_interval() -> None:
    """A lower confidence gives a shorter interval."""
    strata = [(COIN, {0: 195, 1: 105}), (WARNER, {0: 420, 1: 280})]
    wide, narrow = (estimate_strata(strata, YES, IntervalRule(confidence=c))[0] for c in (0.95, 0.8))

    assert wide.low < narrow.low < narrow.high < wide.high
    assert narrow.confidence == 0.8
