"""Try out: a survey of its own beside the real one, shown at once, deleted by a click, and never the real one."""

import json
import re
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.authoring.draft import empty_draft
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.surveys.lifecycle import survey_of

from tests.conftest import FakeClock
from tests.surveys import document, months, survey
from tests.unit.aggregator.conftest import SITE
from tests.unit.aggregator.studio.design.test_page import Researcher
from tests.unit.aggregator.studio.staff import browser, press

TRIAL = "exam-trial-1"
PREVIEW = "surveys/exam/preview"


@pytest.fixture(autouse=True)
def draft(storage: SQLiteStorage) -> None:
    storage.drafts.add("exam", draft_of(document(closes="2026-05-01T00:00:00Z", access="token")).dumped)


def report(app: Flask, name: str) -> None:
    found = survey_of(app.extensions["storage"].revisions(name)[-1].document)
    values = [0 for _ in found.questions]
    body: dict[str, Any] = {"format": "sottovoce-report/1", "survey": name, "digest": found.digest, "wave": 0}
    text = json.dumps(body | {"report_id": "0" * 32, "values": values}, separators=(",", ":"))
    client = app.test_client()
    reply = client.post(f"/api/v1/surveys/{name}/reports", data=text, content_type="application/json", base_url=SITE)
    assert reply.status_code == 200, reply.text


def test_one_button_publishes_a_try_out_beside_the_draft(ann: Researcher, storage: SQLiteStorage) -> None:
    assert ann.post("surveys/exam/design", version="1", do="try").location.endswith(f"/surveys/{TRIAL}/results")
    tried = survey_of(storage.revisions(TRIAL)[0].document)
    assert (tried.trial, tried.revision, tried.release_batch) == (True, 1, 1)
    assert (tried.asks_for_token, tried.opens, tried.closes) == (False, None, None)
    assert [question.name for question in tried.questions] == [question["name"] for question in document()["questions"]]
    assert storage.drafts.draft("exam")
    assert storage.revisions("exam") == []
    page = ann.get(f"surveys/{TRIAL}/results")
    link = f"{SITE}/s/{TRIAL}#d={storage.revisions(TRIAL)[0].digest[:32]}"
    assert "first report is visible at once" in page
    assert "a single report stays hidden" not in page
    assert f'<a href="{link}"' in page
    assert f'src="/dashboard/surveys/{TRIAL}/invite/qr.svg"' in page
    assert 'href="/dashboard/surveys/exam/preview#trials"' in page

    ann.post(f"{PREVIEW}/trial")
    page = ann.get(PREVIEW)
    assert re.findall(r"<h3>(.*)</h3>", page) == ["exam-trial-2", TRIAL]
    assert f'src="/dashboard/surveys/{TRIAL}/invite/qr.svg"' in page
    assert link in page


def test_link_that_no_phone_can_open_is_warned_of(storage: SQLiteStorage, clock: FakeClock) -> None:
    """A server at home has a private address."""
    storage.drafts.add("exam", draft_of(document()).dumped)
    home = "http://127.0.0.1:8000"
    settings = Settings(public_url=home, trusted_hosts="survey.example.org")
    ann = Researcher(create_app(settings, storage, clock, {}))
    ann.post(f"{PREVIEW}/trial")
    assert "works only on this computer" in ann.get(f"surveys/{TRIAL}/results")


def test_results_of_a_try_out_show_the_first_report(app: Flask, ann: Researcher) -> None:
    ann.post(f"{PREVIEW}/trial")
    report(app, TRIAL)
    assert "Open: 1 report so far" in ann.get(f"surveys/{TRIAL}/results")
    assert "1 report so far." in ann.get(PREVIEW)


def test_try_out_is_deleted_by_one_click_and_its_name_is_not_given_again(
    ann: Researcher, storage: SQLiteStorage
) -> None:
    """Devices remember it; the next one has the next number. The click leads back to what was tried."""
    ann.post(f"{PREVIEW}/trial")
    assert ann.post(f"surveys/{TRIAL}/settings/delete").location.endswith("/surveys/exam/preview#trials")
    assert storage.revisions(TRIAL) == []
    assert storage.drafts.draft("exam")
    ann.post(f"{PREVIEW}/trial")
    assert storage.revisions("exam-trial-2")


def test_one_click_deletes_no_real_survey(ann: Researcher, storage: SQLiteStorage) -> None:
    storage.publish(survey(name="exam-trial-7"))
    assert "not_typed" in ann.post("surveys/exam-trial-7/settings/delete").location
    assert storage.revisions("exam-trial-7")
    assert "exam-trial-7" not in ann.get(PREVIEW)


def test_real_survey_is_never_published_from_a_try_out(ann: Researcher, storage: SQLiteStorage) -> None:
    ann.post(f"{PREVIEW}/trial")
    ann.post(f"surveys/{TRIAL}/design/correct")
    assert storage.drafts.draft(TRIAL) is None
    page = ann.get(f"surveys/{TRIAL}/design")
    assert "never becomes the real survey" in page
    assert "design/correct" not in page

    storage.drafts.add(TRIAL, draft_of(document(), 2).dumped)
    assert ann.post(f"surveys/{TRIAL}/publish", version="1").status_code == 422
    assert [survey_of(row.document).trial for row in storage.revisions(TRIAL)] == [True]

    ann.post("surveys/exam/publish", version="1")
    real = survey_of(storage.revisions("exam")[0].document)
    assert (real.trial, real.release_batch, real.asks_for_token) == (False, 25, True)


def test_draft_that_is_no_survey_yet_is_not_tried_out(ann: Researcher, storage: SQLiteStorage) -> None:
    storage.drafts.add("empty", empty_draft("Empty", "en").dumped)
    dear = document(questions=[{**document()["questions"][0], "mechanism": {"epsilon": "4"}}])
    storage.drafts.add("dear", draft_of(dear).dumped)
    for name in ("empty", "dear"):
        assert ann.post(f"surveys/{name}/preview/trial").location.endswith(f"/surveys/{name}/preview")
    assert storage.surveys() == []


def test_published_survey_with_waves_is_tried_out_too(ann: Researcher, storage: SQLiteStorage) -> None:
    """Each wave takes a week, the first from today on; a long name is cut so that the mark fits."""
    name = "w" * 64
    storage.publish(survey(name=name, waves=months(2), retention={"delete_on": "2026-03-02"}))
    ann.post(f"surveys/{name}/preview/trial")
    tried = survey_of(storage.revisions(f"{'w' * 50}-trial-1")[0].document)
    assert [f"{wave.opens:%m-%d}/{wave.closes:%m-%d}" for wave in tried.waves] == ["06-01/06-08", "06-08/06-15"]
    assert tried.delete_on is None


def test_team_of_a_survey_has_its_roles_on_the_try_out(app: Flask, ann: Researcher, storage: SQLiteStorage) -> None:
    cleo = Account(b"c" * 16, "Cleo")
    storage.access.add_account(cleo)
    storage.access.grant(cleo.id, "exam", "viewer")
    ann.post(f"{PREVIEW}/trial")
    viewer = browser(app, cleo.id)
    page = viewer.get(f"/dashboard/{PREVIEW}").text
    assert f"/dashboard/surveys/{TRIAL}/results" in page
    assert "settings/delete" not in page
    assert "preview/trial" not in page
    assert press(viewer, f"/dashboard/{PREVIEW}/trial").status_code == 403
    assert press(viewer, f"/dashboard/surveys/{TRIAL}/settings/delete").status_code == 403
