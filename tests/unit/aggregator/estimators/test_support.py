import dataclasses
import math
from fractions import Fraction

import pytest
from sottovoce.aggregator.estimators import Estimate, IntervalRule, estimate
from sottovoce.aggregator.estimators.answered_shares import estimate_strata, merge, pool
from sottovoce.aggregator.estimators.intervals import METHODS, exact
from sottovoce.aggregator.estimators.means import ScoredChannel, estimate_mean
from sottovoce.aggregator.estimators.support import (
    DEFAULT_RULE,
    ShareEstimates,
    band,
    estimate_share,
    estimate_shares,
    poisoning,
)
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.hadamard_response import HadamardResponse
from sottovoce.shared.mechanisms.kary_rr import KaryRR

COIN = (Fraction(3, 4), Fraction(1, 4))
WARNER = (Fraction(2, 3), Fraction(1, 3))


def test_thirty_yes_of_a_hundred_coin_flips_is_ten_percent_and_never_a_point_alone() -> None:
    """Folk error 1: the point is 10 %, and its interval reaches to 30 %."""
    estimate = estimate_share("yes", 30, 100, *COIN)

    assert estimate.raw == 0.1
    assert estimate.clipped == 0.1
    assert (estimate.low, round(estimate.high, 4)) == (0.0, 0.3021)
    assert estimate.std_error == pytest.approx(2 * math.sqrt(0.3 * 0.7 / 99), abs=1e-15)
    assert estimate.std_error_fixed == pytest.approx(math.sqrt(3 / 400), abs=1e-15)


def test_raw_stays_outside_the_unit_and_clipped_does_not() -> None:
    """No yes at all under the coin flip: raw -1/2, shown as 0, and flagged."""
    estimate = estimate_share("yes", 0, 100, *COIN)

    assert (estimate.raw, estimate.clipped) == (-0.5, 0.0)
    assert estimate.implausible
    assert (estimate.low, round(estimate.high, 4)) == (0.0, 0.1968)


@pytest.mark.parametrize(("count", "alarm"), [(12, True), (13, False), (50, False), (87, False), (88, True)])
def test_implausible_is_beyond_three_standard_deviations_of_an_edge(count: int, alarm: bool) -> None:
    """With n = 100: 25 - 3 sqrt(18.75) = 12.01 and 75 + 3 sqrt(18.75) = 87.99."""
    assert estimate_share("yes", count, 100, *COIN).implausible is alarm


def test_fixed_error_is_the_same_for_every_share_of_a_symmetric_channel() -> None:
    """Coin flip 3/(4n), Warner 2/n, whatever p."""
    for count in (0, 30, 50, 90):
        assert estimate_share("yes", count, 100, *COIN).std_error_fixed == pytest.approx(math.sqrt(0.75 / 100))
        assert estimate_share("yes", count, 100, *WARNER).std_error_fixed == pytest.approx(math.sqrt(2 / 100))


def test_poisoning_takes_the_attackers_best_choice() -> None:
    """1 % fakes: 1.5 points for the coin flip, 11.2 for one option of eight; a strict channel suffers downwards."""
    assert estimate_share("yes", 30, 100, *COIN).poisoning == pytest.approx(0.015)
    assert round(poisoning(0.75, 0.25, DEFAULT_RULE.when_asked(Fraction(1, 8)).fakes), 3) == 0.112
    assert poisoning(0.95, 0.5) == pytest.approx(0.01 * 0.95 / 0.45)
    assert poisoning(0.25, 0.05) == pytest.approx(0.01 * 0.95 / 0.2)


def test_no_reports_say_nothing() -> None:
    nothing, one = estimate_share("yes", 0, 0, *COIN, IntervalRule(band=True)), estimate_share("yes", 1, 1, *COIN)

    assert (nothing.raw, nothing.clipped, nothing.std_error, nothing.std_error_fixed) == (None, None, None, None)
    assert (nothing.low, nothing.high, nothing.band_low, nothing.band_high) == (0.0, 1.0, 0.0, 1.0)
    assert not nothing.implausible
    assert one.std_error is None
    assert (one.low, one.high) == (0.0, 1.0)


@pytest.mark.parametrize("method", METHODS)
def test_estimate_uses_the_method_that_is_asked_for(method: str) -> None:
    estimate = estimate_share("yes", 400, 1000, *COIN, IntervalRule(method, 0.9))
    low, high = METHODS[method](400, 1000, 0.75, 0.25, 0.9)

    assert (float(low), float(high), method, 0.9) == (estimate.low, estimate.high, estimate.method, estimate.confidence)


def test_band_is_given_when_asked_for() -> None:
    assert estimate_share("yes", 30, 100, *COIN).band_low is None
    with_band = estimate_share("yes", 30, 100, *COIN, IntervalRule(band=True))

    assert band(30, 100, 0.75, 0.25, 0.95) == (with_band.band_low, with_band.band_high)


def test_options_carry_joint_limits_unless_there_is_one() -> None:
    mechanism = KaryRR(Fraction(3), 4)
    domain = Domain(("a", "b", "c", "d"))
    estimates = estimate(mechanism, {0: 40, 1: 30, 2: 20, 3: 10}, domain, IntervalRule(band=True))
    low, high = exact([40, 30, 20, 10], 100, 0.5, 1 / 6, 1 - 0.05 / 4)

    assert low == pytest.approx([e.simultaneous_low for e in estimates], abs=1e-14)
    assert high == pytest.approx([e.simultaneous_high for e in estimates], abs=1e-14)
    assert all(e.simultaneous_low <= e.low < e.high <= e.simultaneous_high for e in estimates)
    assert band(40, 100, 0.5, 1 / 6, 0.95, 4) == (estimates[0].band_low, estimates[0].band_high)
    assert sum(e.raw or 0 for e in estimates) == pytest.approx(1, abs=1e-12)

    (share,) = estimate(BinaryRR(*COIN), {0: 70, 1: 30}, Domain(("no", "yes")))

    assert (share.low, share.high) == (share.simultaneous_low, share.simultaneous_high)
    assert (share.count, share.n, share.option) == (30, 100, "yes")


def test_alarms_of_many_options_share_one_rate() -> None:
    """Three standard deviations for one option; among forty one it takes more."""
    counts = [160, *[21] * 39, 21]
    n = sum(counts)
    a, b = Fraction(3, 43), Fraction(1, 43)
    low = round(n * float(b) - 3.2 * math.sqrt(n * float(b) * (1 - float(b))))

    assert estimate_share("x", max(low, 0), n, a, b).implausible
    assert not estimate_shares(["x"] * 41, [max(low, 0)] * 41, n, a, b)[0].implausible


def test_sampled_options_have_reports_of_their_own() -> None:
    """Sizes may differ from option to option."""
    estimates = estimate_shares(["x", "y"], [30, 10], [100, 40], *COIN)

    assert [e.raw for e in estimates] == [0.1, 0.0]
    assert [e.n for e in estimates] == [100, 40]


def test_raw_is_the_exact_fraction_rounded_once() -> None:
    """No float is lost on the way, at any size."""
    a, b = Fraction(3139872685, 2**32), Fraction(1155094611, 2**32)
    for count, n in ((1, 3), (123_456_789, 987_654_321), (2**52 - 1, 2**52)):
        assert float((Fraction(count, n) - b) / (a - b)) == estimate_share("yes", count, n, a, b).raw


def test_estimate_keeps_the_fields_that_exports_write() -> None:
    """The export's names, in its order, come first."""
    names = [field.name for field in dataclasses.fields(Estimate)]

    assert names[:10] == ["option", "a", "b", "raw", "clipped", "std_error", "low", "high", "method", "confidence"]


@pytest.mark.parametrize(
    ("counts", "n", "a", "b"),
    [
        ([-1], 10, *COIN),
        ([11], 10, *COIN),
        ([1.5], 10, *COIN),
        ([1], math.nan, *COIN),
        ([1], 10, COIN[1], COIN[0]),
        ([1], 10, COIN[0], COIN[0]),
        ([1], 10, Fraction(3, 2), COIN[1]),
        ([1, 2], 10, *COIN),
        ([1], [10, 10], *COIN),
    ],
)
def test_impossible_counts_and_channels_are_refused(counts: list[int], n: int, a: Fraction, b: Fraction) -> None:
    with pytest.raises(EstimateError):
        estimate_shares(["yes"], counts, n, a, b)


@pytest.mark.parametrize(("method", "confidence"), [("wald", 0.95), ("exact", 0), ("exact", 1), ("exact", math.nan)])
def test_unknown_rules_are_refused(method: str, confidence: float) -> None:
    with pytest.raises(EstimateError):
        IntervalRule(method, confidence)


def test_a_question_without_options_is_refused() -> None:
    """There is nothing to share a level among."""
    with pytest.raises(EstimateError):
        estimate_shares([], [], 10, *COIN)


def test_shares_are_arrays_until_an_estimate_is_read() -> None:
    """Every array holds what the estimates say; a slice is a list; the band is computed for those who read it."""
    mechanism = HadamardResponse(Fraction(3), 5)
    tally = {0: 40, 1: 30, 3: 20, 6: 10}
    shares = estimate(mechanism, tally, Domain(tuple("abcde")), IntervalRule(band=True))
    assert isinstance(shares, ShareEstimates)
    estimates = list(shares)

    assert [e.option for e in estimates] == ["a", "b", "c", "d", "e"]
    assert shares.raw.tolist() == [e.raw for e in estimates]
    assert shares.single[0].tolist() == [e.low for e in estimates]
    assert shares.joint[1].tolist() == [e.simultaneous_high for e in estimates]
    assert shares[-1:] == estimates[-1:]
    assert shares[1] is estimates[1]
    assert (estimates[2].band_low, estimates[2].band_high) == band(
        estimates[2].count or 0, 100, *map(float, mechanism.support), 0.95, 5
    )


@pytest.mark.parametrize("tally", [{0: 1.5, 1: 2}, {0: -1, 1: 3}, {8: 1}, {-1: 1}])
def test_columns_that_cannot_be_are_refused(tally: dict[int, float]) -> None:
    """A part of a report, fewer than none, and columns that the matrix does not have."""
    with pytest.raises(EstimateError):
        estimate(HadamardResponse(Fraction(3), 5), tally, Domain(tuple("abcde")))  # type: ignore[arg-type]


FLIP, TWO_THIRDS = BinaryRR(Fraction(3, 4), Fraction(1, 4)), BinaryRR(Fraction(2, 3), Fraction(1, 3))
YES = Domain(("no", "yes"))
RATING = ScoredChannel.from_table((0.0, 1.0, 2.0), (-1.5, 1.0, 3.5), ((3, 1, 1), (1, 3, 1), (1, 1, 3)))


def test_equal_mechanisms_add_their_counts() -> None:
    """Two waves of one channel give what one tally would; the inputs stay as they were."""
    waves = [{0: 70, 1: 30}, {1: 12, 0: 8}]
    groups = merge([(FLIP, waves[0]), (TWO_THIRDS, {1: 1}), (FLIP, waves[1])])

    assert groups == [(FLIP, {0: 78, 1: 42}), (TWO_THIRDS, {1: 1})]
    assert waves == [{0: 70, 1: 30}, {1: 12, 0: 8}]
    assert [*estimate_strata([(FLIP, waves[0]), (FLIP, waves[1])], YES)] == [*estimate(FLIP, {0: 78, 1: 42}, YES)]


def test_different_mechanisms_are_weighted_by_inverse_variance() -> None:
    """Coin flip n = 300 and Warner n = 700, both at p = .2: weights .5043 and .4957, not .3 and .7."""
    (estimate,) = estimate_strata([(FLIP, {0: 195, 1: 105}), (TWO_THIRDS, {0: 420, 1: 280})], YES)
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
        strata = [(FLIP, {0: 20 - counts[0], 1: counts[0]}), (TWO_THIRDS, {0: 20 - counts[1], 1: counts[1]})]
        (estimate,) = estimate_strata(strata, YES)

        assert 0 <= estimate.low < estimate.high <= 1
        assert estimate.raw is not None
        assert estimate.clipped == min(max(estimate.raw, 0), 1)


def test_strata_without_reports_change_nothing() -> None:
    """A revision that nobody answered yet leaves the other's own estimate."""
    alone = estimate(FLIP, {0: 70, 1: 30}, YES)

    assert [*estimate_strata([(FLIP, {0: 70, 1: 30}), (TWO_THIRDS, {})], YES)] == [*alone]
    assert estimate_strata([(FLIP, {}), (TWO_THIRDS, {})], YES)[0].raw is None


def test_categories_are_pooled_option_by_option() -> None:
    strata = [(KaryRR(Fraction(3), 3), {0: 50, 1: 30, 2: 20}), (KaryRR(Fraction(7), 3), {0: 60, 1: 25, 2: 15})]
    estimates = estimate_strata(strata, Domain(("x", "y", "z")))

    assert [e.option for e in estimates] == ["x", "y", "z"]
    assert sum(e.raw or 0 for e in estimates) == pytest.approx(1, abs=0.02)
    assert all(e.simultaneous_low <= e.low < e.high <= e.simultaneous_high for e in estimates)


def test_means_are_pooled_by_the_noise_of_their_channels() -> None:
    parts = [estimate_mean("mean", {0: 10, 1: 20, 2: 30}, RATING), estimate_mean("mean", {0: 1, 1: 2, 2: 3}, RATING)]
    (whole,) = pool([[part] for part in parts])

    assert whole.raw == pytest.approx(parts[0].raw)
    assert whole.n == 66
    assert 0 <= whole.low < whole.high <= 2
    assert (whole.std_error or 9) < (parts[0].std_error or 0)


def test_strata_that_do_not_belong_together_are_refused() -> None:
    part = estimate_share("yes", 30, 100, FLIP.a, FLIP.b)
    mean = estimate_mean("mean", {0: 10, 2: 9}, RATING)
    for refuse in (lambda: estimate_strata([], YES), lambda: pool([]), lambda: pool([[part], [mean]])):
        with pytest.raises(EstimateError):
            refuse()


def test_rule_reaches_the_pooled_interval() -> None:
    strata = [(FLIP, {0: 195, 1: 105}), (TWO_THIRDS, {0: 420, 1: 280})]
    wide, narrow = (estimate_strata(strata, YES, IntervalRule(confidence=c))[0] for c in (0.95, 0.8))

    assert wide.low < narrow.low < narrow.high < wide.high
    assert narrow.confidence == 0.8
