"""Epsilon is computed from the running code: every branch, block, memo and report, exactly, for every truth."""

import itertools
import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given, settings, strategies as st
from sottovoce.client.ledger import Key, MemoryLedger
from sottovoce.client.memo import keep_memo
from sottovoce.client.randomizers import RANDOMIZERS, memorize, perturb, randomize_joint_rr, recall
from sottovoce.client.respondent import randomize
from sottovoce.shared.mechanisms import MECHANISMS
from sottovoce.shared.mechanisms.base import Mask, Table
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.mechanisms.memoized_rr import MemoizedRR
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, number, one_of, parsed, question, some_of, survey, vector
from tests.property.channels import (
    channel,
    check,
    check_distribution,
    check_range,
    distribution,
    paths,
    truths,
    worst_odds,
)
from tests.surveys import months
from tests.vectors.cases import named

EPSILON = {"epsilon": "1"}


CASES = {
    "coin flip": question(named("coin_flip")),
    "warner": question(named("warner", truth="2/3")),
    "forced response": question(named("forced_response", truth="3/4", yes="1/6", no="1/12")),
    "unrelated question": question(named("unrelated_question", truth="2/3", share="1/4")),
    "crosswise": question(named("crosswise", share="1/4")),
    "binary, one part in 2^32": question(named("binary_rr", a="4294967295/4294967296", b="1/4294967296")),
    "binary, almost noise": question(named("binary_rr", a="2147483649/4294967296", b="2147483647/4294967296")),
    "binary by epsilon": question(EPSILON),
    "memoized": question(named("memoized_rr", permanent=named("coin_flip"), instantaneous=named("coin_flip"), waves=4)),
    "memoized, uneven": question(
        named(
            "memoized_rr",
            permanent=named("binary_rr", a="11/12", b="1/6"),
            instantaneous=named("binary_rr", a="3/5", b="1/3"),
            waves=3,
        )
    ),
    "memoized, weak noise": question(
        named(
            "memoized_rr",
            permanent=named("coin_flip"),
            instantaneous=named("binary_rr", a="99/100", b="1/100"),
            waves=2,
        )
    ),
    "k-ary": one_of(4, named("kary_rr", odds="3")),
    "k-ary of 2": one_of(2, named("kary_rr", odds="7/2")),
    "k-ary of 64": one_of(64, named("kary_rr", odds="1000003/1000000")),
    "k-ary by epsilon": one_of(5, EPSILON, "rating"),
    "columns of 2": one_of(2, named("hadamard_response", odds="3")),
    "columns of 6": one_of(6, named("hadamard_response", odds="5/2"), "rating"),
    "columns of 8": one_of(8, named("hadamard_response", odds="3")),
    "subset of 1 of 2": one_of(2, named("subset_selection", odds="3", size=1)),
    "subset of 2 of 6": one_of(6, named("subset_selection", odds="3")),
    "subset of 4 of 5": one_of(5, named("subset_selection", odds="5/2", size=4), "rating"),
    "subset by epsilon": one_of(7, EPSILON),
    "unary of 2": one_of(2, named("optimal_unary", odds="3")),
    "unary of 5": one_of(5, named("optimal_unary", odds="5/2")),
    "unary with a category": {**one_of(3, named("optimal_unary", odds="2147483646")), "absent_category": True},
    "unary, almost noise": one_of(4, named("optimal_unary", odds="1073741824/1073741823"), "rating"),
    "unary by epsilon": one_of(4, named("optimal_unary", epsilon="1")),
    "sampled option": some_of(5, named("sampled_option", a="3/4", b="1/4")),
    "sampled option, one choice": some_of(4, named("sampled_option", a="11/12", b="1/6"), max_choices=1),
    "sampled option by epsilon": some_of(3, EPSILON),
    "bitwise": some_of(5, named("bitwise_rr", a="3/4", b="1/4")),
    "bitwise, one choice": some_of(4, named("bitwise_rr", a="7/10", b="1/5"), max_choices=1),
    "bitwise, three of four": some_of(4, named("bitwise_rr", a="11/12", b="1/6"), max_choices=3),
    "bitwise by epsilon": some_of(4, named("bitwise_rr", epsilon="1"), max_choices=2),
    "rounding": number(0, 1, "0.1", named("rounding_rr", a="3/4", b="1/4")),
    "rounding, one step": number("-0.5", "0.5", 1, named("rounding_rr", a="11/12", b="1/6")),
    "rounding by epsilon": number(0, 100, 5, EPSILON),
    "level table 1.4": number(0, 8, 1, named("level_table", epsilon="1.5")),
    "level table 2": number(0, 20, 1, named("level_table", epsilon=2)),
    "level table 3": number(0, 4, 1, {"epsilon": 3}),
    "square wave": number(0, 9, 1, named("square_wave", odds="3")),
    "square wave, no window": number(0, 3, 1, named("square_wave", odds="3", bins=4, width=0)),
    "square wave, wide": number(0, 10, 1, named("square_wave", odds="5/2", bins=3, width=3)),
    "square wave by epsilon": number(0, 40, 1, named("square_wave", epsilon="1")),
    "geometric": number(0, 6, 1, named("geometric", ratio="2/3")),
    "geometric, one step": number(0, 1, 1, named("geometric", ratio="1/3")),
    "geometric by epsilon": number(0, 5, 1, named("geometric", epsilon="1")),
    "sampled coordinate": vector(3, 0, 4, 2, named("sampled_coordinate", a="3/4", b="1/4")),
    "sampled yes or no": vector(5, 0, 1, 1, EPSILON),
}

QUESTIONS = {name: parsed(document) for name, document in CASES.items()}


@pytest.mark.parametrize("name", QUESTIONS)
def test_randomizer_draws_from_the_declared_channel(name):
    """Distribution, range, epsilon to 12 digits, and bytes read that do not depend on the truth."""
    asked = QUESTIONS[name]

    check(asked, RANDOMIZERS[asked.mechanism.name])


def test_cases_cover_every_mechanism():
    covered = {asked.mechanism.name for asked in QUESTIONS.values()}

    assert covered == set(RANDOMIZERS) == set(MECHANISMS)


@pytest.mark.parametrize("name", [name for name, asked in QUESTIONS.items() if isinstance(asked.mechanism, Table)])
def test_table_rows_have_one_sum_and_no_zero(name):
    """A row that sums to something else would read other bytes; a zero would rule a truth out."""
    mechanism = QUESTIONS[name].mechanism

    rows = [mechanism.weights(value) for value in truths(QUESTIONS[name])]

    assert len({sum(row) for row in rows}) == 1
    assert all(weight > 0 for row in rows for weight in row)


@pytest.mark.parametrize("steps", [1, 2, 3, 10, 13])
def test_level_table_between_levels_costs_no_more_than_declared(steps):
    """Where the levels are not on the grid, every truth is a mixture of rows, and epsilon an upper bound."""
    asked = parsed(number(0, steps, 1, named("level_table", epsilon="1.8")))

    computed = channel(asked, RANDOMIZERS["level_table"])

    check_range(asked, computed)
    check_distribution(asked, computed)
    assert worst_odds(computed) <= asked.mechanism.likelihood_ratio


SCORED = {"rounding_rr", "level_table", "geometric"}


@pytest.mark.parametrize("name", [name for name, asked in QUESTIONS.items() if asked.mechanism.name in SCORED])
def test_scores_are_unbiased_for_the_number(name):
    """Wherever a mechanism gives its reports scores, their mean given the truth is the truth."""
    asked = QUESTIONS[name]
    allowed = asked.domain.steps * Fraction(1, 10**8) if asked.mechanism.name == "level_table" else 0

    for value, row in channel(asked, RANDOMIZERS[asked.mechanism.name]).items():
        mean = sum(probability * asked.mechanism.scores[reported] for reported, probability in row.items())
        assert abs(mean - value) <= allowed


def supporting(asked, value, option):
    """(whether ``option`` is true, the reports that speak of it, those of them that support it)."""
    name = asked.mechanism.name
    sampled = name in {"sampled_option", "sampled_coordinate"}
    about = {y for y in range(asked.largest + 1) if asked.admits(y) and (not sampled or y // 2 == option)}
    if sampled:
        support = {y for y in about if y % 2}
    elif name in MASKS:
        support = {y for y in about if y >> option & 1}
    elif name == "hadamard_response":
        support = {y for y in about if bin(y & option + 1).count("1") % 2 == 0}
    else:
        support = {option} & about
    several = asked.kind.truth == "options"
    return (bool(value >> option & 1) if several else value == option), about, support


MASKS = [name for name, each in MECHANISMS.items() if issubclass(each, Mask)]
SUPPORTED = ["binary_rr", "kary_rr", "hadamard_response", "sampled_option", *MASKS]


@pytest.mark.parametrize("name", [name for name, asked in QUESTIONS.items() if asked.mechanism.name in SUPPORTED])
def test_support_is_what_the_channel_gives(name):
    """P(support | true) and P(support | not true), which every estimate of a share divides by."""
    asked = QUESTIONS[name]
    options = [1] if asked.kind.truth == "yes_no" else range(asked.domain.size)
    computed = channel(asked, RANDOMIZERS[asked.mechanism.name])

    for (value, row), option in itertools.product(computed.items(), options):
        true, about, support = supporting(asked, value, option)
        share = sum(row[y] for y in support) / sum(row[y] for y in about)
        assert share == asked.mechanism.support[0 if true else 1]


# The checks must be able to fail: each of these mistakes has been made by somebody.


def biased_coin(_mechanism, value, draws):
    return draws.pick((4, 1) if value == 0 else (1, 4))


def swapped_rows(mechanism, value, draws):
    return draws.pick(mechanism.weights(1 - value))


def silent_no(mechanism, value, draws):
    """Draws again for a yes only."""
    return draws.pick(mechanism.weights(value)) if value == 0 else (draws.pick((2, 2)) or draws.pick((2, 2)))


def unprotected_last_bit(mechanism, value, draws):
    last = mechanism.options - 1
    return (RANDOMIZERS["bitwise_rr"](mechanism, value, draws) & ~(1 << last)) | (value >> last & 1) << last


def fewer_picks(mechanism, value, draws):
    """Picks one option less when the truth is in the set: the number of bytes tells."""
    if value != 0:
        draws.below(2)
    return RANDOMIZERS["subset_selection"](mechanism, value, draws)


def unread_ends(mechanism, value, draws):
    """Reads nothing for rounding where nothing is to be rounded."""
    end = value // mechanism.steps if value in {0, mechanism.steps} else draws.pick(mechanism.ends(value))
    return draws.pick(mechanism.bit.weights(end))


def truth_in_the_noise(mechanism, value, draws):
    """Lets a category out for one truth."""
    row = mechanism.weights(value)
    return draws.pick(row if value else (sum(row) - row[2] - row[3], 0, row[2], row[3]))


MUTANTS = [
    ("coin flip", biased_coin, "what is read|distribution"),
    ("warner", swapped_rows, "distribution"),
    ("coin flip", silent_no, "what is read"),
    ("bitwise", unprotected_last_bit, "range"),
    ("subset of 2 of 6", fewer_picks, "what is read"),
    ("rounding", unread_ends, "what is read"),
    ("k-ary", truth_in_the_noise, "range"),
]


@pytest.mark.parametrize(("name", "mutant", "reason"), MUTANTS, ids=lambda part: getattr(part, "__name__", None))
def test_check_catches_the_mutant(name, mutant, reason):
    """A check that passes its mutant proves nothing."""
    with pytest.raises(AssertionError, match=reason):
        check(QUESTIONS[name], mutant)


def test_check_catches_an_epsilon_one_notch_too_low(monkeypatch):
    asked = QUESTIONS["coin flip"]
    lower = asked.epsilon * (1 - 1e-11)
    monkeypatch.setattr(type(asked.mechanism), "epsilon", property(lambda _: lower))

    with pytest.raises(AssertionError, match="another epsilon"):
        check(asked, RANDOMIZERS["binary_rr"])


def test_branching_takes_every_path_once():
    def run(draws):
        first = draws.below(3)
        return 10 * first + draws.pick((1, 0, 3) if first else (1, 1))

    found = [(path.reported, path.probability) for path in paths(run)]

    third = Fraction(1, 3)
    assert found == [
        (0, third / 2), (1, third / 2), (10, third / 4), (12, third * 3 / 4), (20, third / 4), (22, third * 3 / 4)
    ]  # fmt: skip


SMALL = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)

ODDS = st.fractions(Fraction(101, 100), 1000, max_denominator=100).map(str)

SETTINGS = settings(deadline=None, max_examples=20)


@st.composite
def bits(draw, name):
    """A mechanism with two probabilities, 0 < b < a < 1."""
    a, b = draw(SMALL), draw(SMALL)
    assume(a != b)
    return {"name": name, "a": str(max(a, b)), "b": str(min(a, b))}


def check_document(document):
    asked = parsed(document)
    check(asked, RANDOMIZERS[asked.mechanism.name])


@SETTINGS
@given(bits("binary_rr"), ODDS, st.integers(2, 9))
def test_one_of_k_draws_from_its_channel(bit, odds, k):
    check_document(question(bit))
    check_document(one_of(k, {"name": "kary_rr", "odds": odds}))


@SETTINGS
@given(ODDS, st.data())
def test_subset_draws_from_its_channel(odds, data):
    k = data.draw(st.integers(2, 6))
    size = data.draw(st.integers(1, k - 1))
    check_document(one_of(k, {"name": "subset_selection", "odds": odds, "size": size}, "rating"))


@SETTINGS
@given(ODDS, st.integers(2, 5))
def test_unary_draws_from_its_channel(odds, k):
    check_document(one_of(k, {"name": "optimal_unary", "odds": odds}))


@SETTINGS
@given(bits("sampled_option"), bits("bitwise_rr"), st.data())
def test_several_of_k_draw_from_their_channel(sampled, bitwise, data):
    k = data.draw(st.integers(2, 5))
    most = data.draw(st.integers(1, k))
    check_document(some_of(k, sampled, max_choices=most))
    check_document(some_of(k, bitwise, max_choices=most))


@SETTINGS
@given(bits("rounding_rr"), bits("sampled_coordinate"), SMALL.map(str), st.integers(1, 6))
def test_numbers_draw_from_their_channel(rounding, sampled, ratio, steps):
    check_document(number(-2, steps - 2, 1, rounding))
    check_document(number(0, steps, 1, {"name": "geometric", "ratio": ratio}))
    check_document(vector(2, 0, steps, 1, sampled))


@SETTINGS
@given(ODDS, st.data())
def test_square_wave_draws_from_its_channel(odds, data):
    steps = data.draw(st.integers(1, 12))
    bins = data.draw(st.integers(2, steps + 1))
    width = data.draw(st.integers(0, bins))
    check_document(number(0, steps, 1, {"name": "square_wave", "odds": odds, "bins": bins, "width": width}))


@SETTINGS
@given(st.sampled_from(["1.4", "1.6", "2.2", "3"]), st.integers(1, 40))
def test_level_table_draws_from_its_channel(epsilon, steps):
    """Every small grid; epsilon is spent in full where the levels are on the grid."""
    asked = parsed(number(0, steps, 1, {"name": "level_table", "epsilon": epsilon}))
    computed = channel(asked, RANDOMIZERS["level_table"])

    check_range(asked, computed)
    check_distribution(asked, computed)
    assert worst_odds(computed) <= asked.mechanism.likelihood_ratio
    assert steps % 4 or worst_odds(computed) == asked.mechanism.likelihood_ratio


@SETTINGS
@given(st.integers(1, 1000).map(lambda hundredths: f"{hundredths / 100:.2f}"), st.integers(2, 7))
def test_expanded_epsilon_is_never_exceeded(epsilon, k):
    """Whatever publishing expands, the running code spends no more."""
    shorthand = {"epsilon": epsilon}
    for document in (question(shorthand), one_of(k, shorthand), number(0, 4 * k, 1, shorthand)):
        check_document(document)
        assert parsed(document).epsilon <= float(epsilon)


BLOCKS = [
    (Fraction(9), 0, (2, 2)),
    (Fraction(7, 2), 0, (2, 2, 2)),
    (Fraction(27), 1, (2, 2, 2)),
    (Fraction(5), 1, (2, 3, 4)),
    (Fraction(20), 1, (2,) * 5),
    (Fraction(20), 2, (2,) * 5),
    (Fraction(4294967293), 0, (2, 2)),
    (Fraction(27), 1, (3, 3, 3, 3), 2),
]


@pytest.mark.parametrize("given", BLOCKS)
def test_report_has_the_declared_law(given):
    """No combination is likelier or rarer than the weights say, and none has another range."""
    block = JointRR(*given)
    combinations = [*product(*map(range, block.asked_sizes))]
    for true in combinations:
        found = distribution(lambda draws, true=true: randomize_joint_rr(block, true, draws))
        assert found == {reported: block.probability(true, reported) for reported in combinations}


@pytest.mark.parametrize("given", BLOCKS)
def test_what_is_read_depends_neither_on_the_truth_nor_on_the_report(given):
    """One integer below the total, always."""
    block = JointRR(*given)
    for truth in [tuple(0 for _ in block.asked_sizes), tuple(size - 1 for size in block.asked_sizes)]:
        assert {path.bounds for path in paths(lambda draws, truth=truth: randomize_joint_rr(block, truth, draws))} == {
            (block.total,)
        }


def test_block_is_drawn_where_it_begins_and_all_at_once():
    """Among other questions; a hidden question inside has its fixed category as its truth."""
    coin = {"name": "binary_rr", "a": "3/4", "b": "1/4"}
    asks = {"type": "boolean", "label": {"en": "Q"}}
    inside = {"type": "select_one", "label": {"en": "Q"}, "choices": names(2), "absent_category": True}
    asked = parse_survey(survey(
        {**asks, "name": "x", "mechanism": coin},
        {"block": "b", "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0},
         "items": [{**asks, "name": "p"}, {**inside, "name": "q", "visible_if": {"p": "yes"}}]},
        {**asks, "name": "z", "public": True},
    ))  # fmt: skip
    block = asked.blocks[0].mechanism
    for p, truth in (("no", (0, 2)), ("yes", (1, 1))):
        values = asked.encode({"x": "yes", "p": p, "q": "c1", "z": "no"})
        assert values[1:3] == truth
        found = distribution(lambda draws, values=values: perturb(asked, values, draws, {}))
        assert found == {
            (x, *pair, 0): Fraction(3 if x else 1, 4) * block.probability(truth, pair)
            for x in range(2)
            for pair in product(range(2), range(3))
        }


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
    mechanism = MemoizedRR(*LAYERS["uneven"], 2)
    histories = [history(mechanism, trajectory) for trajectory in product((0, 1), repeat=2)]
    reads = {frozenset(path.bounds for path in paths(run)) for run in histories}

    assert len(reads) == 1


def test_largest_number_of_waves_is_worked_out_exactly():
    """A year of weeks with channels of 2^32: exact numbers of thousands of digits."""
    fine = BinaryRR(Fraction(2**31 + 2**20, 2**32), Fraction(2**31 - 2**20 - 1, 2**32))
    mechanism = MemoizedRR(COIN, fine, 52)

    assert 0 < mechanism.epsilon < 52 * 2 * 0.0012
