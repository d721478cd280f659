import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator import open_data
from sottovoce.aggregator.analysis.regression.formula import Formula, parse_formula
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import MOST_STEPS, maximize
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.regression.regression_data import RegressionOptions, Sample, take_sample
from sottovoce.aggregator.analysis.regression.regression_result import Regression
from sottovoce.aggregator.analysis.report_columns import Columns, answers_of
from sottovoce.shared.errors import EstimateError, SurveyError
from sottovoce.shared.parse_survey import parse_survey

from tests.commands import run
from tests.documents import names, survey
from tests.surveys import months
from tests.unit.aggregator.analysis.item_response.test_items import _mturk
from tests.unit.aggregator.analysis.jobs.long_model import long_columns
from tests.unit.aggregator.analysis.reports import COIN as FLIP, ONES, OTHER, ROW, SAWTOOTH, WEIGHTS, X, columns
from tests.unit.aggregator.analysis.survey_of_reports import COIN, NULL, QUESTIONS, asked, reports
from tests.unit.shared.test_schema import validate, validator

EVERYTHING = reports()

ITEMS = ("voting", "lifting", "tax")


def long_mturk(folder: Path) -> Path:
    """The same answers, each in a row of its own with the person's id."""
    header, *people = _mturk(folder).read_text().splitlines()
    assert header == "voting,voting_channel,lifting,lifting_channel,tax,tax_channel"
    rows = ["id,item,y,y_channel"]
    for number, line in enumerate(people):
        cells = line.split(",")
        rows += [f"p{number},{item},{cells[2 * at]},{cells[2 * at + 1]}" for at, item in enumerate(ITEMS)
                 if cells[2 * at]]  # fmt: skip
    path = folder / "long.csv"
    path.write_text("\n".join(rows))
    return path


def made(folder: Path, reports: Sequence[tuple[Any, ...]], header: str = "id,x,y") -> Any:
    path = folder / "rows.csv"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in reports)]))
    return open_data(path)


def clustered(people: int, rows: int, spread: float, seed: int) -> list[tuple[str, int, int]]:
    """Answers whose log odds are -.5 + .8 x + spread z."""
    dice = np.random.default_rng(seed)
    z, x = dice.normal(size=people), dice.integers(0, 2, (people, rows))
    y = dice.random((people, rows)) < 1 / (1 + np.exp(0.5 - 0.8 * x - spread * z[:, None]))
    return [(f"c{at}", int(x[at, row]), int(y[at, row])) for at in range(people) for row in range(rows)]


def test_crosswise_items_of_each_person_have_the_figures_of_quadrature(tmp_path: Path) -> None:
    """-.5455 (.0790), .3882 (.1035), -.9921 (.1286), .7096 (.153), log likelihood -4,580.060; Rasch is the same fit."""
    path = long_mturk(tmp_path)
    asked = ["results", "regress", str(path), "y ~ item", "--within-person", "id", "--points", "15", "--json"]
    found = json.loads(run(*asked).stdout)
    validator("regression").validate(found)
    terms = {each["term"]: each for each in found["coefficients"]}
    base = terms["(constant)"]["estimate"]
    odds = {item: base + terms.get(f"item={item}", {"estimate": 0.0})["estimate"] for item in ITEMS}
    rasch = open_data(tmp_path / "items.csv").items(*ITEMS)

    assert [odds["voting"], odds["lifting"] - odds["voting"], odds["tax"] - odds["voting"]] == pytest.approx(
        [-0.5455, 0.3882, -0.9921], abs=1e-4
    )
    assert [-odds[item] for item in ITEMS] == pytest.approx([row["estimate"] for row in rasch.rows], abs=1e-5)
    spread = found["random_intercept"]["sd"]
    assert [spread["estimate"], spread["std_error"]] == pytest.approx([0.7096, 0.153], abs=5e-4)
    assert found["random_intercept"]["clusters"] == 2309
    assert found["log_likelihood"] == pytest.approx(-4580.060, abs=1e-3)
    assert found["random_intercept"]["test"]["p"] < 0.005
    paper = " ".join(run(*asked[:-1]).stdout.partition("Text for your paper")[2].split())
    assert "Each cluster has a random intercept (clusters: 2,309), so odds ratios hold within a cluster." in paper


def test_large_clusters_are_integrated_where_their_likelihood_is(tmp_path: Path) -> None:
    """Sixteen clusters of 200: a fixed grid of 15 points would miss peaks as narrow as a tenth of one."""
    data = made(tmp_path, clustered(16, 200, 1.5, 5))
    found, again = (data.regress("y ~ x", cluster_effect="id", points=points).document for points in (15, 25))

    assert found["log_likelihood"] == pytest.approx(again["log_likelihood"], abs=1e-6)
    assert found["random_intercept"]["sd"]["estimate"] == pytest.approx(1.5, abs=0.4)
    assert found["coefficients"][1]["estimate"] == pytest.approx(0.8, abs=0.2)


def test_fewer_clusters_than_coefficients_have_the_highest_point(tmp_path: Path) -> None:
    """By an own sum over 120 points of z: a step from the estimates in any one direction is lower."""
    dice = np.random.default_rng(3)
    person, x = dice.integers(0, 5, 400), dice.normal(size=(400, 5)).round(2)
    odds = x @ [0.5, -0.5, 0.3, 0.2, -0.4] + dice.normal(size=5)[person]
    y = (dice.random(400) < 1 / (1 + np.exp(-odds))) ^ (dice.random(400) > 0.75)
    rows = [",".join(map(str, row)) for row in zip(np.where(y, "yes", "no"), person, *x.T, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["y,id,a,b,c,d,e", *rows]))
    data = open_data(tmp_path / "rows.csv", {"y": "warner 3/4"})
    found = data.regress("y ~ a + b + c + d + e", cluster_effect="id").document
    best = np.array(
        [each["estimate"] for each in found["coefficients"]] + [found["random_intercept"]["sd"]["estimate"]]
    )
    z, mass = np.polynomial.hermite_e.hermegauss(120)

    def log_likelihood(theta: np.ndarray) -> float:
        yes = 1 / (1 + np.exp(-(theta[0] + x @ theta[1:-1])[:, None] - theta[-1] * z))
        logs = np.log(np.where(y[:, None], 0.25 + yes / 2, 0.75 - yes / 2))
        return sum(float(np.log(np.exp(logs[person == at].sum(axis=0)) @ mass / mass.sum())) for at in range(5))

    assert log_likelihood(best) == pytest.approx(found["log_likelihood"], abs=1e-5)
    for step in 0.01 * np.vstack([np.eye(7), -np.eye(7)]):
        assert log_likelihood(best + step) < log_likelihood(best)


def test_people_who_do_not_differ_have_0_with_an_upper_limit(tmp_path: Path) -> None:
    """Answers that are less alike within people than by chance: an estimate, and no error."""
    rows = [(f"p{at}", 0, value) for at in range(60) for value in (0, 1)]
    result = made(tmp_path, rows).regress("y ~ 1", cluster_effect="id")
    spread = result.document["random_intercept"]["sd"]

    assert (spread["estimate"], spread["std_error"], spread["low"]) == (0.0, None, 0.0)
    assert 0 < spread["high"] < 1
    assert result.document["random_intercept"]["test"]["p"] == 1.0
    assert "Clusters: 60." in str(result)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"cluster": "id"}, "a random intercept and a cluster do not go together"),
        ({"errors": "sandwich"}, "a random intercept and other errors do not go together"),
        ({"model": "linear"}, "an outcome that is not yes or no"),
        ({"weights": np.ones(80)}, "a random intercept and weights do not go together"),
        ({"at": [{"x": 1}]}, "goes without at and declining"),
        ({"points": 4}, "must be from 5 to 120"),
        ({"among": "careful"}, "these reports have no anchor"),
    ],
)
def test_what_does_not_go_with_it_is_refused_by_name(tmp_path: Path, options: dict[str, Any], why: str) -> None:
    with pytest.raises(SurveyError, match=why):
        made(tmp_path, clustered(20, 4, 1.0, 1)).regress("y ~ x", cluster_effect="id", **options)


@pytest.mark.parametrize(
    ("rows", "formula", "why"),
    [
        # Nothing tells people apart from noise; here one of two answers is missing.
        (
            [row for at in range(40) for row in ((at, 0, ""), (at, at % 2, at % 3 % 2))],
            "y ~ x",
            "clusters with two reports or more, and each of these has one",
        ),
        # The standard deviation has no finite estimate.
        (
            [(f"p{at}", row, at % 2) for at in range(60) for row in range(3)],
            "y ~ 1",
            "no finite maximum: leave out predictors, or the random intercept",
        ),
    ],
    ids=["one report each", "all alike"],
)
def test_clusters_that_tell_no_difference_are_refused(
    tmp_path: Path, rows: list[tuple[Any, ...]], formula: str, why: str
) -> None:
    with pytest.raises(SurveyError, match=why):
        made(tmp_path, rows).regress(formula, cluster_effect="id")


@pytest.mark.parametrize("options", [{}, {"cluster_effect": "id"}])
def test_outcome_that_is_alike_for_all_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    """A yes of everybody in a file leaves one category, which no predictor can explain."""
    with pytest.raises(SurveyError, match="everybody has the same answer to 'y'"):
        made(tmp_path, [(at // 2, at % 2, "yes") for at in range(60)]).regress("y ~ x", **options)


def beside(questions: list[dict[str, Any]], **values: np.ndarray) -> Columns:
    newest = parse_survey(survey(*QUESTIONS, *questions))
    more = {name: column.astype(np.uint32) for name, column in values.items()}
    return replace(EVERYTHING, revisions=(newest,), values={**EVERYTHING.values, **more})


def estimates(fitted: Regression) -> list[float | None]:
    return [coefficient.estimate for coefficient in fitted.coefficients]


def errors(fitted: Regression) -> list[float | None]:
    return [coefficient.std_error for coefficient in fitted.coefficients]


def test_yes_no_is_explained_by_a_logit_with_the_linear_model_beside() -> None:
    """Both, the effects in shares and the tests are those of the worked example."""
    fitted = regress(EVERYTHING, "said", ["x", "g"])

    assert (fitted.model, fitted.n, fitted.std_error_kind, fitted.converged) == ("logit", 600, "observed", True)
    assert [each.term for each in fitted.coefficients] == ["(constant)", "x", "g=yes"]
    assert estimates(fitted) == pytest.approx([-0.430324, 0.905493, -0.948907], abs=5e-7)
    assert errors(fitted) == pytest.approx([0.255904, 0.224050, 0.479036], abs=5e-7)
    assert (fitted.ame[0].estimate, fitted.ame[0].std_error) == pytest.approx((0.163596, 0.025905), abs=5e-7)
    assert [test.predictor for test in fitted.tests] == ["x", "g"]
    assert fitted.tests[0].statistic == pytest.approx(26.612909, abs=5e-7)
    assert (fitted.tests[0].df, fitted.tests[0].p) == (1, pytest.approx(2.48577e-7, rel=1e-4))
    assert estimates(fitted.linear) == pytest.approx([0.414335, 0.175114, -0.171813], abs=5e-7)
    assert errors(fitted.linear) == pytest.approx([0.048613, 0.033415, 0.082912], abs=5e-7)
    assert fitted.coefficients[1].low == pytest.approx(0.905493 - 1.959964 * 0.224050, abs=2e-6)
    assert fitted.warnings == ()
    assert fitted.log_likelihood == pytest.approx(-394.296809, abs=5e-7)


def test_choice_and_rating_have_models_of_their_own() -> None:
    choice, rating = regress(EVERYTHING, "choice", ["x"]), regress(EVERYTHING, "rating", ["x", "g"], model="ordered")

    assert [(each.category, each.term) for each in choice.coefficients[:3]] == [
        ("c1", "(constant)"),
        ("c1", "x"),
        ("c2", "(constant)"),
    ]
    assert estimates(choice) == pytest.approx([-0.173613, 0.158880, -0.087332, 0.045364, -1.177921, 0.011442], abs=5e-7)
    assert [each.term for each in rating.coefficients] == ["x", "g=yes", "r0|r1", "r1|r2", "r2|r3"]
    assert estimates(rating) == pytest.approx([0.8820, -0.5315, -1.2078, 0.3908, 1.2733], abs=5e-5)
    assert [each.category for each in choice.linear.coefficients] == ["c1", "c1", "c2", "c2", "c3", "c3"]


def test_randomized_predictors_of_a_public_number_are_corrected() -> None:
    """A coin answer and a noisy number, each alone, as in the worked examples; both at once need their product."""
    outcome = 2 + X + 0.8 * OTHER + SAWTOOTH
    steps = np.round((outcome + 10) * 200).astype(int)
    given = beside([asked("y", "decimal", None, min="-10", max="20", step="0.005")], y=steps)
    coin = regress(given, "y", ["x", "other"])

    assert [each.term for each in coin.coefficients] == ["(constant)", "x", "other=yes"]
    assert estimates(coin) == pytest.approx([1.749126, 0.974445, 1.885082], abs=5e-7)
    assert errors(coin) == pytest.approx([0.055336, 0.056465, 0.174950], abs=5e-7)
    both = regress(given, "y", ["noisy", "other"])
    assert [each.term for each in both.coefficients] == ["(constant)", "noisy", "other=yes"]
    z, number_score = (OTHER - 0.25) / 0.5, _geometric_scores()[0]
    design = np.stack([np.ones(600), number_score, z])
    moments = design @ design.T
    moments[1, 1], moments[2, 2] = _geometric_scores()[1].sum(), z.sum()
    assert estimates(both) == pytest.approx(np.linalg.solve(moments, design @ outcome), abs=1e-9)


def _geometric_scores() -> tuple[np.ndarray, np.ndarray]:
    """Of the noisy numbers: of themselves and of their squares, by the formulas for r = .8 and ten steps."""
    reported = EVERYTHING.values["noisy"].astype(float)
    at_end = [reported == 0, reported == 10]
    return np.select(at_end, [-4.0, 14.0], reported), np.select(at_end, [-4.0, 176.0], reported**2 - 40)


def test_logit_on_a_randomized_answer_shows_the_model_it_leans_on() -> None:
    """A given x is part of the result, and not of the coefficients."""
    outcome = (35 + 15 * OTHER + 10 * (X > 0) > 41 * ROW % 100).astype(int)
    fitted = regress(reports(g=outcome), "g", ["x", "other"])

    assert [each.term for each in fitted.coefficients] == ["(constant)", "x", "other=yes"]
    assert estimates(fitted) == pytest.approx([-0.5666, 0.1345, 1.3575], abs=5e-5)
    assert errors(fitted) == pytest.approx([0.1512, 0.0855, 0.4422], abs=5e-5)
    assert (fitted.of_predictor.outcome, len(fitted.of_predictor.coefficients)) == ("other", 2)
    assert [test.df for test in fitted.tests] == [1, 1]


def test_weights_and_clusters_have_errors_of_their_own_kind() -> None:
    weighted = regress(EVERYTHING, "said", ["x", "g"], weights=WEIGHTS)
    clustered = regress(EVERYTHING, "said", ["x", "g"], cluster="hundred")
    by_array = regress(EVERYTHING, "said", ["x", "g"], cluster=ROW // 6)

    assert estimates(weighted) == pytest.approx([-0.476765, 0.847357, -0.974589], abs=5e-7)
    assert errors(weighted) == pytest.approx([0.262555, 0.222850, 0.508987], abs=5e-7)
    assert errors(clustered) == pytest.approx([0.128551, 0.161633, 0.285684], abs=5e-7)
    assert errors(by_array) == errors(clustered)
    assert (weighted.std_error_kind, clustered.std_error_kind) == ("sandwich", "clustered")
    nested = regress(EVERYTHING, "said", ["x", "g"], cluster=EVERYTHING.values["g"].astype(int) * 5 + ROW % 5)
    kinds = (weighted, 1.959964), (clustered, 1.984217), (clustered.linear, 1.984217), (nested, 2.306004)
    for model, quantile in kinds:
        for each in (*model.coefficients, *model.ame):
            assert (each.high - each.estimate) / each.std_error == pytest.approx(quantile, abs=1e-4)
    assert weighted.tests == clustered.tests == ()
    assert "errors are sandwich" in weighted.warnings[0]
    assert weighted.deff == pytest.approx(600 * (WEIGHTS @ WEIGHTS) / WEIGHTS.sum() ** 2)


def test_missing_maximum_has_no_standard_errors_but_limits_and_a_linear_model() -> None:
    said = np.where(ROW < 300, ROW % 2, ROW % 10 == 0).astype(int)
    fitted = regress(reports(said=said, g=ROW >= 300), "said", ["g"])

    assert (fitted.converged, fitted.std_error_kind) == (False, "none")
    assert "no finite estimate: g=yes could be" in fitted.warnings[0]
    group = fitted.coefficients[1]
    assert (group.estimate, group.std_error, group.low) == (None, None, None)
    assert group.high < 0
    assert (fitted.ame, fitted.tests, fitted.covariance) == ((), (), None)
    assert fitted.linear.coefficients[1].estimate == pytest.approx(-0.8)
    json.dumps(fitted.as_dict(), allow_nan=False)
    weighted = regress(reports(said=said, g=ROW >= 300), "said", ["g"], weights=WEIGHTS)
    assert "no limits either" in weighted.warnings[1]
    assert all(each.low is None and each.high is None for each in weighted.coefficients)


def test_model_of_many_coefficients_without_a_maximum_searches_no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 50 groups of 12 reports they took a minute, and were thrown away with the groups that have no estimate."""
    monkeypatch.setattr("sottovoce.aggregator.analysis.regression.fit_likelihood.MOST_LIMITED", 1)
    said = np.where(ROW < 300, ROW % 2, ROW % 10 == 0).astype(int)
    fitted = regress(reports(said=said, g=ROW >= 300), "said", ["g"])
    assert "more than 40 coefficients or very many peaks there are no limits" in fitted.warnings[0]
    assert [(each.low, each.high) for each in fitted.coefficients] == [(None, None)] * 2
    assert fitted.linear is not None


def test_limits_among_many_peaks_are_not_searched_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has the last category: 36 coefficients took three minutes, and some had the same low and high limit."""
    passes, sums = [], Multinomial.sums
    monkeypatch.setattr(Multinomial, "sums", lambda *at: passes.append(1) or sums(*at))
    fitted = regress(long_columns(300), "answer", ["a", "b", "c"])

    assert "very many peaks there are no limits" in fitted.warnings[-1]
    assert {(each.low, each.high) for each in fitted.coefficients} == {(None, None)}
    # Two searches of at most 200 steps; those of a single limit are more.
    assert len(passes) < 2 * MOST_STEPS


def test_what_was_not_asked_takes_no_part() -> None:
    known = ROW % 2 == 0
    some = regress(reports(other=np.where(known, OTHER, NULL)), "other", ["x"])
    half = {name: column[known] for name, column in EVERYTHING.values.items()}
    alone = regress(Columns(EVERYTHING.revisions, half, np.zeros(300, int), np.zeros(300, int)), "other", ["x"])

    weighted = regress(reports(other=np.where(known, OTHER, NULL)), "other", ["x"], weights=WEIGHTS)
    direct = maximize(Multinomial(columns(ONES[known], X[known]), OTHER[known], FLIP, WEIGHTS[known]))
    assert estimates(weighted) == pytest.approx(direct.theta, abs=1e-9)
    assert some.n == 300
    assert some.as_dict() == alone.as_dict()


def test_revisions_with_other_channels_are_predictors_and_keep_their_channels() -> None:
    """Half answered with a coin flip, half directly through Warner's design; each as it was reported."""
    warner = {"name": "warner", "truth": "2/3"}
    other = parse_survey(survey(asked("said", "boolean", warner), *QUESTIONS[1:], revision=2))
    late = (ROW >= 300).astype(np.uint8)
    given = replace(EVERYTHING, revisions=(EVERYTHING.revisions[0], other), revision=late)
    fitted = regress(given, "said", ["x"])
    plain = regress(given, "said", ["x"], strata=False)

    assert [each.term for each in fitted.coefficients] == ["(constant)", "x", "(stratum)=revision 2, wave 0"]
    assert [each.term for each in plain.coefficients] == ["(constant)", "x"]
    yes = 1 / (1 + np.exp(-np.array(estimates(plain)) @ np.stack([np.ones(600), X])))
    low, high = np.where(late, 1 / 3, 1 / 4), np.where(late, 2 / 3, 3 / 4)
    said = low + (high - low) * yes
    assert plain.log_likelihood == pytest.approx(np.log(np.where(EVERYTHING.values["said"], said, 1 - said)).sum())


def test_stratum_of_a_handful_of_people_stands_with_the_largest() -> None:
    """It tells nothing about how answers drift."""
    few = replace(EVERYTHING, wave=(ROW < 3).astype(np.uint8))
    assert [each.term for each in regress(few, "said", ["x"]).coefficients] == ["(constant)", "x"]


def test_waves_of_the_same_people_are_warned_of() -> None:
    """Unless each wave asks others."""
    for fresh, warned in (({}, True), ({"fresh_samples": True}, False)):
        given = replace(reports(more={"waves": months(2), **fresh}), wave=(ROW % 2).astype(np.uint8))
        fitted = regress(given, "said", ["x"])
        assert any("the same people" in warning for warning in fitted.warnings) == warned
        assert fitted.coefficients[2].term == "(stratum)=revision 1, wave 1"


def test_no_answer_that_counts_as_one_is_told() -> None:
    absent = asked("other", "boolean", COIN, when_absent="no", visible_if={"g": "yes"})
    others = [question for question in QUESTIONS if question["name"] != "other"]
    given = replace(EVERYTHING, revisions=(parse_survey(survey(*others, absent)),))
    for outcome, predictors in (("other", ["x"]), ("x", ["other"])):
        assert regress(given, outcome, predictors).warnings[0] == "'other': who gave no answer counts as 'no'"


def test_few_reports_for_much_noise_are_warned_of() -> None:
    """The rule of thumb: ten for each parameter, times four for a coin flip."""
    assert any("rule of thumb asks for 120" in text for text in regress(reports(100), "said", ["x", "g"]).warnings)
    assert regress(reports(120), "said", ["x", "g"]).warnings == ()


@pytest.mark.parametrize(
    ("outcome", "predictors", "more", "words"),
    [
        ("nothing", ["x"], {}, "asks no such question; there are: said, other, x"),
        ("said", ["nothing"], {}, "asks no such question; there are: said, other, x"),
        ("drawn", ["x"], {}, "is asked for as: drawn.c0, drawn.c1"),
        ("said", ["said"], {}, "needs two different variables"),
        ("said", ["x", "x"], {}, "needs two different variables"),
        ("drawn.c0", ["drawn.c1"], {}, "no report contains two options"),
        ("said", ["rounded"], {"model": "linear"}, "'rounded' .* not a predictor"),
        ("said", ["x"], {"model": "probit"}, "the model must be one of: logit"),
        ("said", ["x"], {"errors": "bootstrap"}, "the errors must be one of: observed"),
        ("said", ["x"], {"confidence": 95}, "must lie between 0 and 1"),
        ("said", ["x"], {"among": "some"}, "the people must be one of: answered, all"),
        ("said", ["x"], {"declining": "never"}, "must be one of: modelled, common"),
        ("x", ["g"], {"model": "logit"}, "is a number; its model is linear"),
        ("choice", ["g"], {"model": "logit"}, "more than two categories"),
        ("said", ["other", "choice", "rating", "drawn.c0"], {}, "at most 32 joint categories"),
        ("rating", ["other"], {"model": "ordered"}, "takes no randomized predictor"),
        ("said", ["noisy"], {}, "a randomized number can explain in a linear model only"),
        ("choice", ["x"], {"errors": "expected"}, "choose observed"),
        ("said", ["x"], {"weights": WEIGHTS[:7]}, "7 weights for 600 reports"),
        ("said", ["x"], {"weights": -WEIGHTS}, "row 1: the weight is missing"),
        ("said", ["x"], {"cluster": "other"}, "its clusters are not known"),
        ("said", ["x"], {"cluster": ROW[:3]}, "3 clusters for 600 reports"),
        ("said", parse_formula("said ~ 0"), {"model": "logit"}, "the formula has no term"),
        ("said", parse_formula("said ~ 0"), {"model": "linear"}, "the formula has no term"),
    ],
)
def test_what_cannot_be_estimated_is_refused(
    outcome: str, predictors: list[str] | Formula, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(EstimateError, match=words):
        regress(EVERYTHING, outcome, predictors, **more)


def test_groups_of_fewer_than_five_are_refused() -> None:
    """A public predictor that four people share; one that all have the same answer to."""
    with pytest.raises(EstimateError, match="fewer than 5 people said yes"):
        regress(reports(g=ROW < 4), "said", ["g"])
    with pytest.raises(EstimateError, match="everybody has the same answer to 'g'"):
        regress(reports(g=ROW < 0), "said", ["g"])


def test_small_third_group_is_left_out_of_a_model_with_its_n() -> None:
    """The model is that of the other people, also where another group is small without these; a note has both n."""
    given = beside(
        [asked(name, "select_one", None, choices=names(3, name[0])) for name in ("gender", "year")],
        gender=np.where(ROW < 4, 2, ROW % 2),
        year=np.where((ROW > 2) & (ROW < 8), 2, ROW // 2 % 2),
    )

    found, others = (regress(each, "said", ["year", "gender"]) for each in (given, given.among(ROW > 7)))

    assert found.warnings == (
        "'gender': answers of fewer than 5 people are left out: g2 (n = 4)",
        "'year': answers of fewer than 5 people are left out: y2 (n = 4)",
    )
    assert (found.n, found.coefficients) == (592, others.coefficients)
    assert regress(given, "said", ["year", "gender"], smallest_group=1, model="linear").n == 600
    with pytest.raises(EstimateError, match="'third' and 'gender', which are both public"):
        regress(given, "third", ["gender"])


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("smallest", [1, 5])
@pytest.mark.parametrize("model", ["logit", "among", "weighted"])
def test_few_people_none_of_whom_seems_to_say_yes_are_left_out_of_a_model(
    model: str, smallest: int, first: bool
) -> None:
    """Estimates of the others are those without them, wherever their category stands; of more people it is named."""
    third = asked("third_gender", "select_one", None, choices=names(3))

    def given(few: int) -> Columns:
        gender, said = np.where(few > ROW, 2, ROW % 2), np.where(few > ROW, 0, EVERYTHING.values["said"])
        return beside([third], said=said, third_gender=(gender + first) % 3)

    more: dict[str, Any] = {"smallest_group": smallest} | ({"among": "all"} if model == "among" else {})

    def fitted(columns: Columns) -> Regression:
        weights = {"weights": 1 + columns.values["third_gender"] % 2} if model == "weighted" else {}
        return regress(columns, "said", ["third_gender"], **more, **weights)

    few, many = given(6), given(90)
    found, others = fitted(few), fitted(few.among(ROW > 5))

    name = names(3)[(2 + first) % 3]["name"]
    assert found.converged
    assert (found.n, found.coefficients, found.tests) == (594, others.coefficients, others.tests)
    [note] = [each for each in found.warnings if "left out" in each]
    assert note.startswith(f"'third_gender': left out as too few for an estimate: {name} (n = 6); their reports")
    refused = fitted(many)
    assert (refused.n, refused.converged) == (600, False)
    assert f"third_gender={'c1' if first else name}" in str(refused.warnings)


def test_small_cells_of_two_public_answers_are_refused() -> None:
    given = reports(g=(ROW % 3 == 1) & (ROW > 20) | (ROW == 0))
    with pytest.raises(EstimateError, match="some two answers to 'g' and 'third', which are both public"):
        regress(given, "g", ["x", "third"])
    assert regress(given, "said", ["g", "third"]).n == 600
    assert regress(given, "g", ["x", "third"], smallest_group=1, model="linear").n == 600


def test_fewer_reports_than_parameters_are_refused() -> None:
    with pytest.raises(EstimateError, match="3 reports cannot tell 6 parameters"):
        regress(reports(3), "choice", ["x"])
    apart = reports(said=np.where(ROW % 2, 1, NULL), other=np.where(ROW % 2, NULL, 1))
    with pytest.raises(EstimateError, match="never asked of the same person"):
        regress(apart, "said", ["other"], model="linear")


def test_memoized_answers_of_several_waves_are_refused() -> None:
    """They hang together through one draw."""
    document = survey(
        asked("said", "boolean", {"name": "memoized_rr", "permanent": COIN, "instantaneous": COIN, "waves": 2}),
        *QUESTIONS[1:],
        waves=months(2),
    )
    given = replace(EVERYTHING, revisions=(parse_survey(document),), wave=(ROW % 2).astype(np.uint8))
    with pytest.raises(EstimateError, match="choose one wave"):
        regress(given, "said", ["x"])


def test_document_is_as_its_schema_says() -> None:
    said = np.where(ROW < 300, ROW % 2, ROW % 10 == 0).astype(int)
    fits = [
        regress(EVERYTHING, "said", ["x", "other"]),
        regress(EVERYTHING, "choice", ["x"], cluster="hundred"),
        regress(EVERYTHING, "rating", ["x"], model="ordered"),
        regress(EVERYTHING, "x", ["noisy"]),
        regress(reports(said=said, g=ROW >= 300), "said", ["g"]),
    ]
    for fitted in fits:
        validate("regression", fitted.as_dict())
    wrong = {**fits[0].as_dict(), "std_error_kind": "robust"}
    assert not validator("regression").is_valid(wrong)


@pytest.mark.parametrize("kind", ["observed", "sandwich", "opg"])
@pytest.mark.parametrize(
    ("outcome", "terms", "model", "weights"),
    [
        ("said", "other + g", "logit", None),
        ("said", "other * x + I(x^2)", "logit", None),
        ("said", "other + I(x^2)", "linear", None),
        ("said", "other * g", "linear", WEIGHTS),
        ("rating", "other + g", "multinomial", WEIGHTS),
        ("rounded", "other * x", "linear", WEIGHTS),
    ],
)
def test_equal_reports_count_once_with_the_same_figures(
    monkeypatch: pytest.MonkeyPatch, kind: str, outcome: str, terms: str, model: str, weights: np.ndarray | None
) -> None:
    """All figures of a model are those of its reports one by one, whose numbers a column may not tell apart."""
    given = reports(x=25 * (ROW % 5))
    choices = {"model": model, "errors": kind, "weights": weights}
    grouped = regress(given, outcome, parse_formula(terms), **choices)
    monkeypatch.setattr(Sample, "grouped", property(lambda sample: sample))
    single = regress(given, outcome, parse_formula(terms), **choices)
    for one, other in zip(numbers_in(grouped.as_dict()), numbers_in(single.as_dict()), strict=True):
        assert one == pytest.approx(other, rel=1e-6, abs=1e-8)


def numbers_in(document: object) -> list[float]:
    if isinstance(document, dict):
        document = list(document.values())
    if isinstance(document, list | tuple):
        return [number for each in document for number in numbers_in(each)]
    return [float(document)] if isinstance(document, int | float) else []


def test_equal_reports_are_one_row() -> None:
    """Of 600 reports of two coins and a group there are eight; a number that differs everywhere leaves them apart."""
    few, many = (
        take_sample(reports(), said, formula, [answers_of(reports(), name) for name in formula.predictors], alone)
        for said, alone in [(answers_of(reports(), "said"), RegressionOptions())]
        for formula in (parse_formula("other + g"), parse_formula("other + hundred + x"))
    )
    assert [len(few.grouped.rows), few.grouped.n, few.grouped.reports] == [8, 600, 600]
    assert many.grouped is many
