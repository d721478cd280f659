"""Contrast and full coding of factors, by hand from the rules of R and patsy; a and b are categorical, x a number."""

import pytest
from sottovoce.aggregator.analysis.regression.formula import parse_formula
from sottovoce.aggregator.analysis.regression.regression_data import codings


def coded(text: str) -> list[list[str]]:
    """Products of each term, a factor in full coding in capitals."""
    formula = parse_formula(text)
    terms = ((), *formula.terms) if formula.intercept else formula.terms
    found = codings(terms, {"a", "b", "c"})
    return [
        [":".join(name.upper() if full else name for name, full in each.items()) for each in term] for term in found
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", [[""], ["a"]]),
        ("a + b", [[""], ["a"], ["b"]]),
        ("0 + a", [["A"]]),
        ("0 + a + b", [["A"], ["b"]]),
        ("a*b", [[""], ["a"], ["b"], ["a:b"]]),
        ("a + a:b", [[""], ["a"], ["A:b"]]),
        ("b + a:b", [[""], ["b"], ["B:a"]]),
        ("a:b", [[""], ["a:B", "b"]]),
        ("0 + a:b", [["A:B"]]),
        ("a:x", [[""], ["A"]]),
        ("x + a:x", [[""], [""], ["a"]]),
        ("a*x", [[""], ["a"], [""], ["a"]]),
        ("0 + a*x", [["A"], [""], ["a"]]),
        ("0 + x + a", [[""], ["A"]]),
        ("a*b*c - a:b:c", [[""], ["a"], ["b"], ["c"], ["a:b"], ["a:c"], ["b:c"]]),
    ],
)
def test_terms_have_the_coding_of_full_rank(text: str, expected: list[list[str]]) -> None:
    """As R and patsy code them."""
    assert coded(text) == expected
