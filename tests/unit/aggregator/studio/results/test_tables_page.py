"""The page of tables says what programs are answered, and why there is nothing where there is nothing."""

import csv
import html
import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.analysis.documents import Document
from sottovoce.aggregator.analysis.jobs.queue import Compute
from sottovoce.aggregator.i18n.translator import LANGUAGES
from sottovoce.aggregator.studio.results.run_analysis import asked_analysis

from tests.unit.aggregator.studio.joint_pages import SITE, app, cells, client, document, get
from tests.unit.shared.test_schema import validator

__all__ = ["app", "client"]

TABLE = "tables?kind=crosstab&rows=year&columns=reason"


def percent(value: float | None) -> str:
    """A share as English writes it."""
    return "none" if value is None else f"{100 * value:.1f}%"


def test_every_cell_of_the_page_is_that_of_the_api(app: Flask, client: FlaskClient) -> None:
    """Shares in rows first, then shares of all, each with its limits."""
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
    """What the fields say is what is computed."""
    margins = {"year": {"first": "30", "second": "70"}}
    weighted = document(app, "done", "crosstab", rows="cheated", columns="reason", margins=margins)
    path = "done/tables/answer.json?kind=crosstab&rows=cheated&columns=reason"

    assert get(client, f"{path}&margin.year.first=30&margin.year.second=70").json == weighted
    assert weighted["deff"] > 1
    within = get(client, f"{path}&within=year").json
    assert within == document(app, "done", "crosstab", rows="cheated", columns="reason", within="year")


def test_table_within_a_private_question_is_shown_and_kept(app: Flask, client: FlaskClient) -> None:
    """A table for each of its answers, valid by the schema, with the same figures in the page and in the CSV file."""
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
    """Shares are given in percent; without any they are equal."""
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
    """CSV, workbook and JSON of one address; a file says in its name what it is of."""
    found = document(app, "done", "crosstab", rows="year", columns="reason")
    query = TABLE.partition("?")[2]
    replies = {kind: get(client, f"done/tables/answer.{kind}?{query}") for kind in ("csv", "json", "xlsx")}

    assert replies["json"].json == found
    read = list(csv.DictReader(io.StringIO(replies["csv"].text)))
    assert [float(row["shown"]) for row in read if row["figure"] == "cell"] == [one["shown"] for one in found["cells"]]
    sheet = zipfile.ZipFile(io.BytesIO(replies["xlsx"].data)).read("xl/worksheets/sheet1.xml").decode()
    assert f"<v>{found['cells'][0]['shown']:.16G}</v>" in sheet
    assert replies["csv"].headers["Content-Disposition"] == "attachment; filename=done-1-crosstab.csv"


def test_open_survey_shows_no_table_and_says_why(client: FlaskClient) -> None:
    """With what the two questions will allow instead; its files are refused as well."""
    reply = get(client, f"open/{TABLE}")

    assert reply.status_code == 409
    assert "available after the survey closes" in reply.text
    assert "You need about" in reply.text
    assert "25.0% of the people are in the group, and 30.0% give the answer" in reply.text
    assert cells(reply.text) == []
    assert get(client, "open/tables/answer.csv?" + TABLE.partition("?")[2]).status_code == 409
    assert "available after the survey closes" in get(client, "open/tables").text


def test_closed_survey_without_reports_says_so(client: FlaskClient) -> None:
    """An empty state is no fault of the reader's."""
    assert "There are no reports" in get(client, "empty/tables").text


def test_what_cannot_be_had_is_refused_with_its_reason(client: FlaskClient) -> None:
    """In the page, below its fields, which keep what was chosen."""
    reply = get(client, "done/tables?kind=crosstab&rows=cheated&columns=cheated")
    missing = get(client, "done/tables?kind=crosstab&rows=cheated")

    assert reply.status_code == missing.status_code == 422
    assert "asked for twice" in reply.text
    assert '<option value="cheated" selected>' in reply.text
    assert "“Columns” is missing." in missing.text


def test_nothing_that_was_sent_is_repeated_as_markup(client: FlaskClient) -> None:
    """An address is anybody's text."""
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
    """Its place in the queue, a bar, a link to look again, and buttons to cancel and repeat it; no file yet.

    The page loads itself again, by its script or without scripts.
    """
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
    """After a restart nothing is cancelled, and nothing begins."""
    with occupied(app):
        reply = get(client, f"done/{TABLE}")
        app.extensions["joint_results"].jobs.drop("done")
    assert post(client, reply, "cancel").status_code == 404


def test_numbers_are_the_readers(client: FlaskClient) -> None:
    """Every page is whole in every language, with its own decimal sign."""
    for language in LANGUAGES:
        page = get(client, f"done/{TABLE}", language).text
        assert f'<html lang="{language}"' in page
        comma = language in {"de", "es", "fr", "it", "pt"}
        assert bool(re.search(r"\d,\d\s?%", page)) == comma, language
        assert bool(re.search(r"\d\.\d\s?%", page)) == (not comma), language


def test_margin_of_a_column_with_dots_is_read_whole() -> None:
    """The form doubles the dots of the column; those of a category stay."""
    query = {"kind": ["crosstab"], "margin.age..group.v1.5": ["30"], "margin.year.first": ["70"]}
    asked = asked_analysis(query, ("crosstab",))

    assert asked.options["margins"] == {"age.group": {"v1.5": "30"}, "year": {"first": "70"}}


def test_known_share_of_0_is_one() -> None:
    """An empty field is none."""
    query = {"kind": ["test"], "question": ["a"], "known.a.yes": ["0"], "known.a.no": [""]}
    asked = asked_analysis(query, ("test",))

    assert asked.options["shares"] == {"yes": 0}
