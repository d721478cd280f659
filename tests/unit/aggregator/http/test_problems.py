"""Every error is a problem document of one shape; a bug is one too, and tells nothing."""

import json
import logging
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.accounts.authentication import new_key
from sottovoce.aggregator.http import problems
from sottovoce.shared.errors import REJECTIONS

from tests.surveys import document, survey


def test_every_code_has_a_status_and_a_title() -> None:
    """The closed list of reasons is covered."""
    assert set(problems.STATUS) == set(problems.TITLES)
    assert set(problems.STATUS) >= set(REJECTIONS)


@pytest.mark.parametrize("code", problems.STATUS)
def test_document_has_one_shape(code: str) -> None:
    """type, title, status, code; nothing else without a detail."""
    assert set(json.loads(problems.document(code))) == {"type", "title", "status", "code"}


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


def test_survey_with_mistakes_lists_them_all_and_publishes_nothing(app: Flask) -> None:
    """Each mistake has its JSON pointer; no value is repeated."""
    token, digest = new_key()
    app.extensions["storage"].add_researcher("ann", digest)
    wrong = document(revision="sentinel", default_language="en", title={}, extra=None)
    reply = app.test_client().post(
        "/api/v1/surveys/exam/publish", json=wrong, headers={"Authorization": f"Bearer {token}"}
    )

    assert reply.status_code == 422
    assert {problem["pointer"] for problem in reply.json["problems"]} == {"/revision", "/title"}
    assert "sentinel" not in reply.text
    assert app.extensions["storage"].surveys() == []


def test_survey_that_no_device_asks_is_not_published(app: Flask) -> None:
    """Eight coin flips are 8.79, where devices allow 8: a program is told what a verb would say."""
    token, digest = new_key()
    app.extensions["storage"].add_researcher("ann", digest)
    coin = document()["questions"][0]
    dear = document(questions=[{**coin, "name": f"coin{number}"} for number in range(8)])
    reply = app.test_client().post(
        "/api/v1/surveys/exam/publish", json=dear, headers={"Authorization": f"Bearer {token}"}
    )

    assert reply.status_code == 422
    assert "devices allow 8" in reply.json["problems"][0]["message"]
    assert app.extensions["storage"].surveys() == []


def test_correction_that_links_do_not_survive_is_not_published(app: Flask) -> None:
    """A program is told every reason; one that may follow is told the digest that it got, however often it asks."""
    token, digest = new_key()
    app.extensions["storage"].add_researcher("ann", digest)

    def publish(**changes: Any) -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        return app.test_client().post("/api/v1/surveys/exam/publish", json=document(**changes), headers=headers)

    assert publish().json["digest"] == survey().digest
    refused = publish(revision=2, access="token", privacy={"release_batch": 1})
    corrected = survey(revision=2, replaces=survey().digest)

    assert refused.status_code == 422
    assert {problem["pointer"] for problem in refused.json["problems"]} == {"/access", "/privacy/release_batch"}
    assert publish(revision=2).json["digest"] == publish(revision=2).json["digest"] == corrected.digest
    assert [row.digest for row in app.extensions["storage"].surveys()] == [survey().digest, corrected.digest]
