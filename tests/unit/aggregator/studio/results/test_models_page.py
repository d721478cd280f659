"""The page of models says what programs are answered: coefficients, odds ratios in words, effects, predictions."""

import math
from dataclasses import replace

from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.analysis.regression.regression_result import Coefficient, Regression
from sottovoce.aggregator.analysis.result_view import ModelsInWords
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.studio.labels import SurveyVariables

from tests.surveys import survey
from tests.unit.aggregator.studio.joint_pages import app, cells, client, document, get

__all__ = ["app", "client"]

LINEAR = "models?kind=regression&outcome=cheated&on=year&on=reason&model=linear"


def four(value: float) -> float:
    """As many digits as the page writes."""
    return float(f"{value:.4g}")


def as_shown(one: dict[str, float], key: str = "estimate") -> float:
    """A figure with two significant digits of the distance between the estimate and its nearer limit."""
    distance = min(one["estimate"] - one["low"], one["high"] - one["estimate"])
    return round(one[key], 1 - math.floor(math.log10(distance)))


def read(cell: str) -> float:
    return float(cell.replace("−", "-"))


def coefficients(page: str) -> list[list[str]]:
    """Lines of tables of coefficients, which have four columns."""
    return [line for line in cells(page) if len(line) == 4]


def test_coefficients_of_the_page_are_those_of_the_api(app: Flask, client: FlaskClient) -> None:
    found = document(app, "done", "regression", outcome="cheated", on=["year", "reason"], model="linear")
    shown = coefficients(get(client, f"done/{LINEAR}").text)

    assert [line[0] for line in shown] == ["(constant)", "Year? = Second", "Why? = Fear", "Why? = Fun"]
    assert [(read(line[1]), read(line[2])) for line in shown] == [
        (as_shown(one), as_shown(one, "std_error")) for one in found["coefficients"]
    ]


def test_logit_is_told_as_odds_and_effects_and_predicts(app: Flask, client: FlaskClient) -> None:
    """The odds ratio is exp of the coefficient, in the table and in the sentence."""
    found = document(app, "done", "regression", outcome="year", on=["cheated"])
    page = get(client, "done/models?kind=regression&outcome=year&on=cheated").text
    slope = next(one for one in found["coefficients"] if one["term"] == "cheated=yes")

    ratio = cells(page)[0]
    assert ratio[0] == "Cheated? = Yes"
    assert ratio[1] == "none" if slope["estimate"] is None else read(ratio[1]) == four(math.exp(slope["estimate"]))


def test_formula_takes_the_place_of_the_choices(app: Flask, client: FlaskClient) -> None:
    """Its interaction is labelled, its level heads the column, and mistakes are told in the reader's language."""
    formula = "cheated ~ year * reason"
    asked = {"formula": formula, "model": "linear", "confidence": 0.9}
    found = document(app, "done", "regression", **asked)
    path = "done/models?kind=regression&outcome=reason&on=year&model=linear&confidence=90&formula="
    page = get(client, path + formula.replace("+", "%2B"))
    shown = coefficients(page.text)

    assert shown[len(found["coefficients"]) - 1][0] == "Year? = Second × Why? = Fun"
    assert shown[-1][0] == "Why? = Fun against Why? = Time"
    assert found["ame"]
    assert [read(line[1]) for line in shown] == [as_shown(one) for one in (*found["coefficients"], *found["ame"])]
    assert "90% interval" in page.text
    assert "formula=&#39;cheated ~ year" in page.text
    refused = get(client, path + "cheated ~ eval(year)", "de")
    assert refused.status_code == 422
    assert "Stelle 11: diese Funktion gibt es nicht" in refused.text


def test_subset_of_the_page_is_that_of_the_api(app: Flask, client: FlaskClient) -> None:
    found = document(app, "done", "regression", outcome="cheated", on=["reason"], model="linear", where="year = first")
    path = "done/models?kind=regression&outcome=cheated&on=reason&model=linear&where=year %3D first"
    shown = coefficients(get(client, path).text)

    assert [read(line[1]) for line in shown] == [as_shown(one) for one in found["coefficients"]]


def test_model_without_predictors_is_refused(client: FlaskClient) -> None:
    reply = get(client, "done/models?kind=regression&outcome=cheated")

    assert reply.status_code == 422
    assert "“Predictors” is missing." in reply.text


def test_open_survey_has_no_model(client: FlaskClient) -> None:
    """The same sentence as for tables."""
    reply = get(client, f"open/{LINEAR}")

    assert reply.status_code == 409
    assert "available after the survey closes" in reply.text
    assert cells(reply.text) == []


def test_prediction_is_asked_for_in_the_form(app: Flask, client: FlaskClient) -> None:
    """For one kind of people, by an answer beside each predictor."""
    at = [{"year": "second"}]
    found = document(app, "done", "regression", outcome="cheated", on=["year"], model="linear", at=at)
    path = "done/models?kind=regression&outcome=cheated&on=year&model=linear&at.year=second"
    told = next(line for line in cells(get(client, path).text) if line[0] == "Year? = Second" and len(line) == 3)

    assert read(told[1]) == as_shown(found["predictions"][0])


def test_figure_that_is_no_number_is_none_in_the_document_and_on_the_page() -> None:
    """An ordered model may have a variance that rounding makes negative: its error is no number."""
    unknown = Coefficient(None, "year=second", 0.5, math.nan, math.nan, math.inf)
    cut = Coefficient(None, "time|fear", 0.5, 0.1, 0.3, 0.7)
    found = Regression("ordered", "reason", 60, (unknown, cut), "observed").as_dict()
    shown = ModelsInWords(SurveyVariables(survey(), Words("en"))).regression(found)
    effect = Coefficient(None, "year=second", 0.25, 0.1, 0.05, 0.45, "first")
    effects = ModelsInWords(SurveyVariables(survey(), Words("en"))).regression({**found, "ame": [effect.as_dict()]})

    assert effects.tables[2].lines[0][:2] == ("Year? = Second against Year? = First", "25.0 points")
    linear = {**found, "model": "linear", "ame": [effect.as_dict()]}
    [told] = [table for table in ModelsInWords(SurveyVariables(survey(), Words("en"))).regression(linear).tables
              if table.title == "Average marginal effects"]  # fmt: skip
    assert (told.lines[0][1], told.sentences[0].partition(";")[0]) == ("0.25", "In units of the outcome")
    assert [found["coefficients"][0][key] for key in ("std_error", "low", "high")] == [None] * 3
    assert list(shown.tables[1].lines[0]) == ["Year? = Second", "0.5000", "none", "none"]
    assert shown.tables[1].lines[1][0] == "Time | Fear"


def test_text_for_a_paper_takes_the_predictor_asked_for_first_and_claims_what_its_interval_allows() -> None:
    """In at most 120 words; an interval on both sides of no association is no association."""
    clear = Coefficient(None, "year=second", 0.9, 0.2, 0.5, 1.3)
    unclear = [Coefficient(None, f"reason={name}", -0.4, 0.9, -2.2, 1.4) for name in ("fear", "fun")]

    def paper(*found: Coefficient, model: str = "logit") -> str:
        fitted = Regression(model, "cheated", 60, found, "observed").as_dict()
        return ModelsInWords(SurveyVariables(survey(), Words("en"))).regression(fitted).paper

    assert paper(clear, *unclear) == (
        "In the logit model (n = 60), “Year? = Second” was associated with odds of "
        "“Cheated? = Yes” that were 2.46 (1.65 to 3.67) times as high (95% interval in brackets)."
    )
    assert "these reports do not show whether “Why? = Fear” goes with “Cheated? = Yes”" in paper(*unclear, clear)
    assert "Why? = Fun" in paper(*unclear, clear)
    assert "associated" not in paper(*unclear, clear)
    assert "Year" not in paper(*unclear, clear)
    assert "do not show whether “Why? = Fear” goes with “Cheated?”: Estimate" in paper(*unclear, model="linear")
    assert len(paper(*unclear * 9).split()) <= 120
    # A rating that enters as a number is a predictor like others.
    assert "“Year? + 1” was associated with odds" in paper(replace(clear, term="num(year)"), *unclear)


def test_odds_ratios_are_a_forest_plot_on_a_logarithmic_axis() -> None:
    """With 1 in the middle, and an end that holds the intervals; the table has the same numbers."""
    narrow = Coefficient(None, "year=second", math.log(2), 0.3, 0.0, math.log(4))
    found = Regression("logit", "cheated", 60, (narrow,), "observed").as_dict()
    odds = ModelsInWords(SurveyVariables(survey(), Words("en"))).regression(found).tables[0]

    [bar] = odds.bars
    assert (bar.zero, bar.place, bar.low, bar.high) == ("50.00", "75.00", "50.00", "100.00")
    assert list(odds.ticks) == ["0.25", "0.50", "1", "2", "4"]
    assert [bar.name, bar.value, bar.limits] == [*odds.lines[0]]
    wide = Coefficient(None, "year=second", 0.0, 3.0, -9.0, None)
    cut = Regression("logit", "cheated", 60, (wide,), "observed").as_dict()
    odds = ModelsInWords(SurveyVariables(survey(), Words("en"))).regression(cut).tables[0]
    assert (odds.bars[0].low, odds.bars[0].high, odds.ticks[4]) == ("0.00", "100.00", "100")
