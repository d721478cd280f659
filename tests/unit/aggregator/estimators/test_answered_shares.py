from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.estimators import public
from sottovoce.aggregator.estimators.answered_shares import answered_shares, ratio_limits, score_moments
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.support import IntervalRule
from sottovoce.shared.spec import Question

from tests.documents import names, parsed, question

MECHANISMS = [
    {"name": "kary_rr", "odds": "3"},
    {"name": "subset_selection", "odds": "3", "size": 2},
    {"name": "subset_selection", "odds": "2", "size": 3},
    {"name": "optimal_unary", "odds": "3"},
]


def with_absent(mechanism: dict[str, Any], options: int = 4) -> Question:
    return parsed(question(mechanism, "select_one", choices=names(options), absent_category=True))


def coin() -> Question:
    """A yes/no question through the coin flip that people may leave unanswered: 60, 20 and 20 % of reports."""
    return parsed(question({"name": "coin_flip"}, absent_category=True))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda each: "-".join(map(str, each.values())))
def test_moments_are_those_of_all_reports(mechanism: dict[str, Any]) -> None:
    """For each truth, E[(z_j - t (1 - z_absent))^2] summed over every possible report with its exact probability."""
    asked = with_absent(mechanism)
    [variable] = variables_of(asked)
    channel = asked.mechanism
    assert channel is not None
    reports = np.array([value for value in range(channel.largest + 1) if channel.admits(value)])
    scores = variable.scores(reports)
    truths = {0: 1, 1: 0, 2: len(asked.options) - 1}
    for t, (place, truth) in product((0.0, 0.3, 1.0), truths.items()):
        chances = np.array([float(channel.probability(int(report), truth)) for report in reports])
        h = scores[:, 1] - t * (1 - scores[:, -1])
        assert score_moments(variable, 1).ratio(t)[place] == pytest.approx(chances @ h**2, abs=1e-12)


def test_hadamard_moments_hold_on_average_over_the_other_options() -> None:
    """Three rows of a Hadamard matrix may be dependent, so single truths can differ."""
    asked = with_absent({"name": "hadamard_response", "odds": "3"}, 7)
    [variable] = variables_of(asked)
    channel = asked.mechanism
    reports = np.arange(channel.largest + 1)
    h = variable.scores(reports)[:, 1] - 0.4 * (1 - variable.scores(reports)[:, -1])
    means = [sum(float(channel.probability(int(y), x)) * h[y] ** 2 for y in reports) for x in (0, *range(2, 7))]

    assert score_moments(variable, 1).ratio(0.4)[1] == pytest.approx(np.mean(means), rel=0.02)


def test_public_answers_have_the_score_interval_of_those_who_answered() -> None:
    """Without noise the share is that of the subset, and so are its limits."""
    openly = {"type": "boolean", "name": "q", "label": {"en": "Q"}, "public": True}
    asked, alone = parsed({**openly, "absent_category": True}), parsed(openly)
    no, yes = answered_shares([(None, {0: 60, 1: 20, 2: 20})], asked.domain)
    subset = public.estimate({0: 60, 1: 20}, alone.domain)[1]

    assert (no.raw, yes.raw) == pytest.approx((0.75, 0.25))
    assert yes.low == pytest.approx(subset.low, abs=1e-3)
    assert yes.high == pytest.approx(subset.high, abs=1e-3)


def test_worked_example() -> None:
    """1,000 reports 360, 320, 320 through 60/20/20: .4, .3, .3, so 3 of 7 of those who answered said yes."""
    asked = coin()
    no, yes = answered_shares([(asked.mechanism, {0: 360, 1: 320, 2: 320})], asked.domain)

    assert (no.raw, yes.raw) == pytest.approx((4 / 7, 3 / 7))
    assert no.low == pytest.approx(1 - yes.high, abs=0.002)
    assert yes.low < 3 / 7 < yes.high
    assert (yes.option, yes.method, yes.n, yes.a, yes.count) == ("yes", "inversion", 1000, None, None)


@pytest.mark.parametrize("n", [10, 30])
def test_exact_coverage(n: int) -> None:
    """By enumeration of all counts of three reported values, for nine true shares and three that decline."""
    asked = coin()
    counts = [(no, yes, n - no - yes) for no in range(n + 1) for yes in range(n + 1 - no)]
    limits = {each: answered_shares([(asked.mechanism, dict(enumerate(each)))], asked.domain)[1] for each in counts}
    for declined, share in product((0.0, 0.05, 0.2), (0.0, 0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)):
        truth = np.array([(1 - declined) * (1 - share), (1 - declined) * share, declined])
        report = 0.2 + 0.4 * truth
        covered = sum(
            comb(n, no) * comb(n - no, yes) * float(np.prod(report ** np.array([no, yes, absent])))
            for no, yes, absent in counts
            if limits[no, yes, absent].low <= share <= limits[no, yes, absent].high
        )
        assert covered >= 0.94, (declined, share)


def test_everybody_declined_and_a_set_in_two_parts_limit_nothing() -> None:
    """The whole range, where next to nobody answered or the test accepts beyond a gap."""
    asked = coin()
    for estimate in answered_shares([(asked.mechanism, {0: 20, 1: 20, 2: 160})], asked.domain):
        assert (estimate.raw, estimate.clipped, estimate.low, estimate.high) == (None, None, 0.0, 1.0)

    assert ratio_limits(0.1, 1.0, lambda t: 0.0004 if t < 0.7 else 1.0, 0.0, 1.96) == (0.0, 1.0)
    low, high = ratio_limits(0.1, 1.0, lambda _: 0.0004, 0.0, 1.96)
    assert (low, high) == pytest.approx((0.0608, 0.1392))


def test_two_channels_are_pooled() -> None:
    """Revisions with other odds: between the two estimates, and narrower than each."""
    weak, strong = coin(), parsed(question({"name": "kary_rr", "odds": "6"}, absent_category=True))
    strata = [(weak.mechanism, {0: 360, 1: 320, 2: 320}), (strong.mechanism, {0: 500, 1: 300, 2: 200})]
    both = answered_shares(strata, weak.domain)[1]
    alone = [answered_shares([stratum], weak.domain)[1] for stratum in strata]
    raws = sorted(each.raw for each in alone if each.raw is not None)

    assert both.raw is not None
    assert raws[0] < both.raw < raws[1]
    assert both.high - both.low < min(each.high - each.low for each in alone)
    assert both.n == 2000


def test_band_of_an_open_survey_is_wider() -> None:
    """Limits that hold at every look, from the joint bands of all options."""
    asked = coin()
    [_, yes] = answered_shares([(asked.mechanism, {0: 360, 1: 320, 2: 320})], asked.domain, IntervalRule(band=True))

    assert yes.band_low is not None
    assert yes.band_high is not None
    assert yes.band_low <= yes.low < yes.high <= yes.band_high


def test_waves_of_the_same_people_have_wider_limits() -> None:
    """Their reports hang together through the truth."""
    asked = coin()
    strata = [(asked.mechanism, {0: 360, 1: 320, 2: 320})]
    once, twice = (answered_shares(strata, asked.domain, IntervalRule(waves=waves))[1] for waves in (1, 2))

    assert twice.low < once.low
    assert once.high < twice.high
