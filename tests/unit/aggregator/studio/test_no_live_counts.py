"""No page or route may show when a report arrives, other than by the published steps."""

import os
import re

from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.storage import Outcome
from sottovoce.aggregator.storage.models import ReportBatch, StoragePlan
from sottovoce.aggregator.surveys.lifecycle import survey_of

from tests.unit.aggregator.studio.joint_pages import SITE, app, client

__all__ = ["app", "client"]

IN_PLACE = {"name": "open", "survey": "open"}
ABOUT_REPLY = ("Date", "Set-Cookie", "Content-Security-Policy")


def addresses(app: Flask) -> list[str]:
    rules = [rule for rule in app.url_map.iter_rules() if "GET" in (rule.methods or ())]
    return [re.sub(r"<(?:[^:<>]+:)?(\w+)>", lambda one: IN_PLACE.get(one[1], "zz"), rule.rule) for rule in rules]


def read_all(app: Flask, client: FlaskClient) -> dict[str, object]:
    found: dict[str, object] = {}
    for address in addresses(app):
        reply = client.get(address, base_url=SITE)
        body = re.sub(rb'name="form_token" value="\w+"', b"", reply.data)
        found[address] = reply.status_code, body, [each for each in reply.headers if each[0] not in ABOUT_REPLY]
    return found


def test_nothing_changes_with_a_report_that_completes_no_step(app: Flask, client: FlaskClient) -> None:
    """Who sends 24 reports for each honest one would else read that one alone, with the second of its arrival."""
    storage = app.extensions["storage"]
    stored = next(one for one in storage.surveys() if one.name == "open")
    survey = survey_of(stored.document)
    wave, packed = next(storage.packed_by_wave(stored.key))[0]
    before = read_all(app, client)
    assert len(before) > 50
    assert sum(status == 200 for status, *_ in before.values()) > 20  # type: ignore[misc, attr-defined]

    plan = StoragePlan(stored.key, survey.cohort, survey.release_batch, None, survey.masks)
    assert storage.store([ReportBatch(plan, wave, os.urandom(16), packed)]) == [Outcome.NEW]

    assert storage.surveys()[[one.name for one in storage.surveys()].index("open")].reports == stored.reports + 1
    after = read_all(app, client)
    assert [address for address in before if after[address] != before[address]] == []
