"""What publishing writes for ``{epsilon: ...}``."""

import math
from fractions import Fraction
from itertools import product

import pytest
from sottovoce.shared.answers import Domain
from sottovoce.shared.mechanisms import MECHANISMS, for_epsilon
from sottovoce.shared.mechanisms.sampled_option import SampledOption
from sottovoce.shared.rational import MAX_DENOMINATOR, exp_below

from tests.documents import number, one_of, parsed, question, some_of, vector

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
    """At most that, and hardly less."""
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
    """An epsilon beside a name chooses that mechanism's parameters."""
    for (name, ask), epsilon in product(NAMED.items(), ("0.01", "1", "10")):
        mechanism = parsed(ask({"name": name, "epsilon": epsilon})).mechanism

        assert name == mechanism.name
        assert mechanism.likelihood_ratio <= exp_below(Fraction(epsilon)), (name, epsilon)
        assert math.isclose(float(epsilon), mechanism.epsilon, rel_tol=1e-4), (name, epsilon)


def test_fractions_are_the_best_of_32_bits():
    """For a yes or no, and for categories."""
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
