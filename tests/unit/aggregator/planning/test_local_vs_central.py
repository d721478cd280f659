"""The price of trusting nobody: each row by its own formula, and the order in which they stand."""

import math
import xml.etree.ElementTree as ET
from fractions import Fraction

import pytest
from sottovoce.aggregator.planning.local_vs_central import PEOPLE, allowed_by_shuffling, price_of_trust, price_svg
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.shuffling import pair_weight, shuffled_bound

ONE = Fraction(1)


def rows(price):
    """Half-widths by trust and name."""
    return {(row.trust, row.name): row.half_widths for row in price.rows}


def test_yes_no_meets_its_formulas():
    """Randomized response at epsilon 1, one noisy count, nothing but people; z = 1.96 at p = 1/2."""
    found = rows(price_of_trust(ONE))
    e = math.e

    for place, n in enumerate(PEOPLE):
        local = 1.959964 * math.sqrt((0.25 + e / (e - 1) ** 2) / n)
        central = 1.959964 * math.sqrt(0.25 / n + 2 / e / (1 - 1 / e) ** 2 / n**2)
        assert found["local", "binary_rr"][place] == pytest.approx(local, rel=1e-5)
        assert found["central", "discrete Laplace"][place] == pytest.approx(central, rel=1e-5)
        assert found["none", "no noise"][place] == pytest.approx(0.979982 / math.sqrt(n), rel=1e-5)


@pytest.mark.parametrize("options", [2, 8])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), ONE, Fraction(3)])
def test_more_trust_never_costs_more(epsilon, options):
    """No noise, central Laplace, shuffled, the same mechanism on the device."""
    found = rows(price_of_trust(epsilon, options))
    same = "binary_rr" if options == 2 else "kary_rr"

    for place in range(len(PEOPLE)):
        order = [("none", "no noise"), ("central", "discrete Laplace"), ("shuffled", same), ("local", same)]
        widths = [found[key][place] for key in order]
        assert widths == sorted(widths)


def test_curators_noise_vanishes_and_the_devices_does_not():
    """Of ten million people central noise is less than a millionth of the error; the device's stays twice as wide."""
    found = rows(price_of_trust(ONE))
    none = found["none", "no noise"][-1]

    assert found["central", "discrete Laplace"][-1] / none < 1 + 1e-6
    assert found["local", "binary_rr"][-1] / none == pytest.approx(2.164, abs=0.001)


@pytest.mark.parametrize(("epsilon", "people"), [(0.5, 1000), (1.0, 10_000)])
def test_shuffling_allows_what_its_bound_of_clones_confirms(epsilon, people):
    """The closed form is a theorem; the numeric bound, which is tighter, agrees that epsilon is not passed."""
    local = allowed_by_shuffling(epsilon, people, 1 / people**2)

    assert local >= epsilon
    assert shuffled_bound(local, pair_weight(local), people, 1 / people**2) <= epsilon


def test_every_mechanism_that_serves_the_question_has_its_row():
    """Of a choice, of marks and of numbers, those that there are at this epsilon; the condition of mixing is told."""
    price = price_of_trust(Fraction(2), 8, 0.1)
    names = [row.name for row in price.rows if row.trust == "local"]

    assert names == [
        *("kary_rr", "subset_selection", "optimal_unary", "hadamard_response", "sampled_option", "bitwise_rr"),
        *("rounding_rr", "level_table", "geometric", "square_wave"),
    ]
    assert next(row for row in price.rows if row.trust == "shuffled").condition.startswith("holds only if")


def test_picture_has_a_line_for_each_row():
    """And is XML."""
    price = price_of_trust(ONE)
    picture = ET.fromstring(price_svg(price))  # noqa: S314

    assert len([each for each in picture.iter() if each.tag.endswith("polyline")]) == len(price.rows)


@pytest.mark.parametrize(
    ("epsilon", "options", "prevalence", "confidence"),
    [
        (Fraction(0), 2, 0.5, 0.95),
        (Fraction(11), 2, 0.5, 0.95),
        (ONE, 1, 0.5, 0.95),
        (ONE, 2, 2.0, 0.95),
        (ONE, 2, 0.5, 1),
    ],
)
def test_comparison_out_of_range_is_refused(epsilon, options, prevalence, confidence):
    with pytest.raises(EstimateError, match=r"must lie|needs"):
        price_of_trust(epsilon, options, prevalence, confidence)
