"""Exact numbers."""

import math
from decimal import Context, Decimal
from fractions import Fraction

import pytest
from sottovoce.shared import rational


@pytest.mark.parametrize("text", ["0", "1", "3/4", "1/3", "4294967295/4294967296", "4294967296"])
def test_parse_fraction_reads_lowest_terms(text):
    assert text == str(rational.parse_fraction(text))


@pytest.mark.parametrize(
    "value",
    ["2/8", "3/1", "0/1", "1/0", "01/2", "1/02", "-1/2", "+1/2", "1 /2", "0.5", "1e1", "", "/", "1/", "nan", "½", "٣/4",
     "4294967297", "1/4294967297", "1/99999999999", 0.5, 1, None, True, ["1/2"]],
)  # fmt: skip
def test_parse_fraction_refuses_any_other_spelling(value):
    """Two spellings of one number would be two digests, and in another language two draws."""
    with pytest.raises(ValueError, match="must"):
        rational.parse_fraction(value)


@pytest.mark.parametrize(
    ("value", "exact", "text"),
    [("0.3", Fraction(3, 10), "0.3"), ("-2.50", Fraction(-5, 2), "-2.5"), ("-0", Fraction(0), "0"), (7,
     Fraction(7), "7"),
     ("999999999999999.999999999", Fraction(10**24 - 1, 10**9), "999999999999999.999999999"),
     ("-0.000000001", Fraction(-1, 10**9), "-0.000000001"), ("100", Fraction(100), "100")],
)  # fmt: skip
def test_decimal_is_exact_and_has_one_spelling(value, exact, text):
    assert exact == rational.parse_decimal(value)
    assert text == rational.dump_decimal(exact)


@pytest.mark.parametrize(
    "value",
    ["", ".5", "5.", "1e3", "+1", "1,5", "--1", " 1", "1 ", "1_000", "0x1", "inf", "NaN", "01", "1.0000000000",
     "9" * 16,
     0.5, True, None, float("nan"), 10**15, [1], "1\n", "１"],
)  # fmt: skip
def test_parse_decimal_refuses_what_is_not_one(value):
    with pytest.raises(ValueError, match="must be a whole number, or a decimal"):
        rational.parse_decimal(value)


@pytest.mark.parametrize(
    "odds",
    [Fraction(3), Fraction(2), Fraction(10**9 + 1, 10**9), Fraction(2**32, 2**32 - 1), Fraction(3) ** 999,
     Fraction(2**32) ** 1000, Fraction(1)],
)  # fmt: skip
def test_log_is_right_near_one_and_far_from_it(odds):
    """Epsilon keeps 14 digits however small or large it is."""
    context = Context(prec=50)
    exact = context.ln(context.divide(Decimal(odds.numerator), Decimal(odds.denominator)))

    assert math.isclose(float(exact), rational.log(odds), rel_tol=1e-14)


@pytest.mark.parametrize("epsilon", ["0.000001", "0.01", "1", "3", "10"])
def test_exp_below_is_below_and_close(epsilon):
    """A bound that is never above e^epsilon, and wastes nothing."""
    context = Context(prec=100)
    power = Fraction(context.exp(Decimal(epsilon)))

    bound = rational.exp_below(Fraction(epsilon))

    assert power * (1 - Fraction(1, 10**49)) < bound < power


def test_show_epsilon_never_rounds_down():
    """What is shown is never less than what is spent."""
    assert rational.show_epsilon(math.log(3)) == "1.10"
    assert rational.show_epsilon(math.log(2)) == "0.70"
    assert rational.show_epsilon(1e-9) == "0.01"
