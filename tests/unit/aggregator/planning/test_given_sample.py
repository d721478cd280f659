import math

import numpy as np
import pytest
from sottovoce.aggregator import mixture
from sottovoce.aggregator.planning.question_channels import DIRECT, ShareChannel, measure_of
from sottovoce.aggregator.planning.sample_size import design_power, odds_ratio_of_two, one_sample, two_groups
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey

from tests.commands import run
from tests.documents import names, survey
from tests.unit.aggregator.analysis.mixtures.test_fielded import CHEATERS, EXAMPLES, UNKNOWN
from tests.unit.aggregator.analysis.survey_of_reports import COIN, asked

LEVELS = (0.95, 0.8)
FLIP = ShareChannel(0.75, 0.25)
ASKS = parse_survey(
    survey(
        asked("g", "boolean", None),
        asked("y", "boolean", COIN),
        asked("age", "integer", None, min=0, max=9),
        asked("third", "select_one", None, choices=names(3)),
    )
)


def test_open_questions_take_the_textbooks_numbers() -> None:
    """A mean of 5 against a known 6, and two groups of .3 and .5 with unpooled variance, by hand."""
    scale = measure_of(ASKS.questions[2])
    by_hand = (1.959964 * math.sqrt(scale.variance(6)) + 0.841621 * math.sqrt(scale.variance(5))) ** 2
    assert one_sample(scale, 6, 5, LEVELS, None).reports == math.ceil(by_hand)
    assert two_groups(DIRECT, (0.3, 0.5), LEVELS, None).reports == math.ceil(2.801585**2 * 0.46 / 0.04)


def test_needed_reports_have_the_wanted_power() -> None:
    for plan in (
        lambda n: one_sample(FLIP, 0.15, 0.1, LEVELS, n),
        lambda n: two_groups(FLIP, (0.1, 0.15), LEVELS, n),
        lambda n: odds_ratio_of_two(ASKS, (ASKS.questions[0], ASKS.questions[1]), 1.5, 0.8, n),
    ):
        needed = plan(None).reports
        assert plan(needed).power == pytest.approx(0.8, abs=0.002)
        assert (plan(needed // 2).power or 1) < 0.6


def test_one_sample_power_is_that_of_simulated_tests() -> None:
    """Coin flips, 10,000 samples of 1,500 reports, true .2 against a known .3."""
    reported = np.random.default_rng(5).binomial(1500, 0.25 + 0.5 * 0.2, 10_000) / 1500
    null = 0.25 + 0.5 * 0.3
    rejected = np.abs(reported - null) > 1.959964 * math.sqrt(null * (1 - null) / 1500)
    assert one_sample(FLIP, 0.3, 0.2, LEVELS, 1500).power == pytest.approx(rejected.mean(), abs=0.015)


@pytest.mark.parametrize("channel", [FLIP, DIRECT])
@pytest.mark.parametrize(("known", "expected"), [(0, 0.1), (0, 0.4), (1, 0.9), (1, 0.6), (0.3, 0.6), (0.5, 0.4)])
def test_known_shares_are_planned_for_the_exact_test(channel: ShareChannel, known: float, expected: float) -> None:
    """The chance of all counts with p up to .05, of one side for nobody and everybody, is .8, and is not with one less.

    The formula says 32 coin flips for .4 against 0, which have .749, and 4 open answers, which have .870.
    """

    def power(n: int) -> float:
        ways = [math.comb(n, k) for k in range(n + 1)]
        null, true = (
            [way * p**k * (1 - p) ** (n - k) for k, way in enumerate(ways)]
            for p in (channel.reported(share) for share in (known, expected))
        )
        other = {0: lambda k: null[k:], 1: lambda k: null[: k + 1]}
        likely = other.get(
            int(known) if known in {0, 1} else 2, lambda k: [p for p in null if p <= null[k] * (1 + 1e-7)]
        )
        return math.fsum(chance for k, chance in enumerate(true) if math.fsum(likely(k)) <= 0.05)

    n = one_sample(channel, known, expected, LEVELS, None).reports
    assert power(n) >= 0.8 > power(n - 1)
    assert one_sample(channel, known, expected, LEVELS, n + 3).power == pytest.approx(power(n + 3))


def test_smallest_odds_ratio_is_found_with_the_wanted_power() -> None:
    both = ASKS.questions[0], ASKS.questions[1]
    found = odds_ratio_of_two(ASKS, both, 2, 0.8, 2000)
    assert found.smallest is not None
    assert odds_ratio_of_two(ASKS, both, found.smallest, 0.8, None).reports == pytest.approx(2000, abs=1)
    assert odds_ratio_of_two(ASKS, both, 2, 0.8, 3).smallest is None


@pytest.mark.parametrize("shares", [(0.2, 0.2), (0.1, 0.4)])
def test_odds_ratio_is_found_with_the_promised_power(shares: tuple[float, float]) -> None:
    """Coin flips of both, 4,000 samples of the planned reports; the test is n times the squared correlation."""
    share, other = shares
    flips = parse_survey(survey(asked("x", "boolean", COIN), asked("y", "boolean", COIN)))
    planned = odds_ratio_of_two(flips, (flips.questions[0], flips.questions[1]), 2, 0.8, None, shares)
    low, high = 0.0, min(shares)
    for _ in range(60):
        both = (low + high) / 2
        ratio = both * (1 - share - other + both) / ((share - both) * (other - both))
        low, high = (low, both) if ratio > 2 else (both, high)
    true = np.array([[1 - share - other + both, other - both], [share - both, both]])
    flip = np.array([[0.75, 0.25], [0.25, 0.75]])
    # Of yes and no: P(reported | true), summed over the truth.
    counts = np.random.default_rng(7).multinomial(planned.reports, (flip.T @ true @ flip).ravel(), 4000).astype(float)
    rows, columns = counts[:, 2] + counts[:, 3], counts[:, 1] + counts[:, 3]
    n = planned.reports
    squared = (counts[:, 3] * n - rows * columns) ** 2 / (rows * (n - rows) * columns * (n - columns))
    assert np.mean(n * squared > 3.841459) == pytest.approx(0.8, abs=0.02)
    assert f"({share:g})" in planned.effect
    assert f"({other:g})" in planned.effect


def test_impossible_plans_are_refused() -> None:
    with pytest.raises(EstimateError, match="above 0 and not 1"):
        odds_ratio_of_two(ASKS, (ASKS.questions[0], ASKS.questions[1]), 1, 0.8, None)
    with pytest.raises(EstimateError, match="between 0 and 1"):
        odds_ratio_of_two(ASKS, (ASKS.questions[0], ASKS.questions[1]), 2, 0.8, None, (0.2, 1.0))
    with pytest.raises(EstimateError, match="two questions with categories"):
        odds_ratio_of_two(ASKS, (ASKS.questions[2], ASKS.questions[1]), 2, 0.8, None)
    with pytest.raises(EstimateError, match="must differ"):
        one_sample(FLIP, 0.1, 0.1, LEVELS, None)
    with pytest.raises(EstimateError, match="must lie in"):
        two_groups(FLIP, (0.1, 1.5), LEVELS, None)

    first, second, arm = CHEATERS.questions
    for pair, shares in (((first, second), (0.5, 0.6)), ((first, second), (0.1, 0.2)), ((first, arm), (0.2, 0.2)),
                         ((arm, first), (0.2, 0.2))):  # fmt: skip
        with pytest.raises(EstimateError):
            design_power(CHEATERS, pair, shares, 0.1, USUAL, None)


USUAL = (0.95, 0.8)

ODDS = [(1 / 12, 5 / 12), (5 / 12, 1 / 12)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("survey", "shares", "known", "design", "p", "chances"),
    [
        (CHEATERS, (.2, .3), .1, "cheater_detection_symmetric", ODDS, [.2 * (1 - no) + .5 * yes for yes, no in ODDS]),
        (CHEATERS, (.2, .15), .3, "cheater_detection_symmetric", ODDS, [.2 * (1 - no) + .65 * yes for yes, no in ODDS]),
        (UNKNOWN, (.2, .4), .1, "unrelated_unknown", [1 / 3, 2 / 3], [p * .2 + (1 - p) * .4 for p in (1 / 3, 2 / 3)]),
    ],
)  # fmt: skip
def test_planned_people_tell_the_shares_apart(survey, shares, known, design, p, chances) -> None:  # type: ignore[no-untyped-def]
    """In 400 studies of so many people, limits leave the known share out in about 80 of 100."""
    planned = design_power(survey, survey.questions[:2], shares, known, USUAL, None).reports
    dice, half, found, runs = np.random.default_rng(7), planned // 2, 0, 400
    for _ in range(runs):
        yes = [int(dice.binomial(half, chance)) for chance in chances]
        pi = mixture(design, p, yes, [half, half]).document["shares"]["pi"]
        found += not pi["low"] <= known <= pi["high"]
    assert found / runs == pytest.approx(USUAL[1], abs=0.06)
    power = design_power(survey, survey.questions[:2], shares, known, USUAL, planned).power
    assert power == pytest.approx(0.8, abs=0.005)


def test_plan_prints_people_and_power() -> None:
    words = ["plan", str(EXAMPLES / "cheater_detection.yaml"), "--question", "copied_rare", "--with", "copied_often"]
    words += ["--known", "0.1", "-p", "0.2", "--with-prevalence", "0.15", "--n", "1000"]
    shown = run(*words).stdout
    assert "1,306 reports find 0.2 against 0.1, with a second share of 0.15, in cheater_detection, in both" in shown
    assert "1,000 reports find it with power 70%" in shown


@pytest.mark.parametrize("more", [[], ["--n", "1000"], ["--odds-ratio", "2"], ["-p", "0.2", "--against", "0.1"]])
def test_plan_of_a_design_without_a_known_share_says_how_to_plan_it(more: list[str]) -> None:
    """Its two questions are one, so they have no odds ratio, no table and no difference."""
    words = ["plan", str(EXAMPLES / "cheater_detection.yaml"), "--question", "copied_often", "--with", "copied_rare"]
    refused = run(*words, *more)
    assert refused.exit_code != 0
    assert "groups of the design cheater_detection: plan it with --known" in refused.stderr
