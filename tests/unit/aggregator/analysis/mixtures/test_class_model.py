"""Cheater detection with predictors: coefficients, errors and mean shares of a file, and what has no such model."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from sottovoce.aggregator import mixture, open_data
from sottovoce.cli.main import main
from sottovoce.shared.errors import SurveyError

Array = NDArray[np.float64]
P = {"a": 0.25, "b": 0.75}
DESIGN, FORMULA = ["y", "cheater_detection", P, "arm"], "~ age + x"
PEOPLE = 3000


def _drawn() -> dict[str, Array]:
    """People with two predictors, a weight, an arm and a report, drawn from known shares."""
    dice = np.random.default_rng(17)
    x, arm = dice.integers(0, 2, (2, PEOPLE))
    age, weight = dice.integers(18, 80, PEOPLE), dice.lognormal(0, 0.4, PEOPLE).round(3)
    odds = np.exp([np.zeros(PEOPLE), -1.5 + x + (age - 50) / 60, -2 + x])
    honest, carrier, _ = (odds / odds.sum(axis=0)).cumsum(axis=0)
    place = dice.random(PEOPLE)
    told = dice.random(PEOPLE) < np.where(arm == 0, *P.values())
    y = np.where(place < honest, told, place < carrier)
    return {"y": y.astype(float), "arm": arm, "x": x, "age": age, "w": weight}


DRAWN = _drawn()


def _path(folder: Path, people: dict[str, Array] = DRAWN, where: NDArray[np.bool_] | None = None) -> Path:
    path = folder / "answers.csv"
    rows = zip(*(column if where is None else column[where] for column in people.values()), strict=True)
    lines = (f"{'yes' if y else 'no'},{'ab'[int(arm)]},{x:.0f},{age:.0f},{w}" for y, arm, x, age, w in rows)
    path.write_text("\n".join(["y,arm,x,age,w", *lines]))
    return path


def _own_maximum(weights: Array, columns: Array) -> tuple[Array, Callable[[Array], Array], float]:
    """Maximize the likelihood by differences of it alone, from the true coefficients on.

    Returns coefficients, the function that gives each person's logarithm, and the sum of these at the maximum.
    """
    p, yes = np.where(DRAWN["arm"] == 0, *P.values()), DRAWN["y"]

    def logs(theta: Array) -> Array:
        odds = np.exp(np.stack([np.zeros(PEOPLE), *(theta.reshape(2, -1) @ columns)]))
        honest, carrier, _ = odds / odds.sum(axis=0)
        found: Array = np.log(np.where(yes == 1, carrier + p * honest, 1 - carrier - p * honest))
        return found

    theta = np.array([-1.5, 1, 1, -2, 0, 1])
    for _ in range(12):
        gradient, curvature = _derivatives(lambda at: float(weights @ logs(at)), theta)
        theta = theta - np.linalg.solve(curvature, gradient)
    return theta, logs, float(weights @ logs(theta))


def _derivatives(function: Callable[[Array], float], at: Array, step: float = 1e-4) -> tuple[Array, Array]:
    """Gradient and second derivatives by central differences."""
    steps = step * np.eye(len(at))
    gradient = np.array([function(at + one) - function(at - one) for one in steps]) / (2 * step)
    curvature = np.array([
        [function(at + one + other) - function(at + one - other) - function(at - one + other)
         + function(at - one - other) for other in steps] for one in steps
    ]) / (4 * step**2)  # fmt: skip
    return gradient, curvature


COLUMNS = np.stack([np.ones(PEOPLE), (DRAWN["age"] - 50) / 60, DRAWN["x"]])
"""Predictors of the own maximum, whose ages are in other units to make differences exact."""

UNITS = np.kron(np.eye(2), np.array([[1, -50 / 60, 0], [0, 1 / 60, 0], [0, 0, 1]]))


def test_coefficients_and_errors_are_those_of_an_own_maximum_of_the_likelihood(tmp_path: Path) -> None:
    """Found by differences of the likelihood alone, with errors by its curvature."""
    model = open_data(_path(tmp_path)).mixture(*DESIGN, formula=FORMULA).document["model"]
    theta, logs, best = _own_maximum(np.ones(PEOPLE), COLUMNS)
    _, curvature = _derivatives(lambda at: float(logs(at).sum()), theta)
    errors = np.sqrt(np.diag(UNITS @ np.linalg.inv(-curvature) @ UNITS.T))
    assert model["log_likelihood"] == pytest.approx(best, abs=1e-6)
    assert [each["estimate"] for each in model["coefficients"]] == pytest.approx((UNITS @ theta).tolist(), abs=1e-4)
    assert [each["std_error"] for each in model["coefficients"]] == pytest.approx(errors.tolist(), rel=1e-3)
    assert [(each["category"], each["term"]) for each in model["coefficients"]] == [
        (category, term) for category in ("pi", "gamma") for term in ("(constant)", "age", "x=1")
    ]
    assert (model["n"], model["std_error_kind"]) == (PEOPLE, "observed")


def test_weights_give_errors_by_the_products_of_the_scores(tmp_path: Path) -> None:
    """V (sum of w^2 s s') V, with scores by differences; the weights are those of the effective number of people."""
    model = open_data(_path(tmp_path)).mixture(*DESIGN, formula=FORMULA, weights="w").document["model"]
    weights = DRAWN["w"] * DRAWN["w"].sum() / (DRAWN["w"] @ DRAWN["w"])
    theta, logs, best = _own_maximum(weights, COLUMNS)
    _, curvature = _derivatives(lambda at: float(weights @ logs(at)), theta)
    scores = np.array([logs(theta + one) - logs(theta - one) for one in 1e-5 * np.eye(len(theta))]) / 2e-5 * weights
    bread = np.linalg.inv(curvature)
    errors = np.sqrt(np.diag(UNITS @ bread @ scores @ scores.T @ bread @ UNITS.T))
    assert model["log_likelihood"] == pytest.approx(best, rel=2e-2)
    assert [each["estimate"] for each in model["coefficients"]] == pytest.approx((UNITS @ theta).tolist(), abs=1e-4)
    assert [each["std_error"] for each in model["coefficients"]] == pytest.approx(errors.tolist(), rel=1e-3)
    assert model["std_error_kind"] == "sandwich"


@pytest.mark.parametrize("weights", [None, "w"])
def test_without_predictors_shares_are_those_of_the_design(weights: str | None, tmp_path: Path) -> None:
    """With the same standard errors where people have equal weights."""
    found = open_data(_path(tmp_path)).mixture(*DESIGN, formula="~ 1", weights=weights).document
    for name, one in found["shares"].items():
        own = found["model"]["shares"][name]
        assert own["share"] == pytest.approx(one["share"], abs=1e-6)
        assert own["se"] == pytest.approx(one["se"], rel=1e-6 if weights is None else 0.05)
        assert own["low"] < own["share"] < own["high"]


def test_one_predictor_of_two_values_is_two_separate_fits(tmp_path: Path) -> None:
    """Log odds of the shares in each group, and mean shares of both; also of the symmetric design with b = 0."""
    model = open_data(_path(tmp_path)).mixture(*DESIGN, formula="~ x").document["model"]
    apart, sizes = [], []
    for x in (0, 1):
        inside = [(DRAWN["x"] == x) & (DRAWN["arm"] == arm) for arm in (0, 1)]
        yes, n = [int(DRAWN["y"][each].sum()) for each in inside], [int(each.sum()) for each in inside]
        apart.append({name: one["share"] for name, one in mixture("cheater_detection", [0.25, 0.75], yes, n)
                      .document["shares"].items()})  # fmt: skip
        sizes.append(sum(n))
    at = {(one["category"], one["term"]): one["estimate"] for one in model["coefficients"]}
    for name in ("pi", "gamma"):
        first, second = (np.log(each[name] / each["beta"]) for each in apart)
        assert [at[name, "(constant)"], at[name, "x=1"]] == pytest.approx([first, second - first], abs=1e-6)
    for name, one in model["shares"].items():
        assert one["share"] == pytest.approx(np.average([each[name] for each in apart], weights=sizes), abs=1e-6)
    told = {name: (p, 0) for name, p in P.items()}
    same = open_data(_path(tmp_path)).mixture("y", "cheater_detection_symmetric", told, "arm", formula="~ x")
    assert same.document["model"]["coefficients"] == model["coefficients"]


def test_command_prints_the_model_and_its_document(tmp_path: Path) -> None:
    """Which fits its schema; rows without a predictor are in the plain shares only."""
    path = _path(tmp_path)
    path.write_text(path.read_text() + "\nyes,a,,30,1\nno,,1,30,1")
    words = ["results", "mixture", str(path), "--response", "y", "--group", "arm", "--design", "cheater_detection"]
    words += ["--p", "a=.25", "--p", "b=.75", "--formula", "~ x"]
    found = json.loads(CliRunner().invoke(main, [*words, "--json"]).output)
    schema = json.loads(files("sottovoce.shared").joinpath("schema/mixture.schema.json").read_text())
    jsonschema.validate(found, schema)
    assert (found["n"], found["model"]["n"]) == (PEOPLE + 1, PEOPLE)
    printed = CliRunner().invoke(main, words).output
    assert "pi: x=1" in printed
    assert "~ x (n = 3,000)" in printed


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"design": "lie_detector"}, "a formula and lie_detector do not go together"),
        ({"design": "unrelated_unknown"}, "a formula and unrelated_unknown do not go together"),
        ({"design": "mangat", "p": [0.5], "group": None}, "a formula and mangat do not go together"),
        ({"formula": "~ z"}, "has no column 'z'; it has: y, arm, x, age"),
        ({"formula": "~ x +"}, "formula, column"),
        ({"formula": "~ 0"}, "the formula has no term"),
        ({"formula": "~"}, "names predictors only"),
        ({"formula": "y ~ x"}, "names predictors only"),
        ({"formula": "~ y"}, "'y' is a column of the design itself"),
        ({"formula": "~ arm"}, "'arm' is a column of the design itself"),
        ({"formula": "~ x + x2"}, "cannot tell the parameters apart"),
        ({"people": 3, "formula": "~ x"}, "3 people are too few for 4 coefficients"),
        ({"people": 40}, "no finite maximum"),
    ],
)
def test_what_has_no_model_is_refused(given: dict[str, Any], words: str, tmp_path: Path) -> None:
    """With the two things that do not go together, or the reason."""
    path = _path(tmp_path)
    lines = path.read_text().splitlines()[: given.pop("people", PEOPLE) + 1]
    twice = ["x2", *(line.split(",")[2] for line in lines[1:])]
    path.write_text("\n".join(f"{line},{cell}" for line, cell in zip(lines, twice, strict=True)))
    plain = {"response": "y", "design": "cheater_detection", "p": P, "group": "arm", "formula": FORMULA}
    with pytest.raises(SurveyError) as refused:
        open_data(path).mixture(**{**plain, **given})
    assert words in str(refused.value)


def test_column_with_a_channel_is_no_predictor(tmp_path: Path) -> None:
    """Its true values are not known."""
    path = _path(tmp_path)
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([f"{header},r,r_channel", *(f"{line},yes,coin_flip" for line in lines)]))
    with pytest.raises(SurveyError, match="leave 'r' out"):
        open_data(path).mixture(*DESIGN, formula="~ r")


def test_counts_alone_have_no_formula() -> None:
    """People's predictors are in a file."""
    words = ["results", "mixture", "--design", "cheater_detection", "--p", ".25", "--p", ".75", "--yes", "1,2"]
    assert "name a FILE" in CliRunner().invoke(main, [*words, "--n", "5,5", "--formula", "~ x"]).output


def test_limit_of_a_class_that_may_be_empty_is_0(tmp_path: Path) -> None:
    """A share of a few people whose likelihood without the class is nearly as large; others stay above 0."""
    counts = {(0, 0): (235, 265), (1, 0): (405, 95), (0, 1): (272, 228), (1, 1): (418, 82)}
    people = [
        (float(y), *at) for at, both in counts.items() for y, n in zip((1, 0), both, strict=True) for _ in range(n)
    ]
    columns = dict(zip(("y", "arm", "x"), np.array(people).T, strict=True))
    path = _path(tmp_path, {**columns, "age": columns["x"], "w": columns["x"] + 1})
    shares = open_data(path).mixture(*DESIGN, formula="~ x").document["model"]["shares"]
    assert [shares[name]["low"] == 0 for name in ("pi", "beta", "gamma")] == [False, False, True]
