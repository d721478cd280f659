from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.declining import PRIOR, DecliningModel
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import evaluate, maximize, score_products
from sottovoce.aggregator.analysis.regression.ordered_logit import Ordered
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.regression.regression_data import CarelessModel
from sottovoce.aggregator.analysis.regression.regression_result import Regression
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.text_report import in_words
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, survey
from tests.unit.aggregator.analysis.reports import check_derivatives
from tests.unit.aggregator.analysis.survey_of_reports import COIN, asked
from tests.unit.shared.test_schema import validate

THREE = np.full((3, 3), 0.2) + 0.4 * np.eye(3)
"""The coin flip over yes, no and no answer."""


def made(n: int, declined: tuple[float, float], seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    group = (generator.random(n) < 0.5).astype(int)
    number = generator.integers(0, 5, n)
    yes = generator.random(n) < 1 / (1 + np.exp(0.5 - group - 0.4 * (number - 2)))
    truth = np.where(generator.random(n) < np.take(declined, group), 2, yes)
    return (np.cumsum(THREE[truth], axis=1) < generator.random((n, 1))).sum(axis=1), group, number


def predicted(n: int, declined: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    reported, group, number = made(n, declined)
    return reported, np.stack([np.ones(n), group, number - 2.0])


def likelihoods(kind: str) -> DecliningModel:
    reported, columns = predicted(400, (0.1, 0.3))
    weights = 1 + (np.arange(400) % 3) / 2
    if kind == "careless":
        # A mixture within a mixture: careful people may decline.
        within = likelihoods("logit")
        return CarelessModel(within, columns, np.array([0.5, 0.2, 0.3]), 0.2)
    if kind == "ordered":
        channel = np.full((4, 4), 1 / 6) + np.eye(4) / 3
        codes = (reported + np.arange(400) % 2) % 4
        inner: Multinomial | Ordered = Ordered(columns[1:], codes, channel[:, :-1], weights)
        return DecliningModel(inner, columns[:2], channel[:, -1], 0.2)
    return DecliningModel(Multinomial(columns, reported, THREE[:, :-1], weights), columns[:2], THREE[:, -1], 0.2)


@pytest.mark.parametrize("kind", ["logit", "ordered", "careless"])
def test_gradient_and_information_are_the_derivatives(kind: str) -> None:
    model = likelihoods(kind)
    check_derivatives(model, model.start() + np.linspace(-0.2, 0.3, model.parameters), 1e-4)


def test_scores_of_single_reports_add_up() -> None:
    model = likelihoods("logit")
    plain = replace(model, answered=replace(model.answered, weights=None))
    theta = plain.start()

    assert plain.scores(theta, slice(None)).sum(axis=1) == pytest.approx(evaluate(plain, theta).gradient, abs=1e-9)
    assert score_products(plain, theta).shape == (plain.parameters, plain.parameters)


def climbed(height: Callable[[np.ndarray], float], start: np.ndarray, step: float = 0.5) -> np.ndarray:
    """The highest point by pattern search: along each axis in turn, in ever shorter steps."""
    best, reached = start, height(start)
    while step > 1e-5:
        tried = [best + side * step * axis for axis in np.eye(len(best)) for side in (1, -1)]
        heights = [height(each) for each in tried]
        if max(heights) > reached:
            best, reached = tried[int(np.argmax(heights))], max(heights)
        else:
            step /= 2
    return best


def test_another_optimiser_finds_the_same_maximum() -> None:
    """The log likelihood written out plainly, maximized without derivatives of ours."""
    reported, columns = predicted(3000, (0.05, 0.35))
    model = DecliningModel(Multinomial(columns, reported, THREE[:, :-1]), columns, THREE[:, -1], 0.2)

    def height(theta: np.ndarray) -> float:
        declined, yes = (1 / (1 + np.exp(-part @ columns)) for part in (theta[3:], theta[:3]))
        truth = np.stack([(1 - declined) * (1 - yes), (1 - declined) * yes, declined])
        prior = PRIOR * 3 / 3000 / 2 * np.sum(np.log(declined) + np.log1p(-declined))
        return float(np.log((THREE[reported].T * truth).sum(axis=0)).sum() + prior)

    fit = maximize(model)
    highest = climbed(height, np.zeros(6))
    assert fit.converged
    assert fit.theta == pytest.approx(highest, abs=1e-3)
    assert fit.log_likelihood == pytest.approx(height(highest), abs=1e-5)


def test_without_declining_it_is_the_plain_logit() -> None:
    reported, columns = predicted(2000, (0.0, 0.0))
    plain = Multinomial(columns, reported, THREE[:, :-1])
    model = DecliningModel(plain, columns[:1], THREE[:, -1], 0.0)
    start = np.append(plain.start(), -40.0)
    held = maximize(model, start, np.array([True, True, True, False]))
    alone = maximize(plain)

    assert held.theta[:3] == pytest.approx(alone.theta, abs=1e-6)
    assert held.information[:3, :3] == pytest.approx(alone.information, rel=1e-6)


def columns(declined: tuple[float, float], n: int = 3000, more: dict[str, Any] | None = None, **keys: Any) -> Columns:
    reported, group, number = made(n, declined)
    questions = [
        asked("y", "boolean", COIN, absent_category=True, **(more or {})),
        asked("g", "boolean", None),
        asked("x", "integer", None, min=0, max=4),
    ]
    if more:
        questions = [*questions[1:], questions[0]]
    made_survey = parse_survey(survey(*questions, **keys))
    return Columns.from_arrays(made_survey, {"y": reported, "g": group, "x": number})


def estimates(fitted: Regression | None) -> dict[str, float | None]:
    return {each.term: each.estimate for each in fitted.coefficients}


def test_yes_no_is_modelled_among_those_who_answered() -> None:
    fitted = regress(columns((0.05, 0.35)), "y", ["g", "x"])

    assert (fitted.model, fitted.people, fitted.converged, fitted.n) == ("logit", "answered", True, 3000)
    assert [(each.category, each.term) for each in fitted.coefficients] == [
        (None, "(constant)"), (None, "g=yes"), (None, "x"),
    ]  # fmt: skip
    assert list(estimates(fitted.declining)) == ["(constant)", "g=yes", "x"]
    assert (fitted.declining_test.df, fitted.declining_test.p < 1e-6) == (2, True)
    slope = fitted.coefficients[1]
    assert slope.low < 1 < slope.high
    assert "this describes those who answered; if declining goes with the answer itself" in fitted.warnings[0]
    assert [effect.term for effect in fitted.ame] == ["g=yes", "x"]
    assert len(fitted.linear.coefficients) == 3


def test_a_common_share_biases_the_slope_and_is_on_request() -> None:
    """.05 and .35 of two groups decline: with one share the slope of the group is larger."""
    reports = columns((0.05, 0.35))
    modelled, common = (regress(reports, "y", ["g"], declining=each) for each in ("modelled", "common"))
    own, biased = modelled.coefficients[1].estimate, common.coefficients[1].estimate

    assert biased > own
    assert list(estimates(common.declining)) == ["(constant)"]
    assert common.declining_test.statistic == pytest.approx(modelled.declining_test.statistic)


def test_few_who_declined_have_one_share_and_the_result_says_so() -> None:
    """Fewer than ten people per coefficient: too few for a model of them."""
    fitted = regress(columns((0.0, 0.0), 300), "y", ["g"])

    assert list(estimates(fitted.declining)) == ["(constant)"]
    assert any("declining is taken to be equally common everywhere" in each for each in fitted.warnings)


def test_among_all_no_answer_is_a_category_as_before() -> None:
    fitted = regress(columns((0.1, 0.1)), "y", ["g"], among="all")

    assert (fitted.model, fitted.people, fitted.declining) == ("multinomial", "all", None)
    assert {each.category for each in fitted.coefficients} == {"yes", "absent"}


def test_linear_model_among_those_who_answered_is_unbiased() -> None:
    """Of a saturated model: the shares of yes among those who answered in each group, as the scores give them."""
    reports = columns((0.05, 0.35))
    fitted = estimates(regress(reports, "y", ["g"], model="linear"))
    reported, group = reports.values["y"], reports.values["g"]
    shares = []
    for each in (0, 1):
        rates = np.bincount(reported[group == each], minlength=3) / np.sum(group == each)
        no, yes, _ = (rates - 0.2) / 0.4
        shares.append(yes / (no + yes))

    assert fitted["(constant)"] == pytest.approx(shares[0])
    assert fitted["g=yes"] == pytest.approx(shares[1] - shares[0])


def test_hidden_question_is_fitted_on_those_who_were_asked() -> None:
    reports = columns((0.05, 0.1), more={"visible_if": {"g": "yes"}})
    fitted = regress(reports, "y", ["x"])

    assert (fitted.people, fitted.n) == ("asked_and_answered", int(np.sum(reports.values["g"] == 1)))


def test_hidden_answer_that_counts_as_no_is_left_out_where_it_is_public_who_was_asked() -> None:
    """Of a coded answer nothing else tells who was asked; where a randomized answer decides, that is refused."""
    reported, group, _ = made(2000, (0.0, 0.0))
    base = asked("y", "boolean", COIN, when_absent="no", visible_if={"g": "yes"})
    openly = parse_survey(survey(asked("g", "boolean", None), asked("x", "boolean", None), base))
    secret = parse_survey(survey(asked("g", "boolean", COIN), asked("x", "boolean", None), base))
    arrays = {"y": reported % 2, "g": group, "x": np.arange(2000) % 2}
    fitted = regress(Columns.from_arrays(openly, arrays), "y", ["x"])
    hidden = Columns.from_arrays(secret, arrays)

    assert (fitted.people, fitted.n) == ("asked", int(group.sum()))
    assert regress(hidden, "y", ["x"]).people == "all"
    assert any("people who were not asked count as an answer" in each for each in regress(hidden, "y", ["x"]).warnings)
    with pytest.raises(EstimateError, match="public answers do not tell at least 5"):
        regress(hidden, "y", ["x"], among="answered")


def test_choice_and_rating_have_models_among_those_who_answered() -> None:
    generator = np.random.default_rng(5)
    truth = generator.integers(0, 4, 2000)
    channel = np.full((4, 4), 1 / 6) + np.eye(4) / 3
    reported = (np.cumsum(channel[truth], axis=1) < generator.random((2000, 1))).sum(axis=1)
    rating = asked("r", "rating", {"name": "kary_rr", "odds": "3"}, choices=names(3), absent_category=True)
    made_survey = parse_survey(survey(rating, asked("g", "boolean", None)))
    reports = Columns.from_arrays(made_survey, {"r": reported, "g": np.arange(2000) % 2})
    multinomial, ordered = (regress(reports, "r", ["g"], model=kind) for kind in ("multinomial", "ordered"))

    assert [each.category for each in multinomial.coefficients] == ["c1", "c1", "c2", "c2"]
    assert [each.term for each in ordered.coefficients] == ["g=yes", "c0|c1", "c1|c2"]
    assert all(each.converged and each.people == "answered" for each in (multinomial, ordered))
    assert [each.category for each in multinomial.linear.coefficients] == ["c1", "c1", "c2", "c2"]


def test_randomized_predictor_beside_declining() -> None:
    """Declining is then one more category of the likelihood, and may depend on the predictor too."""
    reported, group, number = made(6000, (0.1, 0.3))
    generator = np.random.default_rng(9)
    randomized = np.where(generator.random(6000) < 0.75, group, 1 - group)
    made_survey = parse_survey(
        survey(
            asked("y", "boolean", COIN, absent_category=True),
            asked("a", "boolean", COIN),
            asked("x", "integer", None, min=0, max=4),
        )
    )
    reports = Columns.from_arrays(made_survey, {"y": reported, "a": randomized, "x": number})
    modelled, common = (regress(reports, "y", ["a", "x"], declining=each) for each in ("modelled", "common"))

    assert list(estimates(modelled)) == ["(constant)", "a=yes", "x"]
    assert list(estimates(modelled.declining)) == ["(constant)", "a=yes", "x"]
    assert estimates(modelled)["a=yes"] == pytest.approx(1, abs=0.8)
    assert common.declining is None
    assert list(estimates(common)) == ["(constant)", "a=yes", "x"]


def test_without_a_finite_maximum_a_side_has_no_limit() -> None:
    """A group of whom fewer report yes than noise alone brings: limits by likelihood ratio, one of them none."""
    made_survey = parse_survey(survey(asked("y", "boolean", COIN, absent_category=True), asked("g", "boolean", None)))
    no_yes = np.repeat([0, 1, 2], [62, 14, 24])
    some = np.repeat([0, 1, 2], [45, 32, 23])
    arrays = {"y": np.concatenate([no_yes, some]), "g": np.repeat([0, 1], 100)}
    fitted = regress(Columns.from_arrays(made_survey, arrays), "y", ["g"])
    slope = fitted.coefficients[1]

    assert (fitted.converged, slope.estimate, slope.high) == (False, None, None)
    assert slope.low is not None
    assert any("there is no finite estimate: g=yes" in each for each in fitted.warnings)


@pytest.mark.parametrize("declining", ["modelled", "common"])
def test_document_and_printed_text_say_whom_it_describes(declining: str) -> None:
    document = regress(columns((0.05, 0.35)), "y", ["g"], declining=declining).as_dict()
    validate("regression", document)
    tables = in_words(document)
    told = " ".join(sentence for table in tables for sentence in table.sentences)

    assert document["people"] == "answered"
    assert tables[1].title == "Logit model of “y” (3,000 reports)"
    assert "Among those who answered." in tables[1].sentences
    assert "Model of declining: the log odds of no answer" in [table.title for table in tables]
    assert "test of one common share of declined answers" in told
    assert "people" not in regress(columns((0.1, 0.1)), "y", ["g"], among="all").as_dict()


@pytest.mark.parametrize("kind", ["boolean", "rating"])
def test_public_answers_have_the_plain_model_of_the_subset(kind: str) -> None:
    """Without noise those who answered are known, and only they count."""
    generator = np.random.default_rng(3)
    group = generator.integers(0, 2, 900)
    options = 2 if kind == "boolean" else 3
    answer = (generator.integers(0, options, 900) + group * (generator.random(900) < 0.3)).clip(max=options - 1)
    answer = np.where(generator.random(900) < 0.1 + 0.2 * group, options, answer)
    more: dict[str, Any] = {} if kind == "boolean" else {"choices": names(3)}
    model = "logit" if kind == "boolean" else "ordered"
    group_of = asked("g", "boolean", None)
    whole = parse_survey(survey(group_of, asked("y", kind, None, absent_category=True, **more)))
    part = parse_survey(survey(group_of, asked("y", kind, None, **more)))
    there = answer < options
    found = regress(Columns.from_arrays(whole, {"g": group, "y": answer}), "y", ["g"], model=model)
    alone = regress(Columns.from_arrays(part, {"g": group[there], "y": answer[there]}), "y", ["g"], model=model)

    for one, other in zip(found.coefficients, alone.coefficients, strict=True):
        assert (one.estimate, one.std_error) == pytest.approx((other.estimate, other.std_error), abs=1e-6)
    for one, other in zip(found.linear.coefficients, alone.linear.coefficients, strict=True):
        assert (one.estimate, one.std_error) == pytest.approx((other.estimate, other.std_error), abs=1e-9)
