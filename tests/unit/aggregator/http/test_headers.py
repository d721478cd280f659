"""Researchers' pages are short on the wire, and never a measure of what they hold for somebody else's site."""

import gzip
from dataclasses import replace

import brotli
import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.storage import ReportBatch
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.shared.spec import Survey
from werkzeug.test import TestResponse

from tests.storage.test_contract import arrival
from tests.surveys import every_type, survey
from tests.unit.aggregator.accounts.test_authentication import log_in

SITE = "https://survey.example.org"
PAGE = "/dashboard/surveys/exam/results"
MOST = 60_000
"""Bytes of a page of twenty questions, with everything that it needs."""


@pytest.fixture(autouse=True)
def reports(storage: SQLiteStorage) -> None:
    """Fifty reports on twenty questions of every type, all of them shown."""
    more = [question | {"name": f"{question['name']}_2"} for question in every_type()[:2]]
    asked = survey(questions=every_type() + more)
    key = storage.publish(asked).key
    storage.store([answered(asked, key, number) for number in range(50)])


def answered(asked: Survey, key: int, number: int) -> ReportBatch:
    """A report on every question; of one they are sets of three options."""
    values = tuple(7 if question.name == "why" else number % 2 for question in asked.questions)
    made = arrival(key, number, values)
    return replace(made, plan=replace(made.plan, cohort=asked.cohort, masks=asked.masks))


def sent(client: FlaskClient, address: str = PAGE, coding: str = "br, gzip", site: str = "same-origin") -> TestResponse:
    headers = {"Accept-Encoding": coding, "Sec-Fetch-Site": site}
    return client.get(address, base_url=SITE, headers=headers)


def test_page_of_twenty_questions_is_short_with_everything_that_it_needs(app: Flask) -> None:
    """Picture, numbers, tables, style and script of a survey with every type of question."""
    client, _ = log_in(app)
    replies = [sent(client, address) for address in (PAGE, "/dashboard/style.css", "/dashboard/studio.js")]

    assert {reply.headers["Content-Encoding"] for reply in replies} == {"br"}
    assert sum(len(reply.data) for reply in replies) <= MOST


def test_every_coding_holds_the_same_page(app: Flask) -> None:
    client, _ = log_in(app)
    plain = sent(client, coding="identity")

    assert "Content-Encoding" not in plain.headers
    assert brotli.decompress(sent(client).data) == plain.data
    assert gzip.decompress(sent(client, coding="gzip").data) == plain.data
    assert "Accept-Encoding" in plain.headers["Vary"]


@pytest.mark.parametrize("site", ["cross-site", "same-site", ""])
def test_what_another_site_asked_for_is_not_compressed(app: Flask, site: str) -> None:
    """Its length would tell how much of a guess in the address stands in the page as well."""
    client, _ = log_in(app)

    assert "Content-Encoding" not in sent(client, site=site).headers


def test_respondents_replies_are_left_alone(app: Flask) -> None:
    """Only what stands under the researchers' address is packed here."""
    assert "Content-Encoding" not in sent(app.test_client(), "/api/v1/surveys/exam").headers


def test_known_figures_are_not_sent_again(app: Flask, storage: SQLiteStorage) -> None:
    client, _ = log_in(app)
    tag = sent(client).headers["ETag"]
    headers = {"If-None-Match": tag, "Sec-Fetch-Site": "same-origin", "Accept-Encoding": "br"}

    assert client.get(PAGE, base_url=SITE, headers=headers).status_code == 304
    stored = storage.revisions("exam")[-1]
    more = [answered(survey_of(stored.document), stored.key, number) for number in range(100, 125)]
    storage.store(more[1:])
    assert client.get(PAGE, base_url=SITE, headers=headers).status_code == 304
    storage.store(more[:1])
    assert client.get(PAGE, base_url=SITE, headers=headers).status_code == 200
