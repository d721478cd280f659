"""The uncertainty of an innocuous share is in the intervals."""

import math
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from sottovoce.aggregator.estimators.pooling import estimate_strata
from sottovoce.aggregator.estimators.support import IntervalRule
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR, channel

YES_NO = Domain(("no", "yes"))


def made(procedure: str, share: str, error: str, truth: str = "1") -> InnocuousRR:
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


def covered(procedure: str, share: str, truth: str, samples: int) -> tuple[float, float]:
    """Shares of surveys of 1,000 people, whose facts have another share each time, that limits cover; if taken as
    exact.
    """
    generator = np.random.default_rng(20261127)
    error, rule = "1/40", IntervalRule()
    known, exact = made(procedure, share, error, truth), made(procedure, share, "0", truth)
    inside = np.zeros(2)
    for _ in range(samples):
        real = Fraction(generator.normal(float(known.share), float(known.std_error))).limit_denominator(10**6)
        a, b = (float(each) for each in channel(procedure, real, known.truth))
        count = int(generator.binomial(1000, b + (a - b) * 0.2))
        found = (estimate_strata([(each, {0: 1000 - count, 1: count})], YES_NO, rule)[0] for each in (known, exact))
        inside += [each.low <= 0.2 <= each.high for each in found]
    return inside[0] / samples, inside[1] / samples


@pytest.mark.slow
@pytest.mark.parametrize(("procedure", "share", "truth"), DESIGNS)
def test_intervals_cover_in_many_samples(procedure: str, share: str, truth: str) -> None:
    """At least .9345 of 2,000 samples; without the error of the share the limits miss."""
    wide, bare = covered(procedure, share, truth, 2000)
    assert 0.9345 <= wide <= 0.985
    assert bare < wide


def test_share_is_one_parameter_of_all_revisions() -> None:
    """Pooling two revisions with one fact leaves the part of its error; counts alone would halve it."""
    known = [made("unrelated_question", "1/3", error, truth) for error in ("1/20", "0") for truth in ("1/2", "2/3")]
    tally = {0: 700_000, 1: 300_000}
    wide, exact = (estimate_strata([(each, tally) for each in some], YES_NO)[0] for some in (known[:2], known[2:]))
    u = [
        estimate_strata([(replace(each, a=a, b=b, share=each.share + move), tally) for each in known[2:]
                         for a, b in [channel(each.procedure, each.share + move, each.truth)]], YES_NO)[0].raw
        for move in (-Fraction(1, 1000), Fraction(1, 1000))
    ]  # fmt: skip
    assert wide.std_error == pytest.approx(math.hypot(exact.std_error, (u[1] - u[0]) * 25), rel=0.01)


@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize("count", [330, 400, 600])
def test_limits_are_those_of_the_profile_likelihood(confidence: float, count: int) -> None:
    """Within a fiftieth of their width, where the share of the fact enters as a curve; without the share's error."""
    known = made("crosswise", "1/3", "1/25")
    limits = estimate_strata([(known, {0: 1000 - count, 1: count})], YES_NO, IntervalRule("wilson", confidence))[0]
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    u = np.linspace(-3.5, 3.5, 1401)[:, None]
    pi = np.linspace(0, 1, 2001)
    p = 1 / 3 + u / 25
    told = p + (1 - 2 * p) * pi
    likelihood = (count * np.log(told) + (1000 - count) * np.log1p(-told) - u**2 / 2).max(axis=0)
    inside = pi[likelihood >= likelihood.max() - z**2 / 2]
    assert limits.low == pytest.approx(inside[0], abs=(inside[-1] - inside[0]) / 50)
    assert limits.high == pytest.approx(inside[-1], abs=(inside[-1] - inside[0]) / 50)


@pytest.mark.parametrize("tally", [{0: 5, 1: 1}, {0: 20, 1: 14}, {0: 2, 1: 40}, {0: 900, 1: 300}])
@pytest.mark.parametrize("numbers", [("crosswise", "1/4", "1"), ("crosswise", "2/5", "1"), DESIGNS[2]])
def test_limits_are_the_outermost_of_all_shares(numbers: tuple[str, str, str], tally: dict[int, int]) -> None:
    """To a two-thousandth, though few of the shares are tried."""
    procedure, share, truth = numbers
    known = made(procedure, share, "1/40", truth)
    limits = estimate_strata([(known, tally)], YES_NO)[0]
    z, ends = NormalDist().inv_cdf(0.975), []
    for degrees in range(-84, 85):
        moved = known.share + Fraction(z * math.sin(math.radians(degrees))) / 40
        moved = min(moved, Fraction(499, 1000)) if procedure == "crosswise" else moved
        exact = made(procedure, str(moved.limit_denominator(10**5)), "0", truth)
        level = 2 * NormalDist().cdf(z * math.cos(math.radians(degrees))) - 1
        ends.append(estimate_strata([(exact, tally)], YES_NO, IntervalRule(confidence=level))[0])
    assert limits.low == pytest.approx(min(each.low for each in ends), abs=5e-4)
    assert limits.high == pytest.approx(max(each.high for each in ends), abs=5e-4)


def test_exact_share_changes_nothing() -> None:
    """Limits and standard error are those of the counts."""
    plain = estimate_strata([(made("crosswise", "1/4", "0"), {0: 60, 1: 40})], YES_NO)[0]
    wide = estimate_strata([(made("crosswise", "1/4", "1/100"), {0: 60, 1: 40})], YES_NO, IntervalRule(band=True))[0]
    assert plain.raw == wide.raw
    assert wide.low <= plain.low < plain.high < wide.high
    assert wide.band_low is not None
    assert wide.band_low <= wide.low
    # The two answers of a yes/no question have one share, so that its limits hold for both, as those of an exact share.
    assert (plain.simultaneous_high, wide.simultaneous_high) == (plain.high, wide.high)
