import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator import open_data
from sottovoce.aggregator.analysis.regression.corrected_least_squares import Correction, solve
from sottovoce.aggregator.analysis.regression.formula import parse_formula
from sottovoce.aggregator.analysis.regression.marginal_effects import predict
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import maximize
from sottovoce.aggregator.analysis.regression.randomized_predictor import RandomizedPredictor
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.regression.regression_data import codings
from sottovoce.aggregator.analysis.regression.regression_result import Regression
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.shared.errors import EstimateError, OptionsError
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, survey
from tests.unit.aggregator.analysis.reports import (
    COIN,
    GROUP,
    MASK_LIKELIHOOD,
    ONES,
    OTHER,
    OTHER_SCORE,
    ROW,
    SAID,
    SCORE,
    WEIGHTS,
    X,
    check_derivatives,
    columns,
    masks,
    ratings,
)
from tests.unit.aggregator.analysis.survey_of_reports import COIN as COIN_FLIP, asked, reports
from tests.unit.test_imports import ROOT

EVERYTHING = reports()

THIRD = ROW % 3

SECOND = (ROW // 2) % 2


def fitted(text: str, outcome: str = "said", **more: Any) -> Regression:
    return regress(more.pop("given", EVERYTHING), outcome, parse_formula(text), **more)


def figures(found: Regression) -> list[float | None]:
    return [each.estimate for each in found.coefficients]


LETTERS = "abcdefghijklmnop"


def test_public_terms_are_the_columns_of_hand() -> None:
    third = (ROW // 7) % 3
    found = fitted('x*g + I(x^2) + C(third, ref="c2")', given=reports(third=third))
    by_hand = columns(ONES, X, GROUP, X**2, third == 0, third == 1, X * GROUP)

    assert [each.term for each in found.coefficients] == [
        "(constant)", "x", "g=yes", "I(x^2)", "third=c0", "third=c1", "x:g=yes",
    ]  # fmt: skip
    assert figures(found) == pytest.approx(maximize(Multinomial(by_hand, SAID, COIN)).theta, abs=1e-9)
    assert [test.predictor for test in found.tests] == ["I(x^2)", "third", "x:g"]
    assert [each.term for each in found.ame] == ["x", "g=yes", "third=c0", "third=c1"]


def test_model_without_constant_has_all_categories() -> None:
    found, usual = fitted("0 + third + x"), fitted("third + x")
    first, second = usual.coefficients[:2]

    assert [each.term for each in found.coefficients] == ["third=c0", "third=c1", "third=c2", "x"]
    assert found.coefficients[1].estimate == pytest.approx(first.estimate + second.estimate, abs=1e-8)
    assert found.log_likelihood == pytest.approx(usual.log_likelihood, abs=1e-9)


def test_interaction_of_categories_is_nested_without_a_main_effect() -> None:
    found = fitted("third:g", given=reports(g=SECOND))
    assert [each.term for each in found.coefficients] == [
        "(constant)", "third=c1:g=no", "third=c2:g=no", "third=c1:g=yes", "third=c2:g=yes", "g=yes",
    ]  # fmt: skip


def test_expressions_are_computed_as_in_r() -> None:
    values = np.log(X + 3) - np.sqrt(X + 3) / 2 + np.exp(-X)
    found = fitted("I(log(x + 3) - sqrt(x + 3) / 2 + exp(-x)) + scale(x)", model="linear")
    by_hand = solve(columns(ONES, values, (X - X.mean()) / X.std(ddof=1)), SCORE)
    assert figures(found) == pytest.approx(by_hand.coefficients, abs=1e-9)


def test_prediction_uses_the_constants_of_the_fit() -> None:
    found = fitted("scale(x)*g + I(x^2)", model="linear")
    ((one,), (other,)) = predict(found, [{"x": 0.5, "g": "yes"}, {"x": "0.5", "g": "no"}])
    scaled = (0.5 - X.mean()) / X.std(ddof=1)

    assert found.covariance is not None
    assert one.estimate == pytest.approx(np.array(figures(found)) @ [1, scaled, 1, 0.25, scaled], abs=1e-9)
    assert other.estimate == pytest.approx(np.array(figures(found)) @ [1, scaled, 0, 0.25, 0], abs=1e-9)


def test_products_of_randomized_predictors_are_corrected() -> None:
    """Linear: moments of true products have scores, by hand for x*other, and a coin answer by another coin answer."""
    found = fitted("x*other + I(x^2)", model="linear")
    design = columns(ONES, X, OTHER_SCORE, X**2, X * OTHER_SCORE)
    fixed = [
        Correction(2, 2, OTHER_SCORE), Correction(2, 4, X * OTHER_SCORE), Correction(4, 4, X**2 * OTHER_SCORE),
    ]  # fmt: skip
    by_hand = solve(design, SCORE, fixed)
    assert figures(found) == pytest.approx(by_hand.coefficients, abs=1e-9)
    assert [each.std_error for each in found.coefficients] == pytest.approx(
        np.sqrt(np.diag(by_hand.covariance)), abs=1e-9
    )

    both = regress(EVERYTHING, "x", parse_formula("said*other"))
    u = columns(ONES, SCORE, OTHER_SCORE, SCORE * OTHER_SCORE)
    s, o, p = SCORE.sum(), OTHER_SCORE.sum(), (SCORE * OTHER_SCORE).sum()
    moments = np.array([[600, s, o, p], [s, s, p, p], [o, p, o, p], [p, p, p, p]])
    assert figures(both) == pytest.approx(np.linalg.solve(moments, u @ X), abs=1e-9)


def test_several_randomized_predictors_without_noise_are_ordinary_ones() -> None:
    other = SECOND
    design = columns(ONES, X, other, THIRD == 1, THIRD == 2, X * other)
    outcome = maximize(Multinomial(design, SAID, COIN))
    cells = np.array([(a, b) for a in (0, 1) for b in (0, 1, 2)])
    factors = np.array([[1, 1, a, b == 1, b == 2, a] for a, b in cells], dtype=float)
    saturated = RandomizedPredictor(
        Multinomial(columns(ONES, X, ONES, ONES, ONES, X), SAID, COIN),
        Multinomial(columns(ONES, X), 3 * other + THIRD, np.eye(6)),
        factors,
        np.eye(10),
    )
    assert maximize(saturated).theta[:6] == pytest.approx(outcome.theta, abs=1e-7)


def test_logit_on_several_randomized_predictors_and_their_interaction() -> None:
    """Each has its logit on the public predictors, and each pair one association; derivatives by difference."""
    given = reports(g=(35 + 15 * OTHER + 10 * (X > 0) > 41 * ROW % 100).astype(int))
    found = regress(given, "g", parse_formula("x + other*said"))

    assert [each.term for each in found.coefficients] == [
        "(constant)", "x", "other=yes", "said=yes", "other=yes:said=yes",
    ]  # fmt: skip
    assert (found.of_predictor.model, found.of_predictor.outcome) == ("multinomial", "other x said")
    assert [(each.category, each.term) for each in found.of_predictor.coefficients] == [
        ("other=yes", "(constant)"),
        ("other=yes", "x"),
        ("said=yes", "(constant)"),
        ("said=yes", "x"),
        ("other=yes", "said=yes"),
    ]


def test_derivatives_hold_with_restricted_cells() -> None:
    of_x, cells = columns(ONES, X), [(0, 0), (0, 1), (1, 0), (1, 1)]
    rows = np.kron(COIN, COIN)
    restriction = np.zeros((6, 5))
    for place, (one, other) in enumerate(cells[1:]):
        restriction[2 * place : 2 * place + 2, :2] = one * np.eye(2)
        restriction[2 * place : 2 * place + 2, 2:4] = other * np.eye(2)
        restriction[2 * place, 4] = one * other
    factors = np.array([[1, 1, one, other, one * other, one] for one, other in cells], dtype=float)
    outcome = Multinomial(columns(ONES, X, ONES, ONES, ONES, X), (ROW // 3) % 2, COIN, WEIGHTS)
    model = RandomizedPredictor(outcome, Multinomial(of_x, 2 * OTHER + SAID, rows), factors, restriction)
    theta = np.sin(np.arange(11))
    check_derivatives(model, theta)
    at = [float(predictor[0]) for predictor in model.predictors(theta, slice(7, 8))]
    assert model.directions(7) @ theta == pytest.approx(at, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "outcome", "more", "words"),
    [
        ("I(other^2)", "said", {}, "'other' is no public number"),
        ("log(third)", "said", {}, "'third' is no public number"),
        ("log(x)", "said", {}, r"'log\(x\)' has no finite value"),
        ("I(1/0):x", "said", {}, "has no finite value"),
        ("scale(I)", "said", {}, "asks no such question"),
        ('C(x, ref="c1")', "said", {}, "is a number, which has no reference category"),
        ('C(third, ref="SECRET")', "said", {}, "'third' is one of: c0, c1, c2"),
        ("0 + x", "rating", {"model": "ordered"}, "leave 0 and -1 out"),
        ("said", "said", {}, "needs two different variables"),
    ],
)
def test_formula_that_the_survey_does_not_answer_is_refused(
    text: str, outcome: str, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(EstimateError, match=words) as refused:
        fitted(text, outcome, **more)
    assert "SECRET" not in str(refused.value.args[0])


def test_text_with_more_categories_than_a_model_takes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("y,g\n" + "".join(f"{row % 2},g{row % 101}\n" for row in range(606)))
    with pytest.raises(EstimateError, match="'g' has more than 100 categories"):
        open_data(tmp_path / "a.csv").regress("y ~ g")


def test_interaction_that_describes_a_handful_is_refused() -> None:
    """Three people gave a combination of two public answers, each of which many gave."""
    given = reports(g=np.where(THIRD == 1, ROW < 10, ROW % 2))
    assert fitted("g + third", given=given).n == 600
    with pytest.raises(EstimateError, match="some combination of answers to g, third; leave their interaction out"):
        fitted("g*third", given=given)


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
    """Main effects before interactions, and each term once; the constant is 1."""
    formula = parse_formula(text)
    assert ["1"] * formula.intercept + [":".join(term) for term in formula.terms] == expected


def test_formula_names_outcome_reference_and_predictors() -> None:
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
    with pytest.raises(EstimateError) as refused:
        parse_formula(text)
    told = str(refused.value.args[0])
    assert told.startswith(f"formula, column {column:,}: ")
    assert words in told


def test_no_product_code_evaluates_text() -> None:
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
    assert len(sources) > 450
    assert found == []


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
    """As R and patsy code them; a factor in full coding in capitals."""
    formula = parse_formula(text)
    found = codings(((), *formula.terms) if formula.intercept else formula.terms, {"a", "b", "c"})
    coded = [
        [":".join(name.upper() if full else name for name, full in each.items()) for each in term] for term in found
    ]
    assert coded == expected


OUTCOME = (35 + 15 * OTHER + 10 * (X > 0) > 41 * ROW % 100).astype(int)


def on_cells(outcome: Multinomial, predictor: Multinomial) -> RandomizedPredictor:
    """Outcome on its columns and on an indicator of each category of the predictor after the first."""
    later = predictor.shape[0]
    ones = np.ones((later, outcome.rows))
    cells = np.hstack([np.ones((later + 1, len(outcome.columns))), np.eye(later + 1)[:, 1:]])
    with_ones = replace(outcome, columns=np.vstack([outcome.columns, ones]))
    return RandomizedPredictor(with_ones, predictor, cells, np.eye(predictor.parameters))


NEARLY = {"name": "kary_rr", "odds": "30"}

RISK = np.random.default_rng(5).integers(0, 7, 3000)

FEW = np.random.default_rng(8).integers(0, 3, 3000)

YES = np.random.default_rng(6).random(3000) < 1 / (1 + np.exp(1.5 - 0.5 * RISK))


def people(mechanism: dict[str, Any] | None = None, **more: Any) -> Columns:
    questions = [
        asked("said", "boolean", COIN_FLIP),
        asked("risk", "rating", mechanism, choices=names(7, "r"), **more),
        asked("plain", "decimal", None, min="0", max="6", step="1"),
        asked("few", "rating", None, choices=names(3, "f")),
    ]
    draws = np.random.default_rng(7)
    said = np.where(draws.random(3000) < 0.5, YES, draws.random(3000) < 0.5).astype(int)
    kept = draws.random(3000) < 30 / 36
    shown = RISK if mechanism is None else np.where(kept, RISK, (RISK + draws.integers(1, 7, 3000)) % 7)
    values = {"said": said, "risk": shown, "plain": RISK, "few": FEW}
    return Columns.from_arrays(parse_survey(survey(*questions)), values)


def model(columns: Columns, **options: Any) -> dict[str, Any]:
    return dict(parse_request("regression", options).document(columns))


def test_predictor_without_noise_is_an_ordinary_one() -> None:
    of_x = columns(ONES, X)
    both = maximize(on_cells(Multinomial(of_x, OUTCOME, COIN), Multinomial(of_x, OTHER, np.eye(2))))
    outcome = maximize(Multinomial(columns(ONES, X, OTHER), OUTCOME, COIN))
    predictor = maximize(Multinomial(of_x, OTHER, np.eye(2)))

    assert both.theta == pytest.approx([*outcome.theta, *predictor.theta], abs=1e-7)
    assert both.log_likelihood == pytest.approx(outcome.log_likelihood + predictor.log_likelihood, abs=1e-8)


def test_derivatives_hold_with_many_categories_on_both_sides() -> None:
    of_x = columns(ONES, X)
    rating = Multinomial(of_x, ratings(), np.ones((4, 4)) + 2 * np.eye(4), WEIGHTS)
    model = on_cells(rating, Multinomial(of_x, masks(), MASK_LIKELIHOOD))
    theta = np.sin(np.arange(model.parameters))
    found = check_derivatives(model, theta)

    assert model.parameters == 3 * (2 + 3) + 3 * 2
    assert model.scores(theta, slice(None)) @ WEIGHTS == pytest.approx(found.gradient, abs=1e-9)
    at = [float(predictor[0]) for predictor in model.predictors(theta, slice(7, 8))]
    assert model.directions(7) @ theta == pytest.approx(at, abs=1e-12)


@pytest.mark.parametrize("kind", ["logit", "linear"])
def test_public_rating_is_the_number_that_its_points_are(kind: str) -> None:
    columns = people()
    rating, number = (
        model(columns, outcome="said", on=[name], model=kind, at=[{name: value}])
        for name, value in (("risk", "r4"), ("plain", 4))
    )

    assert [each["term"] for each in rating["coefficients"]] == ["(constant)", "num(risk)"]
    for key in ("coefficients", "ame", "predictions"):
        for one, other in zip(rating[key], number[key], strict=True):
            assert (one["estimate"], one["low"]) == pytest.approx((other["estimate"], other["low"]))


@pytest.mark.parametrize("kind", ["logit", "linear"])
def test_randomized_rating_is_a_number_through_its_channel(kind: str) -> None:
    """The slope is that of the true ratings within its error, where reports taken as they are would flatten it."""
    columns = people(NEARLY)
    found, open_answers = (model(each, formula="said ~ num(risk)", model=kind) for each in (columns, people()))

    slope, true = (each["coefficients"][1] for each in (found, open_answers))
    assert abs(slope["estimate"] - true["estimate"]) < 2 * slope["std_error"]
    assert slope["std_error"] > true["std_error"]
    assert [each["term"] for each in found["ame"]] == (["num(risk)"] if kind == "logit" else [])
    for effect, plain in zip(found["ame"], open_answers["ame"], strict=True):
        assert abs(effect["estimate"] - plain["estimate"]) < 2 * effect["std_error"]


def test_randomized_rating_may_interact_in_a_logit() -> None:
    found = model(people(NEARLY), formula="said ~ num(risk) * num(few)")
    assert [each["term"] for each in found["coefficients"][1:]] == ["num(risk)", "num(few)", "num(risk):num(few)"]
    assert [each["term"] for each in found["ame"]] == ["num(risk)", "num(few)"]


def test_ratings_are_numbers_from_seven_points_on_unless_asked_otherwise() -> None:
    columns = people()

    def terms(**options: Any) -> list[str]:
        return [each["term"] for each in model(columns, **options)["coefficients"][1:]]

    both = {"outcome": "said", "on": ["risk", "few"]}
    assert terms(**both) == ["num(risk)", "few=f1", "few=f2"]
    assert terms(**both, scales="numbers") == ["num(risk)", "num(few)"]
    assert terms(**both, scales="categories")[:2] == ["risk=r1", "risk=r2"]
    assert terms(formula="said ~ risk")[:2] == ["risk=r1", "risk=r2"]
    assert terms(formula="said ~ num(few) + I(num(risk)^2)") == ["num(few)", "I(num(risk)^2)"]
    with pytest.raises(OptionsError, match="goes without a formula"):
        model(columns, formula="said ~ num(few)", scales="numbers")


def test_what_is_no_number_is_refused() -> None:
    columns = people(NEARLY)
    with pytest.raises(EstimateError, match="'said' is no scale"):
        regress(columns, "plain", parse_formula("num(said)"))
    with pytest.raises(EstimateError, match="'risk' is asked for twice"):
        regress(columns, "said", parse_formula("num(risk) + risk"))
    with pytest.raises(EstimateError, match="'risk': people may have given no answer"):
        regress(people(NEARLY, absent_category=True), "said", parse_formula("num(risk)"))
