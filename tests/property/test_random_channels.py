"""The exact checks of ``channels`` on parameters that nobody chose: other odds, sizes, limits and grids."""

from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sottovoce.client.randomizers import RANDOMIZERS

from tests.documents import number, one_of, parsed, question, some_of, vector
from tests.property.channels import channel, check, check_distribution, check_range, worst_odds

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
    """Law, range, epsilon and bytes of the one question."""
    asked = parsed(document)
    check(asked, RANDOMIZERS[asked.mechanism.name])


@SETTINGS
@given(bits("binary_rr"), ODDS, st.integers(2, 9))
def test_one_of_k_draws_from_its_channel(bit, odds, k):
    """Binary and k-ary randomized response."""
    check_document(question(bit))
    check_document(one_of(k, {"name": "kary_rr", "odds": odds}))


@SETTINGS
@given(ODDS, st.data())
def test_subset_draws_from_its_channel(odds, data):
    """Every size of a set among up to six options."""
    k = data.draw(st.integers(2, 6))
    size = data.draw(st.integers(1, k - 1))
    check_document(one_of(k, {"name": "subset_selection", "odds": odds, "size": size}, "rating"))


@SETTINGS
@given(ODDS, st.integers(2, 5))
def test_unary_draws_from_its_channel(odds, k):
    """A bit for each option, of any odds."""
    check_document(one_of(k, {"name": "optimal_unary", "odds": odds}))


@SETTINGS
@given(bits("sampled_option"), bits("bitwise_rr"), st.data())
def test_several_of_k_draw_from_their_channel(sampled, bitwise, data):
    """Every limit on the number of choices."""
    k = data.draw(st.integers(2, 5))
    most = data.draw(st.integers(1, k))
    check_document(some_of(k, sampled, max_choices=most))
    check_document(some_of(k, bitwise, max_choices=most))


@SETTINGS
@given(bits("rounding_rr"), bits("sampled_coordinate"), SMALL.map(str), st.integers(1, 6))
def test_numbers_draw_from_their_channel(rounding, sampled, ratio, steps):
    """Every small grid, edges included."""
    check_document(number(-2, steps - 2, 1, rounding))
    check_document(number(0, steps, 1, {"name": "geometric", "ratio": ratio}))
    check_document(vector(2, 0, steps, 1, sampled))


@SETTINGS
@given(ODDS, st.data())
def test_square_wave_draws_from_its_channel(odds, data):
    """Every number of bins and width on a small grid."""
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
