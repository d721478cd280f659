import csv
import html
import io
import math
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from threading import Event
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.analysis.documents import Document
from sottovoce.aggregator.analysis.jobs.queue import Compute
from sottovoce.aggregator.analysis.regression.regression_result import Coefficient, Regression
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.result_view import ModelsInWords, ShownAnswer
from sottovoce.aggregator.analysis.text_report import answer_in_words
from sottovoce.aggregator.export.analysis_files import joint_rows
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.aggregator.studio.results.analysis_page import r_code
from sottovoce.aggregator.studio.results.run_analysis import AskedAnalysis, asked_analysis

from tests.surveys import survey
from tests.unit.aggregator.analysis.regression.test_declining import columns
from tests.unit.aggregator.studio.joint_pages import SITE, app, cells, client, document, get
from tests.unit.shared.test_schema import validator

__all__ = ["app", "client"]

TABLE = "tables?kind=crosstab&rows=year&columns=reason"


def percent(value: float | None) -> str:
    return "none" if value is None else f"{100 * value:.1f}%"


def test_every_cell_of_the_page_is_that_of_the_api(app: Flask, client: FlaskClient) -> None:
    found = document(app, "done", "crosstab", rows="year", columns="reason")
    told = [
        f"{percent(one['shown'])} ({percent(one['low'])} to {percent(one['high'])})"
        for key in ("conditional", "cells")
        for one in found[key]
    ]

    shown = cells(get(client, f"done/{TABLE}").text)
    assert [cell for line in shown for cell in line[1:]] == told
    assert [line[0] for line in shown] == ["First", "Second"] * 2


def test_comparison_of_the_page_is_that_of_the_api(app: Flask, client: FlaskClient) -> None:
    found = document(app, "done", "compare", outcome="cheated", groups="year")

    shown = cells(get(client, "done/tables?kind=compare&outcome=cheated&groups=year").text)
    assert [line[1] for line in shown[:2]] == [percent(one["shown"]) for one in found["values"]]
    difference = found["differences"][0]["shown"]
    assert shown[2][:2] == ["Second minus First", f"{100 * difference:.1f} points".replace("-", "−")]


def test_weights_and_a_third_question_reach_the_analysis(app: Flask, client: FlaskClient) -> None:
    margins = {"year": {"first": "30", "second": "70"}}
    weighted = document(app, "done", "crosstab", rows="cheated", columns="reason", margins=margins)
    path = "done/tables/answer.json?kind=crosstab&rows=cheated&columns=reason"

    assert get(client, f"{path}&margin.year.first=30&margin.year.second=70").json == weighted
    assert weighted["deff"] > 1
    within = get(client, f"{path}&within=year").json
    assert within == document(app, "done", "crosstab", rows="cheated", columns="reason", within="year")


def test_table_within_a_private_question_is_shown_and_kept(app: Flask, client: FlaskClient) -> None:
    found = document(app, "done", "crosstab", rows="cheated", columns="year", within="reason")
    query = "kind=crosstab&rows=cheated&columns=year&within=reason"

    validator("crosstab").validate(found)
    page = get(client, f"done/tables?{query}")
    shown = [cell for line in cells(page.text) for cell in line[1:]]
    told = [
        f"{percent(one['shown'])} ({percent(one['low'])} to {percent(one['high'])})"
        for table in found["tables"]
        for key in ("conditional", "cells")
        for one in table[key]
    ]
    assert shown == told
    assert "is randomized, so all reports that contain the three questions" in html.unescape(page.text)
    kept = list(csv.DictReader(io.StringIO(get(client, f"done/tables/answer.csv?{query}").text)))
    categories = [(row["within"], row["within_category"]) for row in kept if row["figure"] == "cell"]
    assert categories == [("reason", table["category"]) for table in found["tables"] for _ in table["cells"]]


def test_every_pair_is_listed_with_its_q(app: Flask, client: FlaskClient) -> None:
    """And the rule by which one of them is a finding."""
    found = document(app, "done", "pairs")
    page = get(client, "done/tables?kind=pairs").text

    assert [line[-1] for line in cells(page)] == [
        "< 0.0001" if one["q"] < 0.0001 else f"{one['q']:.4f}" for one in found["pairs"]
    ]
    assert "q up to 0.05" in page


def test_known_values_are_tested_as_by_the_api(app: Flask, client: FlaskClient) -> None:
    for query, options in (("", {}), ("&known.cheated.yes=30", {"shares": {"yes": 0.3}})):
        found = document(app, "done", "test", question="cheated", **options)
        page = get(client, f"done/tables?kind=test&question=cheated{query}").text

        [one] = found["values"]
        assert [line[1:3] for line in cells(page)] == [[percent(one["known"]), percent(one["shown"])]]
        p = "p &lt; 0.0001" if found["p"] < 0.0001 else f"p = {found['p']:.4f}"
        assert p in page
        assert "Exact binomial test" in page
    kept = get(client, "done/tables/answer.csv?kind=test&question=cheated&known.cheated.yes=30").text
    assert [line.split(",")[0] for line in kept.splitlines()[-3:]] == ["known", "value", "exact-binomial"]
    refused = get(client, "done/tables?kind=test&question=cheated&known.cheated.yes=130")
    assert (refused.status_code, "The known shares must sum to 1" in refused.text) == (422, True)


def test_kept_answers_hold_the_same_figures(app: Flask, client: FlaskClient) -> None:
    found = document(app, "done", "crosstab", rows="year", columns="reason")
    query = TABLE.partition("?")[2]
    replies = {kind: get(client, f"done/tables/answer.{kind}?{query}") for kind in ("csv", "json", "xlsx")}

    assert replies["json"].json == found
    read = list(csv.DictReader(io.StringIO(replies["csv"].text)))
    assert [float(row["shown"]) for row in read if row["figure"] == "cell"] == [one["shown"] for one in found["cells"]]
    sheet = zipfile.ZipFile(io.BytesIO(replies["xlsx"].data)).read("xl/worksheets/sheet1.xml").decode()
    assert f"<v>{found['cells'][0]['shown']:.16G}</v>" in sheet
    assert replies["csv"].headers["Content-Disposition"] == "attachment; filename=done-1-crosstab.csv"


def test_open_survey_shows_no_table_or_model_and_says_why(client: FlaskClient) -> None:
    """With what the two questions will allow instead; its files are refused as well."""
    reply = get(client, f"open/{TABLE}")

    assert reply.status_code == 409
    assert "available after the survey closes" in reply.text
    assert "You need about" in reply.text
    assert "25.0% of the people are in the group, and 30.0% give the answer" in reply.text
    assert cells(reply.text) == []
    assert get(client, "open/tables/answer.csv?" + TABLE.partition("?")[2]).status_code == 409
    assert "available after the survey closes" in get(client, "open/tables").text

    reply = get(client, f"open/{LINEAR}")

    assert reply.status_code == 409
    assert "available after the survey closes" in reply.text
    assert cells(reply.text) == []


def test_closed_survey_without_reports_says_so(client: FlaskClient) -> None:
    """An empty state is no fault of the reader's."""
    assert "There are no reports" in get(client, "empty/tables").text


def test_what_cannot_be_had_is_refused_with_its_reason_and_not_repeated(client: FlaskClient) -> None:
    reply = get(client, "done/tables?kind=crosstab&rows=cheated&columns=cheated")
    missing = get(client, "done/tables?kind=crosstab&rows=cheated")

    assert reply.status_code == missing.status_code == 422
    assert "asked for twice" in reply.text
    assert '<option value="cheated" selected>' in reply.text
    assert "“Columns” is missing." in missing.text

    reply = get(client, "done/models?kind=regression&outcome=cheated")

    assert reply.status_code == 422
    assert "“Predictors” is missing." in reply.text

    reply = get(client, "done/tables?kind=crosstab&rows=<script>alert(1)</script>&columns=reason&margin.year.first=<b>")

    assert reply.status_code == 422
    assert "<script>alert" not in reply.text
    assert "<b>" not in reply.text


@contextmanager
def occupied(app: Flask) -> Iterator[None]:
    """Meanwhile another analysis of the survey runs, and no request waits."""
    go, jobs = Event(), app.extensions["joint_results"].jobs

    def held(_: Compute) -> Document:
        go.wait(60)
        return {}

    jobs.drop("done")
    job = jobs.submit("done", "held", held)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sottovoce.aggregator.api.joint_results.WAIT_SECONDS", 0)
        try:
            yield
        finally:
            go.set()
            job.finished.wait()
            jobs.drop("done")


def post(client: FlaskClient, reply: Any, button: str) -> Any:
    fields = {name: html.unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', reply.text)}
    path = re.search(r'action="([^"]*/analyses/[^"]*)"', reply.text)
    sent = {name: fields[name] for name in ("form_token", "back")} | {button: "1"}
    found = client.post(path[1], data=sent, base_url=SITE, headers={"Origin": SITE})
    return client.get(found.location, base_url=SITE) if found.status_code == 303 else found


def test_page_says_that_it_is_calculated_until_it_is(app: Flask, client: FlaskClient) -> None:
    """It loads itself again, by its script or without scripts."""
    with occupied(app):
        reply = get(client, f"done/{TABLE}")
        assert reply.status_code == 202
        assert "Place 1 in this survey&#39;s queue" in reply.text
        assert '<progress class="waits" aria-label="Calculating …"></progress>' in reply.text
        assert '<noscript><meta http-equiv="refresh" content="3"></noscript>' in reply.text.partition("</head>")[0]
        assert 'data-refresh-every="2" data-until-gone' in reply.text
        assert f'href="/dashboard/surveys/done/{TABLE.replace("&", "&amp;")}">Look again' in reply.text
        file = get(client, f"done/{TABLE.replace('?', '/answer.csv?')}")
        assert (file.status_code, file.location) == (303, f"/dashboard/surveys/done/{TABLE}")

        stopped = post(client, reply, "cancel")
        assert stopped.status_code == 422
        assert "This analysis was cancelled" in stopped.text
        assert get(client, f"done/{TABLE}").status_code == 422
        assert "Calculate again" in stopped.text
        assert post(client, stopped, "again").status_code == 202
    ended = get(client, f"done/{TABLE}")
    assert ended.status_code == 200
    assert not re.search(r"http-equiv=\"refresh\"|<progress", ended.text)


def test_button_of_an_analysis_that_is_gone_says_so(app: Flask, client: FlaskClient) -> None:
    with occupied(app):
        reply = get(client, f"done/{TABLE}")
        app.extensions["joint_results"].jobs.drop("done")
    assert post(client, reply, "cancel").status_code == 404


def test_numbers_are_the_readers(client: FlaskClient) -> None:
    for language in LANGUAGES:
        page = get(client, f"done/{TABLE}", language).text
        assert f'<html lang="{language}"' in page
        comma = language in {"de", "es", "fr", "it", "pt"}
        assert bool(re.search(r"\d,\d\s?%", page)) == comma, language
        assert bool(re.search(r"\d\.\d\s?%", page)) == (not comma), language


def test_fields_are_read_with_dots_and_shares_of_0() -> None:
    query = {"kind": ["crosstab"], "margin.age..group.v1.5": ["30"], "margin.year.first": ["70"]}
    asked = asked_analysis(query, ("crosstab",))

    assert asked.options["margins"] == {"age.group": {"v1.5": "30"}, "year": {"first": "70"}}

    query = {"kind": ["test"], "question": ["a"], "known.a.yes": ["0"], "known.a.no": [""]}
    asked = asked_analysis(query, ("test",))

    assert asked.options["shares"] == {"yes": 0}


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


def test_prediction_is_asked_for_in_the_form(app: Flask, client: FlaskClient) -> None:
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


REPORTS = columns((0.05, 0.35))
REQUESTS: dict[str, dict[str, Any]] = {
    "crosstab": {"rows": "g", "columns": "y"},
    "compare": {"outcome": "y", "groups": "g"},
    "regression": {"outcome": "y", "on": ["g"]},
}


def shown(kind: str, language: str = "en", reports: Columns = REPORTS, **more: Any) -> ShownAnswer:
    document = parse_request(kind, {**REQUESTS[kind], **more}).document(reports)
    found = answer_in_words(document, SurveyVariables(reports.survey, Words(language)))
    assert found is not None
    return found


def test_page_says_whom_figures_describe() -> None:
    for kind, language in product(REQUESTS, LANGUAGES):
        people = Words(language).translate("joint_among_answered")
        told, of_all = (
            " ".join(sentence for table in shown(kind, language, **more).tables for sentence in table.sentences)
            for more in ({}, {"among": "all"})
        )
        assert (people in told, people in of_all) == (True, False), (kind, language)


def test_share_of_no_answer_is_beside_each_row() -> None:
    for table in (shown(kind).tables[0] for kind in ("crosstab", "compare")):
        assert table.headings[-1] == "No answer"
        assert [len(line) for line in table.lines] == [len(table.headings)] * 2


def test_model_shows_that_of_declining_and_the_test_of_a_common_share() -> None:
    found = shown("regression")
    told = " ".join(sentence for table in found.tables for sentence in table.sentences)

    assert "Model of declining: the log odds of no answer" in [table.title for table in found.tables]
    assert "Likelihood-ratio test of one common share of declined answers: " in told
    assert found.notes[0].startswith("This describes those who answered; if declining goes with the answer itself")


def test_files_hold_the_same_people_and_shares() -> None:
    rows = {kind: joint_rows(parse_request(kind, REQUESTS[kind]).document(REPORTS)) for kind in REQUESTS}
    figures = {kind: [row[0] for row in found] for kind, found in rows.items()}

    assert figures["crosstab"].count("declined") == figures["compare"].count("declined") == 2
    assert figures["regression"].count("declining coefficients") == 2
    assert "common share of declined answers" in figures["regression"]
    assert all("among" in found for found in figures.values())


def test_no_sentence_for_a_paper_where_a_cell_is_empty() -> None:
    """Of a group in which the estimate of yes is not above 0."""
    reported, group = REPORTS.values["y"].copy(), REPORTS.values["g"]
    reported[(group == 1) & (reported == 1)] = 0
    empty = Columns(REPORTS.revisions, {**REPORTS.values, "y": reported}, REPORTS.wave, REPORTS.revision)

    assert shown("compare", reports=empty).paper == ""
    for kind in ("crosstab", "compare"):
        assert shown(kind).paper.endswith(" those who answered. n also counts those who gave no answer.")


def test_no_code_for_r_where_people_may_leave_a_question_unanswered() -> None:
    """Its sums of scores are of all people."""
    assert r_code(AskedAnalysis("compare", REQUESTS["compare"]), SurveyVariables(REPORTS.survey, Words("en"))) == ""


def test_form_offers_the_answers_of_the_chosen_question_only(client: FlaskClient) -> None:
    before = get(client, "done/tables").text
    after = get(client, "done/tables?kind=compare&outcome=reason&groups=cheated&category=yes").text

    assert 'name="category"' not in before
    options = after.partition('name="category"')[2].partition("</select>")[0]
    assert options.count("<option") == 4
    assert 'value="yes"' not in options
    assert 'id="refused"' not in after
