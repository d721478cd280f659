"""Epsilon over all waves is computed from the running code: every memo, every report, every trajectory of the truth."""

import math
from fractions import Fraction
from itertools import product

import pytest
from sottovoce.client.ledger import Key, MemoryLedger
from sottovoce.client.memo import keep_memo
from sottovoce.client.randomizers import memorize, recall
from sottovoce.client.respondent import randomize
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.memoized_rr import MemoizedRR
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import question, survey
from tests.property.channels import distribution, paths
from tests.surveys import months

COIN = BinaryRR(Fraction(3, 4), Fraction(1, 4))
LAYERS = {
    "two coins": (COIN, COIN),
    "strong memo": (BinaryRR(Fraction(99, 100), Fraction(1, 100)), COIN),
    "weak noise": (COIN, BinaryRR(Fraction(99, 100), Fraction(1, 100))),
    "uneven": (BinaryRR(Fraction(11, 12), Fraction(1, 6)), BinaryRR(Fraction(3, 5), Fraction(1, 3))),
    # The worst reports are yes in every wave.
    "uneven towards yes": (BinaryRR(Fraction(11, 12), Fraction(1, 12)), BinaryRR(Fraction(1, 2), Fraction(1, 3))),
}


def history(mechanism, trajectory):
    """The code of several waves under one memo: the reports as the digits of one number."""

    def run(draws):
        memo = memorize(mechanism, draws)
        return sum(recall(mechanism, memo, truth, draws) << wave for wave, truth in enumerate(trajectory))

    return run


@pytest.mark.parametrize("waves", [2, 3, 4])
@pytest.mark.parametrize("layers", LAYERS)
def test_declared_odds_are_those_of_the_worst_trajectories(layers, waves):
    """To the last digit: neither more than the code gives away nor less."""
    mechanism = MemoizedRR(*LAYERS[layers], waves)
    distributions = [distribution(history(mechanism, trajectory)) for trajectory in product((0, 1), repeat=waves)]
    columns = zip(*([row[reports] for reports in sorted(row)] for row in distributions), strict=True)
    worst = max(max(column) / min(column) for column in columns)

    assert worst == mechanism.likelihood_ratio


class Nameless:
    """Draws whose ids are all alike, so that only values are told apart."""

    def __init__(self, draws):
        self.below, self.pick = draws.below, draws.pick

    def identity(self):
        return "0" * 32


def test_clients_waves_have_the_law_of_one_memo_for_each_question():
    """The whole way through ledger and report: two memos that are not mixed up, and a coin drawn anew each time."""
    layers = [dict(zip(("permanent", "instantaneous"), pair, strict=True)) for pair in (LAYERS["uneven"], (COIN, COIN))]
    memos = [{"name": "memoized_rr", **{key: m.dump() for key, m in pair.items()}, "waves": 2} for pair in layers]
    coin = {**question({"name": "coin_flip"}), "name": "fresh"}
    panel = parse_survey(survey(question(memos[0]), coin, {**question(memos[1]), "name": "r"}, waves=months(2)))
    first, second = (panel.questions[index].mechanism for index in panel.memoized)
    truths = ((1, 0, 0), (0, 0, 1))

    def answered(draws):
        ledger, told = MemoryLedger(), 0
        for wave, truth in enumerate(truths):
            memo = keep_memo(ledger, Key("https://a.example", "vector", wave), panel, draws)
            values = randomize(panel, truth, Nameless(draws), wave, memo).values
            told |= sum(value << (2 * index + wave) for index, value in enumerate(values))
        return told

    found = distribution(answered)
    one, other = (distribution(history(m, [truth[i] for truth in truths])) for m, i in ((first, 0), (second, 2)))
    assert found == {
        a | coins << 2 | b << 4: one[a] * other[b] * COIN.probability(coins & 1, 0) * COIN.probability(coins >> 1, 0)
        for a in one for b in other for coins in range(4)
    }  # fmt: skip


def test_two_coins_cost_what_the_page_of_maths_says():
    """.511 in one wave, then 1.022, 1.358 and 1.982."""
    figures = [MemoizedRR(COIN, COIN, waves).epsilon for waves in (2, 3, 4)]

    assert [round(figure, 3) for figure in figures] == [1.022, 1.358, 1.982]
    a, b = MemoizedRR(COIN, COIN, 2).support
    assert math.isclose(math.log(a / b), 0.511, abs_tol=5e-4)


def test_weak_noise_costs_more_than_the_sum_of_its_waves():
    """So no charge by the wave would do: without any noise it would be infinite from the second wave on."""
    weak = [MemoizedRR(*LAYERS["weak noise"], waves) for waves in (2, 3, 4)]
    a, b = weak[0].support
    one = math.log(a / b)

    assert all(mechanism.epsilon > mechanism.waves * one for mechanism in weak)


def test_more_waves_never_cost_less():
    """Whoever answers in only some of the waves has given away no more than was charged."""
    for layers in LAYERS.values():
        odds = [MemoizedRR(*layers, waves).likelihood_ratio for waves in range(1, 20)]
        assert odds == sorted(odds)


def test_memo_is_drawn_alike_whatever_the_truth():
    """The memo is made without the truth, and what is read in a wave does not depend on it."""
    mechanism = MemoizedRR(*LAYERS["uneven"], 2)
    histories = [history(mechanism, trajectory) for trajectory in product((0, 1), repeat=2)]
    reads = {frozenset(path.bounds for path in paths(run)) for run in histories}

    assert len(reads) == 1


def test_largest_number_of_waves_is_worked_out_exactly():
    """A year of weeks with channels of 2^32: exact numbers of thousands of digits."""
    fine = BinaryRR(Fraction(2**31 + 2**20, 2**32), Fraction(2**31 - 2**20 - 1, 2**32))
    mechanism = MemoizedRR(COIN, fine, 52)

    assert 0 < mechanism.epsilon < 52 * 2 * 0.0012
