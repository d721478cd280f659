"""Every error is a problem document of one shape; a bug is one too, and tells nothing."""

import json
import logging

import pytest
from flask import Flask
from sottovoce.aggregator.http import problems
from sottovoce.shared.errors import REJECTIONS

from tests.surveys import document, survey
from tests.unit.aggregator.api.conftest import post, program_of


def test_every_code_has_a_status_and_a_document_of_one_shape() -> None:
    """The closed list of reasons is covered: type, title, status, code; nothing else without a detail."""
    assert set(problems.STATUS) >= set(REJECTIONS)
    shape = {"type", "title", "status", "code"}
    assert [code for code in problems.STATUS if set(json.loads(problems.document(code))) != shape] == []


def test_bug_is_a_500_that_tells_nothing(app: Flask, caplog: pytest.LogCaptureFixture) -> None:
    """Neither the reply nor the log repeats what was sent or what the exception said."""

    def fail(*_: object) -> None:
        raise RuntimeError("sentinel-value")

    app.extensions["storage"].revisions = fail
    with caplog.at_level(logging.ERROR):
        reply = app.test_client().get("/api/v1/surveys/sentinel-name?x=sentinel-query")

    assert (reply.status_code, reply.json["code"]) == (500, "internal")
    assert "RuntimeError" in caplog.text
    assert "sentinel" not in reply.text + caplog.text


PUBLISH = "/api/v1/surveys/exam/publish"


def test_survey_with_mistakes_lists_them_all_and_publishes_nothing(app: Flask) -> None:
    wrong = document(revision="sentinel", default_language="en", title={}, extra=None)
    reply = post(program_of(app), PUBLISH, wrong)

    assert reply.status_code == 422
    assert {problem["pointer"] for problem in reply.json["problems"]} == {"/revision", "/title"}
    assert "sentinel" not in reply.text
    assert app.extensions["storage"].surveys() == []


def test_survey_that_no_device_asks_is_not_published(app: Flask) -> None:
    """Eight coin flips are 8.79, where devices allow 8: a program is told what a verb would say."""
    coin = document()["questions"][0]
    dear = document(questions=[{**coin, "name": f"coin{number}"} for number in range(8)])
    reply = post(program_of(app), PUBLISH, dear)

    assert reply.status_code == 422
    assert "devices allow 8" in reply.json["problems"][0]["message"]
    assert app.extensions["storage"].surveys() == []


def test_correction_that_links_do_not_survive_is_not_published(app: Flask) -> None:
    """A program is told every reason; one that may follow is told the digest that it got, however often it asks."""
    client = program_of(app)
    assert post(client, PUBLISH, document()).json["digest"] == survey().digest
    refused = post(client, PUBLISH, document(revision=2, access="token", privacy={"release_batch": 1}))
    told = [post(client, PUBLISH, document(revision=2)).json["digest"] for _ in range(2)]
    corrected = survey(revision=2, replaces=survey().digest)

    assert refused.status_code == 422
    assert {problem["pointer"] for problem in refused.json["problems"]} == {"/access", "/privacy/release_batch"}
    assert told == [corrected.digest] * 2
    assert [row.digest for row in app.extensions["storage"].surveys()] == [survey().digest, corrected.digest]
