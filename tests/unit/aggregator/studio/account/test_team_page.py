"""Owners keep the team of their survey, and no survey is left without an owner."""

import re

import pytest
from flask import Flask
from sottovoce.aggregator.authoring.draft import empty_draft
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.surveys import survey
from tests.unit.aggregator.studio.staff import browser, press

ANN, BEN, EVE = Account(b"a" * 16, "Ann"), Account(b"b" * 16, "Ben"), Account(b"e" * 16, "Eve", admin=True)
TEAM = "/dashboard/surveys/exam/team"
LEAVE = "/dashboard/surveys/exam/leave"


@pytest.fixture(autouse=True)
def accounts(storage: SQLiteStorage) -> None:
    storage.publish(survey())
    for account in (ANN, BEN, EVE):
        storage.access.add_account(account)
    storage.access.grant(ANN.id, "exam", "owner")


def test_roles_are_given_changed_and_taken_away(app: Flask, storage: SQLiteStorage) -> None:
    ann = browser(app, ANN.id)
    refused = press(ann, TEAM, act="grant", account="sentinel", role="viewer")
    assert (refused.status_code, "sentinel" in refused.text) == (422, False)
    assert "no account with this name" in refused.text
    press(ann, TEAM, act="grant", account="Ben", role="viewer")
    assert storage.access.grants(BEN.id) == {"exam": "viewer"}
    press(ann, TEAM, act="change", account=BEN.id.hex(), role="analyst")
    assert storage.access.grants(BEN.id) == {"exam": "analyst"}
    assert press(browser(app, BEN.id), TEAM, act="grant", account="Ben", role="owner").status_code == 403
    press(ann, TEAM, act="take_away", account=BEN.id.hex())

    assert storage.access.grants(BEN.id) == {}
    assert press(ann, TEAM, act="take_away", account=BEN.id.hex()).status_code == 400
    assert press(ann, TEAM, act="sentinel").status_code == 400


def test_last_owner_cannot_leave(app: Flask, storage: SQLiteStorage) -> None:
    ann = browser(app, ANN.id)
    for path, form in (
        (LEAVE, {"sure": "yes"}),
        (TEAM, {"act": "take_away", "account": ANN.id.hex()}),
        (TEAM, {"act": "change", "account": ANN.id.hex(), "role": "viewer"}),
    ):
        reply = press(ann, path, **form)
        assert (reply.status_code, "This is the only owner of the survey" in reply.text) == (422, True)
    press(ann, TEAM, act="grant", account="Ben", role="owner")
    assert press(ann, LEAVE).status_code == 303
    assert storage.access.grants(ANN.id) == {"exam": "owner"}
    assert press(ann, LEAVE, sure="yes").headers["Location"] == "/dashboard/me"

    assert storage.access.grants(ANN.id) == {}
    assert ann.get(TEAM).status_code == 404


def test_admin_who_granted_himself_stands_in_the_team(app: Flask) -> None:
    eve = browser(app, EVE.id)
    own = f"/dashboard/accounts/{EVE.id.hex()}"
    for survey_name, told in (("exam", "<bdi>Eve</bdi>"), ("", "on every survey; only an admin can change that")):
        assert told not in browser(app, ANN.id).get(TEAM).text
        press(eve, own, act="grant", role="viewer", survey=survey_name)
        assert told in browser(app, ANN.id).get(TEAM).text
        press(eve, own, act="revoke", survey=survey_name or "*")


def test_invitation_of_the_team_is_for_its_survey(app: Flask, storage: SQLiteStorage) -> None:
    page = press(browser(app, ANN.id), TEAM, act="invite", role="fieldwork").text
    [made] = storage.access.invitations()

    assert "/dashboard/invitation?link=" in page
    assert (made.survey, made.role, made.account) == ("exam", "fieldwork", None)
    assert storage.journal.latest(1)[0].who == ANN.id.hex()
    assert "?link=" not in browser(app, ANN.id).get(TEAM).text


def test_refusal_of_a_role_says_what_to_do(app: Flask, storage: SQLiteStorage) -> None:
    storage.access.grant(BEN.id, "exam", "viewer")
    html = {"Accept": "text/html"}

    assert "Your role does not allow this" in browser(app, BEN.id).get(TEAM, headers=html).text
    assert "Ihre Rolle erlaubt es nicht" in browser(app, BEN.id, "de").get(TEAM, headers=html).text


def test_draft_has_a_team_before_anybody_can_answer(app: Flask, storage: SQLiteStorage) -> None:
    storage.drafts.add("sketch", empty_draft("Sketch", "en").dumped)
    storage.access.grant(ANN.id, "sketch", "owner")
    ann, ben, team = browser(app, ANN.id), browser(app, BEN.id), "/dashboard/surveys/sketch/team"
    assert team in ann.get("/dashboard/surveys/sketch/design").text
    assert ben.get("/dashboard/surveys/sketch/design").status_code == 404
    press(ann, team, act="grant", account="Ben", role="owner")
    assert ben.get("/dashboard/surveys/sketch/design").status_code == 200
    told = re.findall(r'aria-label="([\w ]+: \w+)">(\w[\w ]*)</button>', ann.get(team).text)
    assert [(name, shown) for name, shown in told if shown != "Change"] == [
        ("Leave: Ann", "Leave"),
        ("Take away: Ben", "Take away"),
    ]
