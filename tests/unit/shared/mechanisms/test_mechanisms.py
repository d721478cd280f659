"""Figures of single mechanisms, from closed formulas, and what those made for an epsilon cost."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from sottovoce.shared.answers import TRUTHS, Domain
from sottovoce.shared.errors import SpecError
from sottovoce.shared.mechanisms import MECHANISMS, for_epsilon
from sottovoce.shared.mechanisms.bitwise_rr import BitwiseRR
from sottovoce.shared.mechanisms.geometric import Geometric
from sottovoce.shared.mechanisms.level_table import LevelTable
from sottovoce.shared.mechanisms.level_table_data import TABLES
from sottovoce.shared.mechanisms.reports import REPORT_KINDS
from sottovoce.shared.mechanisms.rounding_rr import RoundingRR
from sottovoce.shared.mechanisms.sampled_option import SampledOption
from sottovoce.shared.mechanisms.square_wave import SquareWave, best_width
from sottovoce.shared.mechanisms.subset_selection import best_size
from sottovoce.shared.rational import MAX_DENOMINATOR, exp_below

from tests.documents import number, one_of, parsed, question, some_of, vector
from tests.vectors.cases import GOOD

COIN = Fraction(3, 4), Fraction(1, 4)


def unit_variance(mechanism, value):
    """Variance of one score when the truth is step ``value``, in half ranges squared."""
    rows = [(mechanism.probability(y, value), score) for y, score in enumerate(mechanism.scores)]
    mean = sum(p * score for p, score in rows)
    return float(sum(p * (score - mean) ** 2 for p, score in rows) * Fraction(2, mechanism.steps) ** 2)


@pytest.mark.parametrize(
    ("parameters", "known"),
    [
        ({"name": "coin_flip"}, "the coin flip"),
        ({"name": "binary_rr", "a": "3/4", "b": "1/4"}, "the coin flip"),
        ({"name": "warner", "truth": "2/3"}, "Warner's design, truth 2/3"),
        ({"name": "binary_rr", "a": "3/5", "b": "1/5"}, ""),
    ],
)
def test_mechanism_is_called_what_textbooks_call_it(parameters, known):
    """By its numbers, whatever its author wrote; nothing where there is no such name."""
    assert parsed(question(parameters)).mechanism.known_as == known


@pytest.mark.parametrize("given", [{"epsilon": "1"}, {"ratio": "9/10"}])
def test_laplace_is_the_clamped_geometric_mechanism(given):
    """The same integers as under its own name, and nothing but them in the canonical survey."""
    both = [parsed(number(0, 10, 1, {"name": name, **given})).mechanism for name in ("laplace", "geometric")]
    asked, geometric = both

    assert asked == geometric
    assert asked.dump().keys() == {"name", "ratio"}
    assert (asked.dump()["name"], asked.known_as) == ("geometric", "Laplace noise on a grid")
    assert asked.epsilon <= 10 * math.log(10 / 9)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (number(0, 10, 1, {"name": "laplace"}), "the parameters of this mechanism are: ratio"),
        (number(0, 10, 1, {"name": "laplace", "scale": "1"}), "the parameters of this mechanism are: ratio"),
        (number(0, 10, 1, {"name": "laplace", "ratio": "3/2"}), "ratio must lie between 0 and 1"),
        (number(0, 10, 1, {"name": "laplace", "ratio": "1/2", "epsilon": "1"}), "give an epsilon alone"),
        (one_of(4, {"name": "subset_selection", "odds": "1"}), "odds must be above 1"),
        (question({"name": "laplace", "epsilon": "1"}), "does not serve this type of question"),
        (question({"name": "warner"}), "the parameters of this mechanism are: truth"),
        (question({"name": "warner", "truth": "1/2"}), "truth must lie between 1/2 and 1"),
        (question({"name": "warner", "truth": "2/3", "epsilon": "1"}), "give an epsilon alone"),
        (question({"name": "coin_flip", "epsilon": "1"}), "give an epsilon alone"),
    ],
)
def test_wrong_parameters_under_a_known_name_are_told(document, told):
    with pytest.raises(SpecError, match=told):
        parsed(document)


@pytest.mark.parametrize("steps", [0, 2**32 + 1])
def test_rounding_serves_grids_of_one_to_two_to_the_32_steps(steps):
    """Its weights are integers of 32 bits."""
    mechanism = RoundingRR.for_epsilon(Fraction(1), parsed(number(0, 1, 1, {"epsilon": "1"})).domain)

    with pytest.raises(ValueError, match="grids of 1 to"):
        replace(mechanism, steps=steps)


@pytest.mark.parametrize(
    ("parameters", "a", "b", "odds"),
    [
        ({"name": "coin_flip"}, "3/4", "1/4", 3),
        ({"name": "warner", "truth": "2/3"}, "2/3", "1/3", 2),
        ({"name": "forced_response", "truth": "3/4", "yes": "1/6", "no": "1/12"}, "11/12", "1/6", 10),
        ({"name": "unrelated_question", "truth": "2/3", "share": "1/4"}, "3/4", "1/12", 9),
        ({"name": "crosswise", "share": "1/4"}, "3/4", "1/4", 3),
        ({"name": "crosswise", "share": "2/3"}, "2/3", "1/3", 2),
    ],
)
def test_preset_is_a_choice_of_a_and_b(parameters, a, b, odds):
    """Each folk design is one binary channel, and pays its worse side."""
    mechanism = parsed(question(parameters)).mechanism

    assert (Fraction(a), Fraction(b), odds) == (*mechanism.support, mechanism.likelihood_ratio)


@pytest.mark.parametrize(
    "parameters",
    [
        {"name": "coin_flip", "truth": "1/2"},
        {"name": "warner", "truth": "1/2"},
        {"name": "warner", "truth": "1"},
        {"name": "forced_response", "truth": "3/4", "yes": "1/6", "no": "1/6"},
        {"name": "forced_response", "truth": "5/6", "yes": "1/6", "no": "0"},
        {"name": "forced_response", "truth": "5/6", "yes": "0", "no": "1/6"},
        {"name": "forced_response", "truth": "0", "yes": "1/2", "no": "1/2"},
        {"name": "unrelated_question", "truth": "1", "share": "1/2"},
        {"name": "unrelated_question", "truth": "1/2", "share": "0"},
        {"name": "unrelated_question", "truth": "0", "share": "1/2"},
        {"name": "crosswise", "share": "1/2"},
        {"name": "crosswise", "share": "1"},
        {"name": "crosswise", "share": "2/1"},
    ],
)
def test_preset_that_hides_or_says_everything_is_refused(parameters):
    """Neither a report that proves an answer nor one that says nothing."""
    with pytest.raises(ValueError, match=r"must|parameters"):
        type(parsed(question({"name": "coin_flip"})).mechanism).parse(parameters, Domain(("no", "yes")))


@pytest.mark.parametrize(("epsilon", "k"), [(0.5, 4), (math.log(2), 5), (math.log(3), 6), (2, 12), (3, 30)])
def test_best_size_becomes_two_where_the_variance_says(epsilon, k):
    """From the enumerated table: d = 1 below, 2 from there on."""
    odds = Fraction(math.exp(epsilon)).limit_denominator(10**9)

    assert [best_size(odds, k - 1), best_size(odds, k)] == [1, 2]


@pytest.mark.parametrize(("k", "total"), [(6, 12.2), (8, 17.5), (10, 23.8), (16, 41.3), (32, 89.1)])
def test_subset_selection_has_the_published_variance(k, total):
    """N times the summed error over all options, noise only, at ln 3."""
    a, b = parsed(one_of(k, {"name": "subset_selection", "odds": "3"})).mechanism.support

    assert math.isclose(total, k * b * (1 - b) / (a - b) ** 2 + (1 - a - b) / (a - b), abs_tol=0.06)


def test_subset_selection_of_one_is_kary():
    subset = parsed(one_of(5, {"name": "subset_selection", "odds": "7/2", "size": 1})).mechanism
    kary = parsed(one_of(5, {"name": "kary_rr", "odds": "7/2"})).mechanism

    assert kary.support == subset.support
    assert all(kary.probability(j, x) == subset.probability(1 << j, x) for j in range(5) for x in range(5))


@pytest.mark.parametrize(
    ("a", "b", "k", "most", "odds"),
    [
        ("3/4", "1/4", 6, 6, Fraction(3) ** 6),
        ("3/4", "1/4", 6, 2, Fraction(3) ** 4),
        ("3/4", "1/4", 6, 1, Fraction(9)),
        ("7/10", "1/5", 6, 6, Fraction(7, 2) ** 6),
        ("7/10", "1/5", 6, 4, Fraction(7, 2) ** 4 * Fraction(8, 3) ** 2),
        ("11/12", "1/6", 4, 2, Fraction(10) ** 2 * Fraction(11, 2) ** 2),
    ],
)
def test_bitwise_epsilon_counts_the_bits_that_may_differ(a, b, k, most, odds):
    """Two answers may differ in many bits; the one-hot figure of the literature does not apply."""
    mechanism = parsed(some_of(k, {"name": "bitwise_rr", "a": a, "b": b}, max_choices=most)).mechanism

    assert odds == mechanism.likelihood_ratio
    if (a, most) == ("7/10", 6):
        assert math.isclose(7.52, mechanism.epsilon, abs_tol=0.005)


@pytest.mark.parametrize("name", TABLES)
def test_shipped_table_keeps_its_promises(name):
    """Epsilon at most nominal and hardly less; five levels, at most seven outputs; unbiased within 10^-8."""
    rows, marks = TABLES[name]
    mechanism = LevelTable(rows, marks, 8)

    assert len(rows) == 5
    assert len(marks) <= 7
    assert mechanism.likelihood_ratio <= exp_below(Fraction(name))
    assert mechanism.epsilon > float(name) - 1e-6
    assert min(min(row) for row in rows) > 2**20
    assert all(sum(row) == 2**32 for row in rows)


@pytest.mark.parametrize("name", TABLES)
def test_shipped_table_beats_rounding(name):
    """The worst variance over a fine grid, rounding included, is less than that of the two-valued mechanism."""
    steps = 40
    table = LevelTable(*TABLES[name], steps)
    domain = parsed(number(0, steps, 1, {"epsilon": "1"})).domain
    rounding = RoundingRR.for_epsilon(Fraction(name), domain)

    def worst(mechanism):
        return max(unit_variance(mechanism, value) for value in range(steps + 1))

    assert worst(table) < 0.8 * worst(rounding)


@pytest.mark.parametrize(("name", "variance"), [("1.4", 1.9633), ("2.0", 0.8568), ("3.0", 0.2978)])
def test_shipped_table_has_the_documented_variance(name, variance):
    """Worst level, as the table's own page says."""
    table = LevelTable(*TABLES[name], 4)

    assert math.isclose(variance, max(unit_variance(table, level) for level in range(5)), abs_tol=1e-4)


def test_level_table_rounds_between_the_levels_around():
    """Nine steps and five levels: step 4 lies three quarters of the way from level 1 to level 2."""
    table = LevelTable(*TABLES["2.0"], 9)

    assert table.neighbours(4) == (1, (2, 7))
    assert table.neighbours(9) == (4, (9, 0))
    assert table.neighbours(0) == (0, (9, 0))


def test_rounding_has_the_variance_of_duchi():
    """((E+1)/(E-1))^2 - x^2 in half ranges: 4 at the middle for ln 3."""
    mechanism = parsed(number(0, 10, 1, {"name": "rounding_rr", "a": "3/4", "b": "1/4"})).mechanism

    assert [unit_variance(mechanism, value) for value in (5, 10)] == [4.0, 3.0]


def test_geometric_has_no_more_variance_than_its_noise():
    """At epsilon 1 and 10 steps: 7.993 and less, against 8 for Laplace noise."""
    domain = parsed(number(0, 10, 1, {"epsilon": "1"})).domain
    mechanism = Geometric.for_epsilon(Fraction(1), domain)
    r = float(mechanism.ratio)
    noise = 2 * r / (1 - r) ** 2 * 0.04

    assert math.isclose(7.9933, noise, abs_tol=1e-4)
    assert all(unit_variance(mechanism, value) <= noise for value in range(11))


@pytest.mark.parametrize(
    ("odds", "bins", "width"), [("3", 32, 7), ("3", 10, 2), ("1000001/1000000", 10, 5), ("1000", 32, 0)]
)
def test_square_wave_width_follows_the_formula(odds, bins, width):
    """Half the bins when nothing is told, none when all is."""
    assert width == best_width(Fraction(odds), bins)


def test_square_wave_bins_cover_the_grid_evenly():
    """82 values in 16 bins: five or six values each, in order."""
    mechanism = SquareWave(Fraction(3), 16, 2, 81)
    counts = [0] * 16
    for value in range(82):
        counts[mechanism.bin(value)] += 1

    assert {5, 6} == set(counts)
    assert (mechanism.bin(0), mechanism.bin(81)) == (0, 15)


@pytest.mark.parametrize(("a", "b"), [COIN])
def test_bitwise_refuses_an_impossible_limit(a, b):
    """The limit on the number of choices is part of epsilon."""
    bit = type(parsed(question({"name": "coin_flip"})).mechanism)(a, b)

    for most in (0, 5):
        with pytest.raises(ValueError, match="max_choices"):
            BitwiseRR(bit, 4, most)


@pytest.mark.parametrize("name", GOOD)
def test_numbers_are_those_of_the_report_kind(name):
    """The sentence of its kind can be filled, and is not given more."""
    for asked, _ in GOOD[name]:
        mechanism = parsed(asked).mechanism
        assert set(mechanism.explain()) == REPORT_KINDS[mechanism.report_kind]
        assert mechanism.serves in TRUTHS


LN3 = Fraction(math.log(3))
EPSILONS = ["0.01", "0.1", "0.5", "1", "1.3", "1.4", "1.5", "2", "3", "5", "10"]
TYPES = {
    "boolean": question,
    "select_one of 2": lambda asked: one_of(2, asked),
    "select_one of 9": lambda asked: one_of(9, asked),
    "select_one of 52": lambda asked: one_of(52, asked),
    "select_one of 1000": lambda asked: one_of(1000, asked),
    "rating of 5": lambda asked: one_of(5, asked, "rating"),
    "select_multiple of 52": lambda asked: some_of(52, asked),
    "integer": lambda asked: question(asked, "integer", min=0, max=2**32),
    "decimal": lambda asked: number("0", "1", "0.001", asked),
    "vector": lambda asked: vector(1000, 0, 1, 1, asked),
}
NAMED = {
    "kary_rr": lambda asked: one_of(1000, asked),
    "subset_selection": lambda asked: one_of(52, asked),
    "hadamard_response": lambda asked: one_of(60, asked),
    "optimal_unary": lambda asked: one_of(52, asked),
    "bitwise_rr": lambda asked: some_of(52, asked),
    "rounding_rr": lambda asked: number(0, 1, 1, asked),
    "square_wave": lambda asked: number(0, 1000, 1, asked),
    "geometric": lambda asked: number(0, 1000, 1, asked),
}


def test_default_costs_what_was_asked_and_reads_back():
    for (kind, ask), epsilon in product(TYPES.items(), EPSILONS):
        mechanism = parsed(ask({"epsilon": epsilon})).mechanism

        assert mechanism.likelihood_ratio <= exp_below(Fraction(epsilon)), (kind, epsilon)
        if mechanism.name == "level_table":
            assert mechanism.epsilon > min(float(epsilon) - 0.2, 3) - 1e-6, (kind, epsilon)
        else:
            assert math.isclose(float(epsilon), mechanism.epsilon, rel_tol=1e-4), (kind, epsilon)

    for kind, ask in TYPES.items():
        asked = parsed(ask({"epsilon": "2"}))

        dumped = asked.mechanism.dump()

        assert "epsilon" not in dumped, kind
        assert asked.mechanism == MECHANISMS[dumped["name"]].parse(dumped, asked.domain), kind


def test_named_mechanism_costs_at_most_what_was_asked_and_hardly_less():
    for (name, ask), epsilon in product(NAMED.items(), ("0.01", "1", "10")):
        mechanism = parsed(ask({"name": name, "epsilon": epsilon})).mechanism

        assert name == mechanism.name
        assert mechanism.likelihood_ratio <= exp_below(Fraction(epsilon)), (name, epsilon)
        assert math.isclose(float(epsilon), mechanism.epsilon, rel_tol=1e-4), (name, epsilon)


def test_fractions_are_the_best_of_32_bits():
    a, b = parsed(question({"epsilon": "1"})).mechanism.support

    assert (a * MAX_DENOMINATOR, b * MAX_DENOMINATOR) == (3139872686, 1155094610)
    assert (a + Fraction(1, MAX_DENOMINATOR)) / (b - Fraction(1, MAX_DENOMINATOR)) > Fraction(math.e)

    weight = Fraction(parsed(one_of(3, {"epsilon": "1"})).mechanism.dump()["odds"]).denominator

    assert weight == math.floor(MAX_DENOMINATOR / (math.e + 2))


@pytest.mark.parametrize(
    ("epsilon", "k", "name"),
    [("0.6931", 4, "kary_rr"), ("0.6932", 5, "kary_rr"), ("0.6931", 5, "subset_selection"),
     ("1.0987", 6, "kary_rr"), ("1.0986", 6, "subset_selection"), ("1", 53, "hadamard_response"), ("3", 60, "kary_rr")],
)  # fmt: skip
def test_subsets_take_over_above_e_to_epsilon_plus_three(epsilon, k, name):
    """k-ary up to k = e^epsilon + 3, columns of a Hadamard matrix where a mask cannot hold the options."""
    assert name == parsed(one_of(k, {"epsilon": epsilon})).mechanism.name


@pytest.mark.parametrize(
    ("epsilon", "name"), [("1.3", "rounding_rr"), ("1.399999", "rounding_rr"), ("1.4", "level_table")]
)
def test_tables_take_over_from_rounding_at_one_point_four(epsilon, name):
    """Stochastic rounding is best for small epsilon, the first table is for 1.4."""
    assert name == parsed(number(0, 8, 1, {"epsilon": epsilon})).mechanism.name


@pytest.mark.parametrize(("options", "times"), [(5, "4.2"), (8, "6.6"), (16, "13.3")])
def test_drawing_one_option_beats_splitting_epsilon_over_all(options, times):
    """So {epsilon: ...} draws one; splitting has so many times the variance, at a share of one half."""
    drawn = for_epsilon(LN3, Domain(tuple(f"o{index}" for index in range(options))), "options")
    split = for_epsilon(LN3 / options, Domain(("no", "yes")), "yes_no")
    gaps = [a - b for a, b in (drawn.support, split.support)]

    assert isinstance(drawn, SampledOption)
    assert f"{float(gaps[0] ** 2 / gaps[1] ** 2 / options):.1f}" == times


def test_bitwise_divides_epsilon_among_the_bits_that_may_differ():
    """min(k, 2 max_choices) bits, not k, and never silently: the author names bitwise_rr."""
    asked = {"name": "bitwise_rr", "epsilon": "1"}
    one, all_ = (parsed(some_of(10, asked, max_choices=most)).mechanism for most in (1, 10))

    assert math.isclose(1 / 2, one.bit.epsilon, rel_tol=1e-7)
    assert math.isclose(1 / 10, all_.bit.epsilon, rel_tol=1e-7)
    assert parsed(some_of(10, {"epsilon": "1"})).mechanism.name == "sampled_option"


@pytest.mark.parametrize("epsilon", ["0", "-1", "0.0099", "10.01", "1000"])
def test_epsilon_out_of_range_is_refused(epsilon):
    """Thirty-two bits of weight come nowhere near it."""
    domain = parsed(question({"epsilon": "1"})).domain

    with pytest.raises(ValueError, match=r"between 0\.01 and 10"):
        for_epsilon(Fraction(epsilon), domain, "yes_no")
