"""The uncertainty of an innocuous share is in the intervals."""

from fractions import Fraction

import numpy as np
import pytest
from sottovoce.aggregator.estimators.pooling import estimate_strata
from sottovoce.aggregator.estimators.support import IntervalRule
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR, channel

YES_NO = Domain(("no", "yes"))


def made(procedure: str, share: str, error: str, truth: str = "1") -> InnocuousRR:
    """A channel with an uncertain share."""
    numbers = [Fraction(each) for each in (share, error, truth)]
    return InnocuousRR(*channel(procedure, numbers[0], numbers[2]), procedure, *numbers)


DESIGNS = [("crosswise", "1/4", "1"), ("crosswise", "4/5", "1"), ("unrelated_question", "1/3", "1/2")]


@pytest.mark.parametrize(("procedure", "share", "truth"), DESIGNS)
def test_slope_is_the_derivative_of_the_estimate(procedure: str, share: str, truth: str) -> None:
    """By a small change of the share, the counts being the same."""
    step = Fraction(1, 100_000)
    tally = {0: 700, 1: 300}
    low, mid, high = (
        estimate_strata([(made(procedure, str(Fraction(share) + move), "0", truth), tally)], YES_NO)[0].raw
        for move in (-step, 0, step)
    )
    if Fraction(share) > Fraction(1, 2) and procedure == "crosswise":
        tally = {0: 300, 1: 700}
    slope = made(procedure, share, "0", truth).slope(mid)
    assert (high - low) / float(2 * step) == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize(("procedure", "share", "truth"), DESIGNS)
def test_intervals_cover_with_an_uncertain_share(procedure: str, share: str, truth: str) -> None:
    """2,000 surveys of 1,000 people, whose facts have another share each time; without its error the limits miss."""
    generator = np.random.default_rng(20261127)
    error, rule = "1/40", IntervalRule()
    known, exact = made(procedure, share, error, truth), made(procedure, share, "0", truth)
    covered, bare = 0, 0
    for _ in range(2000):
        real = Fraction(generator.normal(float(known.share), float(known.std_error))).limit_denominator(10**6)
        a, b = (float(each) for each in channel(procedure, real, known.truth))
        count = int(generator.binomial(1000, b + (a - b) * 0.2))
        tally = {0: 1000 - count, 1: count}
        wide, narrow = (estimate_strata([(each, tally)], YES_NO, rule)[0] for each in (known, exact))
        covered += wide.low <= 0.2 <= wide.high
        bare += narrow.low <= 0.2 <= narrow.high
    assert 0.94 <= covered / 2000 <= 0.985
    assert bare < covered


def test_exact_share_changes_nothing() -> None:
    """Limits and standard error are those of the counts."""
    plain = estimate_strata([(made("crosswise", "1/4", "0"), {0: 60, 1: 40})], YES_NO)[0]
    wide = estimate_strata([(made("crosswise", "1/4", "1/100"), {0: 60, 1: 40})], YES_NO, IntervalRule(band=True))[0]
    assert plain.raw == wide.raw
    assert wide.low <= plain.low < plain.high < wide.high
    assert wide.band_low is not None
    assert wide.band_low <= wide.low
    assert wide.simultaneous_high > wide.high
