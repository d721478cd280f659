import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest
from numpy.random import Generator
from sottovoce.aggregator.estimators.answered_shares import StratumTally, estimate_strata
from sottovoce.aggregator.estimators.careless.anchors import AnchorShare, Careless, anchor_share, corrected_shares
from sottovoce.aggregator.estimators.support import Estimate, IntervalRule
from sottovoce.shared.answers import Domain, random_answers
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR, channel
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Question

from tests.surveys import document

CHANNELS = ("coin", "odds20", "public")
ODDS = {"coin": "3", "odds20": "20"}


def _question(channel: str, *, declines: bool, name: str = "q") -> Question:
    asked = {"type": "boolean", "name": name, "label": {"en": "Q"}}
    if declines:
        asked["absent_category"] = True
    if channel == "public":
        asked["public"] = True
    elif declines:
        asked["mechanism"] = {"name": "kary_rr", "odds": ODDS[channel]}
    else:
        asked["mechanism"] = {"name": "warner", "truth": f"{ODDS[channel]}/{int(ODDS[channel]) + 1}"}
    return parse_survey(document(questions=[asked])).questions[0]


def _rows(mechanism: Mechanism | None, size: int) -> np.ndarray:
    if mechanism is None:
        return np.eye(size)
    weights = np.array([mechanism.weights(value) for value in range(size)], float)
    return weights / weights.sum(axis=1, keepdims=True)


class _People:
    """People of whom a share is careless: tallies of a question and of an anchor with the true share 0."""

    def __init__(self, question: Question, anchor: Question, yes: float, careless: float) -> None:
        self.question, self.anchor, self.yes, self.careless = question, anchor, yes, careless
        declined = 0.05 if question.domain.absent else 0.0
        ways = [declined] if declined else []
        self.careful = np.array([(1 - declined) * (1 - yes), (1 - declined) * yes, *ways])
        self.truthful = np.array([1 - declined, 0.0, *ways])

    def tallies(self, n: int, draws: Generator | None = None) -> tuple[StratumTally, StratumTally]:
        """Return the strata of question and anchor; their expectations without ``draws``."""
        sent = []
        careless = self.careless * n if draws is None else float(draws.binomial(n, self.careless))
        for asked, careful in ((self.question, self.careful), (self.anchor, self.truthful)):
            rows = _rows(asked.mechanism, asked.domain.size)
            at_random = np.array([float(each) for each in random_answers(asked.domain, asked.absent)])
            parts = ((n - careless, careful @ rows), (careless, at_random @ rows))
            if draws is None:
                counts = np.sum([people * shares for people, shares in parts], axis=0).round().astype(int)
            else:
                counts = np.sum([draws.multinomial(int(people), shares) for people, shares in parts], axis=0)
            sent.append((asked.mechanism, dict(enumerate(counts.tolist()))))
        return sent[0], sent[1]


def _estimates(people: _People, tallies: tuple[StratumTally, StratumTally]) -> tuple[Careless, Estimate]:
    found = anchor_share(people.anchor, Fraction(0), [tallies[1]])
    assert found is not None
    careless, asked = Careless((found,)), people.question
    return careless, corrected_shares([tallies[0]], asked.domain, asked.absent, careless)[-1]


@pytest.mark.parametrize("question", CHANNELS)
@pytest.mark.parametrize("anchor", CHANNELS)
@pytest.mark.parametrize("declines", [False, True])
def test_expected_counts_give_the_truth(question: str, anchor: str, declines: bool) -> None:
    """Without correction a true .05 would be .095 with 10 % careless people and two options."""
    people = _People(_question(question, declines=declines), _question(anchor, declines=declines), 0.05, 0.1)
    careless, yes = _estimates(people, people.tallies(10**9))
    assert careless.raw == pytest.approx(0.1, abs=1e-6)
    assert yes.raw == pytest.approx(0.05, abs=1e-6)


def test_way_out_is_an_option_and_may_count_as_yes() -> None:
    """Careless people choose among all that is shown."""
    people = _People(_question("coin", declines=True), _question("public", declines=True), 0.1, 0.2)
    careless, yes = _estimates(people, people.tallies(10**9))
    assert (careless.raw, yes.raw) == pytest.approx((0.2, 0.1), abs=1e-6)
    assert careless.anchors[0].chance == pytest.approx(1 / 3)

    asked = {"type": "boolean", "name": "q", "label": {"en": "Q"}, "public": True, "when_absent": "yes"}
    question = parse_survey(document(questions=[asked])).questions[0]
    assert random_answers(question.domain, question.absent) == (Fraction(1, 3), Fraction(2, 3))


def test_crosswise_correction_is_a_special_case() -> None:
    """Atsusaka and Stevenson (2023): an anchor with the true share 0, and two options, under the question's protection.

    They count the answers "both or neither", with p < 1/2 the share of the innocuous statement, and subtract from the
    naive estimate (same + p - 1) / (2p - 1) its bias (1/2 - 1/(2 gamma)) (same - 1/2) / (p - 1/2), where gamma, the
    share of attentive people, follows from the anchor's share 1/2 + gamma (1/2 - p).
    """
    p, n, same, same_anchor = 0.15, 10_000, 7_300, 8_100
    attentive = (same_anchor / n - 0.5) / (0.5 - p)
    naive = (same / n + p - 1) / (2 * p - 1)
    theirs = naive - (1 / 2 - 1 / (2 * attentive)) * (same / n - 1 / 2) / (p - 1 / 2)
    question, anchor = (_warner("17/20", name) for name in ("q", "anchor"))
    # "Both or neither" means no where the innocuous statement is not true: a report of no that is true with 1 - p.
    counts = [{0: count, 1: n - count} for count in (same, same_anchor)]
    found = anchor_share(anchor, Fraction(0), [(anchor.mechanism, counts[1])])
    assert found is not None
    careless = Careless((found,))
    [yes] = corrected_shares([(question.mechanism, counts[0])], question.domain, question.absent, careless)
    assert 1 - careless.raw == pytest.approx(attentive)
    assert yes.raw == pytest.approx(theirs)


def _warner(truth: str, name: str) -> Question:
    asked = {"type": "boolean", "name": name, "label": {"en": "Q"}, "mechanism": {"name": "warner", "truth": truth}}
    return parse_survey(document(questions=[asked])).questions[0]


def _public_anchor(name: str, yes: int, n: int, known: int = 0) -> AnchorShare:
    found = anchor_share(
        _question("public", declines=False, name=name), Fraction(known), [(None, {0: n - yes, 1: yes})]
    )
    assert found is not None
    return found


def test_anchors_join_by_inverse_variance_and_agree_or_not() -> None:
    """Two public anchors, one with the known share 1, of the same 1,000 people; the third contradicts them."""
    moon, chosen, other = (_public_anchor("moon", 50, 1000), _public_anchor("chosen", 940, 1000, 1),
                           _public_anchor("other", 150, 1000))  # fmt: skip
    agreeing, contradicting = Careless((moon, chosen)), Careless((moon, chosen, other))
    assert [each.careless for each in (moon, chosen)] == pytest.approx([0.1, 0.12])
    assert agreeing.raw == pytest.approx(0.11, abs=0.001)
    assert agreeing.std_error < Careless((moon,)).std_error
    assert (agreeing.agreement or 0) > 0.1
    assert (contradicting.agreement or 1) < 0.001
    assert Careless((moon,)).agreement is None


def test_anchor_without_a_yes_has_an_upper_limit() -> None:
    """The sample's own variance would be 0."""
    low, high = Careless((_public_anchor("moon", 0, 300),)).limits
    assert low == 0
    assert 0.01 < high < 0.04


def test_waves_of_the_same_people_widen_limits() -> None:
    """By as much as answers that never change do."""
    people = _People(_question("coin", declines=False), _question("public", declines=False), 0.1, 0.1)
    asked, (tally, anchored) = people.question, people.tallies(2000)
    found = anchor_share(people.anchor, Fraction(0), [anchored], waves=3)
    once = _estimates(people, (tally, anchored))[1]
    assert found is not None
    rule = IntervalRule(waves=3)
    [several] = corrected_shares([tally], asked.domain, asked.absent, Careless((found,)), rule)
    assert several.raw == pytest.approx(once.raw)
    assert (several.std_error or 0) == pytest.approx(math.sqrt(3) * (once.std_error or 1), rel=1e-9)


SETTINGS = list(product(CHANNELS, ("public", "coin"), (False, True), (0.0, 0.05, 0.2), (300, 2000)))


THREE = [
    ("coin", "public", True, 0.05, 2000),
    ("odds20", "public", True, 0.05, 300),
    ("coin", "coin", False, 0.0, 2000),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "runs", "seed", "least"),
    [
        *((each, 1000, 1000 + place, 0.93) for place, each in enumerate(SETTINGS)),
        *((each, 10_000, 7 + place, 0.945) for place, each in enumerate(THREE)),
    ],
)
def test_limits_cover(setting: tuple[str, str, bool, float, int], runs: int, seed: int, least: float) -> None:
    """A true .1 among those who answered, in each setting; in the three that are named for it in longer runs."""
    question, anchor, declines, careless, n = setting
    people = _People(_question(question, declines=declines), _question(anchor, declines=declines), 0.1, careless)
    draws = np.random.default_rng(seed)
    found = [_estimates(people, people.tallies(n, draws))[1] for _ in range(runs)]
    assert sum(each.low <= people.yes <= each.high for each in found) / runs >= least


YES_NO = Domain(("no", "yes"))


def made(procedure: str, share: str, error: str, truth: str = "1") -> InnocuousRR:
    numbers = [Fraction(each) for each in (share, error, truth)]
    return InnocuousRR(*channel(procedure, numbers[0], numbers[2]), procedure, *numbers)


DESIGNS = [("crosswise", "1/4", "1"), ("crosswise", "4/5", "1"), ("unrelated_question", "1/3", "1/2")]


@pytest.mark.parametrize(("procedure", "share", "truth"), DESIGNS)
def test_slope_is_the_derivative_of_the_estimate(procedure: str, share: str, truth: str) -> None:
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
    """Shares of surveys of 1,000 people, each with another share of its fact, that limits cover; if taken as exact."""
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
    plain = estimate_strata([(made("crosswise", "1/4", "0"), {0: 60, 1: 40})], YES_NO)[0]
    wide = estimate_strata([(made("crosswise", "1/4", "1/100"), {0: 60, 1: 40})], YES_NO, IntervalRule(band=True))[0]
    assert plain.raw == wide.raw
    assert wide.low <= plain.low < plain.high < wide.high
    assert wide.band_low is not None
    assert wide.band_low <= wide.low
    # The two answers of a yes/no question have one share, so that its limits hold for both, as those of an exact share.
    assert (plain.simultaneous_high, wide.simultaneous_high) == (plain.high, wide.high)
