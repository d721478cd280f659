"""Formulas: the terms that R makes of them, and everything else refused with its column."""

import ast
import re
from pathlib import Path

import pytest
from sottovoce.aggregator.analysis.regression.formula import parse_formula
from sottovoce.shared.errors import EstimateError

ROOT = Path(__file__).parents[5]
LETTERS = "abcdefghijklmnop"


def terms(text: str) -> list[str]:
    """Terms of a formula as R prints them, with 1 for the constant."""
    formula = parse_formula(text)
    return ["1"] * formula.intercept + [":".join(term) for term in formula.terms]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y ~ a", ["1", "a"]),
        ("a + b", ["1", "a", "b"]),
        ("a*b", ["1", "a", "b", "a:b"]),
        ("a:b + b + a", ["1", "b", "a", "a:b"]),
        ("b*a*c", ["1", "b", "a", "c", "b:a", "b:c", "a:c", "b:a:c"]),
        ("a*b - a", ["1", "b", "a:b"]),
        ("(a + b + c)^2", ["1", "a", "b", "c", "a:b", "a:c", "b:c"]),
        ("(a + b)**2 - a:b", ["1", "a", "b"]),
        ("(a + b + c)^3", ["1", "a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"]),
        ("a:(b + c)", ["1", "a:b", "a:c"]),
        ("a:a + a^2", ["1", "a"]),
        ("b:a + a:b", ["1", "b:a"]),
        ("0 + a", ["a"]),
        ("a - 1", ["a"]),
        ("a + 0 + 1", ["1", "a"]),
        ("a - 0", ["1", "a"]),
        ("1", ["1"]),
        ("I(age^2) + log(age + 1):b", ["1", "I(age^2)", "log(age+1):b"]),
        ("I(age**2) + I(age^2)", ["1", "I(age^2)"]),
        ("I(-age * (2 - sqrt(age)) / 1.50)", ["1", "I(((-age)*(2-sqrt(age)))/1.5)"]),
        ("`0a` + item.yes + scale(age)", ["1", "0a", "item.yes", "scale(age)"]),
        ('C(a, ref = "x"):b', ["1", "a:b"]),
        ("C(a)", ["1", "a"]),
    ],
)
def test_formula_has_the_terms_of_r(text: str, expected: list[str]) -> None:
    """Main effects before interactions, and each term once."""
    assert terms(text) == expected


def test_formula_names_outcome_reference_and_predictors() -> None:
    """Predictors within expressions too, and those of terms that were taken away not."""
    formula = parse_formula('cheated ~ C(year, ref="third") * sex + I(age^2) + left - left')

    assert (formula.outcome, formula.references) == ("cheated", {"year": "third"})
    assert formula.predictors == ("year", "sex", "age")


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("I(x.to_csv('f'))", 12, "cannot be here"),
        ("x.to_csv(a)", 1, "no such function"),
        ("__import__", 1, "cannot be here"),
        ("I(__import__('os').system('ls'))", 3, "cannot be here"),
        ("eval(a)", 1, "no such function"),
        ("a[0]", 2, "cannot be here"),
        ("lambda a: a", 8, "cannot be here"),
        ('f"{a}"', 2, "cannot be here"),
        ('a + "b"', 5, "cannot be here"),
        ("a if b else c", 3, "cannot be here"),
        ("(a+b+c+d+e+f+g+h+i+j)^10", 23, "a power of terms is 1 to 3"),
        ("*".join(LETTERS), 16, "more than 200 terms"),
        ("((a+b+c+d+e+f+g)^3)^3", 22, "more than 200 terms"),
        (":".join([f"({'+'.join(LETTERS)})"] * 3), 68, "more than 200 terms"),
        ("+".join(f"a{number}" for number in range(201)), 895, "more than 200 terms"),
        ("a" * 1001, 1001, "more than 1,000 characters"),
        ("(" * 400, 22, "nested more than 20 deep"),
        ("I(" + "-" * 100 + "a)", 23, "nested more than 20 deep"),
        ("I(" + "a^" * 100 + "a)", 43, "nested more than 20 deep"),
        ("", 1, "cannot be here"),
        ("y ~", 4, "cannot be here"),
        ("(y) ~ a", 1, "the name of a question is missing"),
        ("a ~ b ~ c", 7, "cannot be here"),
        ("(a + b", 7, "')' is missing here"),
        ("a b", 3, "cannot be here"),
        ("a + 2", 5, "cannot be here"),
        ("(1 + a):b", 2, "cannot be here"),
        ("a / b", 3, "cannot be here"),
        ("C(a, ref=1)", 10, 'C(name, ref="category")'),
        ('C(a, ref="x") + C(a, ref="y")', 29, "two reference categories"),
        ("I(I(a))", 3, "no such function"),
        ("I(a:b)", 4, "')' is missing here"),
    ],
)
def test_what_is_not_in_the_grammar_is_refused_with_its_column(text: str, column: int, words: str) -> None:
    """Before anything is expanded."""
    with pytest.raises(EstimateError) as refused:
        parse_formula(text)
    told = str(refused.value.args[0])
    assert told.startswith(f"formula, column {column:,}: ")
    assert words in told


def test_no_product_code_evaluates_text() -> None:
    """Calls of the built-in evaluators, and of libraries that evaluate formulas."""
    forbidden = {"eval", "exec", "compile", "__import__", "model_matrix", "dmatrix", "dmatrices"}
    sources = [path for side in ("shared", "client", "aggregator") for path in (ROOT / side).rglob("*.py")]
    # The others need no reading.
    like_a_call = re.compile(rf"(?<![.\w])(?:{'|'.join(forbidden)})\b")
    found = [
        (path.name, node.func.id)
        for path in sources
        if like_a_call.search(text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in forbidden
    ]
    assert len(sources) > 500
    assert found == []
