"""What devices ask before the first question: the same for everybody, and nothing about anybody."""

import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.api.survey_status import FRESH, MOST_SHOWN, PublishedSurveys
from sottovoce.aggregator.intake.request_limits import FAILURES
from sottovoce.aggregator.invitations.tokens import create_tokens, revoke_tokens
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.client.revisions import RevisionStatus, contradictions, published, standing
from sottovoce.shared import canonical
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.report import dump_report
from sottovoce.shared.spec import Survey

from tests.conftest import FakeClock
from tests.surveys import ANSWERS, months, survey
from tests.unit.aggregator.api.conftest import post
from tests.unit.shared.test_schema import validator

STRANGER = "203.0.113.5"


def chain(count: int, **changes: Any) -> list[Survey]:
    found = [survey(**changes)]
    for number in range(2, count + 1):
        found.append(survey(**{**changes, "revision": number, "replaces": found[-1].digest}))
    return found


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


def test_revisions_are_all_of_them_as_they_were_published(client: FlaskClient, storage: SQLiteStorage) -> None:
    revisions = chain(3)
    for each in revisions:
        storage.publish(each)
    reply = client.get("/api/v1/surveys/exam/revisions")
    document = canonical.load(reply.data)

    assert document["revisions"] == [each.document for each in reversed(revisions)]
    assert canonical.dump(document) == reply.data
    validator("revisions").validate(document)
    assert reply.content_type == "application/json"
    assert reply.headers["Cache-Control"] == "no-store"

    class Device:
        fetch_survey = staticmethod(lambda name: client.get(f"/api/v1/surveys/{name}").data)
        fetch_revisions = staticmethod(lambda name: client.get(f"/api/v1/surveys/{name}/revisions").data)

    shown = published(Device(), "exam")
    assert [each.digest for each in shown] == [each.digest for each in reversed(revisions)]
    assert contradictions(shown) == []


def test_at_most_eight_revisions_are_shown(storage: SQLiteStorage, clock: FakeClock) -> None:
    """A database of before there was a limit may have more: its newest ones are shown."""
    revisions = chain(MOST_SHOWN + 2)
    for each in revisions:
        storage.publish(each)
    surveys = PublishedSurveys(storage, clock)
    newest = [each.digest for each in reversed(revisions[2:])]

    assert [
        sha256(canonical.dump(each)).hexdigest() for each in json.loads(surveys.revisions("exam"))["revisions"]
    ] == newest
    assert [each["digest"] for each in json.loads(surveys.status("exam"))["revisions"]] == newest


def test_status_tells_each_revision_and_wave(client: FlaskClient, storage: SQLiteStorage, clock: FakeClock) -> None:
    first, second = chain(2, waves=months(3))
    storage.publish(first)
    storage.publish(second, retire=True)

    def asked() -> dict[str, Any]:
        document = canonical.load(client.get("/api/v1/surveys/exam/status").data)
        validator("status").validate(document)
        return document

    clock.moment = second.waves[1].opens - timedelta(seconds=1)  # type: ignore[operator]
    before = asked()
    clock.moment = second.waves[1].opens  # type: ignore[assignment]
    after = asked()
    assert before["closed_on"] is after["closed_on"] is None
    assert [each["waves"] for each in before["revisions"]] == [["open", "early", "early"]] * 2
    assert [each["waves"] for each in after["revisions"]] == [["closed", "open", "early"]] * 2
    assert [(each["digest"], each["revision"], each["retired"]) for each in after["revisions"]] == [
        (second.digest, 2, False), (first.digest, 1, True),
    ]  # fmt: skip
    assert standing(after, first, 1) == RevisionStatus("retired", None, 2)
    assert standing(after, second, 2) == RevisionStatus("early", None, 2)

    storage.close_survey("exam", 20_600)
    clock.moment += FRESH
    closed = asked()
    assert closed["closed_on"] == "2026-05-27"
    assert [each["waves"] for each in closed["revisions"]] == [["closed"] * 3] * 2


def test_close_by_another_node_is_seen_within_a_second(
    tmp_path: Path, storage: SQLiteStorage, clock: FakeClock
) -> None:
    """Until then memory answers."""
    storage.publish(survey())
    surveys = PublishedSurveys(storage, clock)
    assert b'"open"' in surveys.status("exam")
    other = SQLiteStorage(tmp_path / "sottovoce.sqlite")
    other.close_survey("exam", 20_600)
    other.close()

    assert b'"open"' in surveys.status("exam")
    clock.moment += FRESH
    assert b'"closed"' in surveys.status("exam")


def test_clock_that_is_set_back_forgets(storage: SQLiteStorage, clock: FakeClock) -> None:
    """Else a year of it would keep a closed survey open."""
    storage.publish(survey())
    surveys = PublishedSurveys(storage, clock)
    surveys.status("exam")
    storage.close_survey("exam", 20_600)
    clock.moment -= timedelta(days=365)

    assert b'"closed"' in surveys.status("exam")


def test_names_that_nobody_published_are_not_remembered(storage: SQLiteStorage, clock: FakeClock) -> None:
    """Whoever invents them fills no memory."""
    surveys = PublishedSurveys(storage, clock)
    for number in range(100):
        with pytest.raises(ReportRejected, match="no survey"):
            surveys.status(f"s{number}")

    assert surveys._read == {}


@pytest.mark.parametrize("end", ["/revisions", "/status"])
def test_survey_that_is_not_there_is_unknown(client: FlaskClient, end: str) -> None:
    reply = client.get(f"/api/v1/surveys/none{end}")
    assert (reply.status_code, reply.json["code"]) == (404, "unknown_survey")


def check(client: FlaskClient, token: str, name: str = "exam", **peer: str) -> Any:
    return post(client, f"/api/v1/surveys/{name}/token", {"token_sha256": sha256(token.encode()).hexdigest()}, **peer)


def test_token_check_has_one_reply_for_good_and_one_for_all_else(
    app: Flask, client: FlaskClient, storage: SQLiteStorage
) -> None:
    """Spent, revoked, unknown, of another survey, or where none is asked for: status, headers and bytes are equal."""
    asked = survey(access="token")
    storage.publish(asked)
    storage.publish(survey(name="open"))
    storage.publish(survey(name="other", access="token"))
    good, spent, revoked = (token[:16] for token in create_tokens(storage, "exam", 3))
    [others] = create_tokens(storage, "other", 1)
    revoke_tokens(storage, "exam", [revoked])
    body = dump_report(randomize(asked, encode(asked, ANSWERS), Draws()), asked)
    app.extensions["admission"].admit("exam", body, spent)

    reply = check(client, good)
    assert (reply.status_code, reply.data) == (200, b'{"format":"sottovoce-token/1","good":true}')
    validator("token-good").validate(reply.json)
    refused = [check(client, token) for token in (spent, revoked, "0" * 16, others[:16])] + [
        check(client, good, "open")
    ]
    assert {(each.status_code, each.data, str(sorted(each.headers))) for each in refused} == {
        (401, refused[0].data, str(sorted(refused[0].headers)))
    }
    assert refused[0].json["code"] == "token_invalid"


def test_token_check_leaves_no_trace(app: Flask, client: FlaskClient, storage: SQLiteStorage) -> None:
    """However often it is asked: nothing is spent, counted or written."""
    storage.publish(survey(access="token"))
    [good] = create_tokens(storage, "exam", 1)
    before = contents(storage)
    assert [check(client, token).status_code for token in (good[:16], "0" * 16) * 3] == [200, 401] * 3

    assert storage.token_counts(1) == (1, 0, 0, 1, 0, None)
    assert not app.extensions["admission"].rejected
    assert contents(storage) == before


def contents(storage: SQLiteStorage) -> list[str]:
    """Return all rows of all tables but the node's own pulse; their order changes whenever the node settles."""
    with closing(sqlite3.connect(storage._path)) as db:
        return sorted(line for line in db.iterdump() if not line.startswith('INSERT INTO "pulse"'))


def test_token_outlives_a_correction(client: FlaskClient, storage: SQLiteStorage) -> None:
    first, second = chain(2, access="token")
    storage.publish(first)
    [good] = create_tokens(storage, "exam", 1)
    storage.publish(second)

    assert check(client, good[:16]).status_code == 200


def test_token_check_that_is_none_is_malformed(client: FlaskClient, storage: SQLiteStorage) -> None:
    bodies = [
        b"", b"{}", b"[]", b"x", b'{"token_sha256":""}', b'{"token_sha256":null}', b'{"token_sha256":["00"]}',
        b'{"token_sha256":"%s"}' % (b"A" * 64), b'{"token_sha256":"%s"}' % (b"0" * 63),
        b'{"token":"%s"}' % (b"0" * 64), b'{"token_sha256":"%s","more":1}' % (b"0" * 64),
    ]  # fmt: skip
    for name, access in (("exam", "token"), ("open", "open")):
        storage.publish(survey(name=name, access=access))
        replies = [(body, post(client, f"/api/v1/surveys/{name}/token", body)) for body in bodies]
        assert [body for body, reply in replies if (reply.status_code, reply.json["code"]) != (400, "malformed")] == []


def test_failures_of_one_network_are_limited_on_their_own(client: FlaskClient, storage: SQLiteStorage) -> None:
    """Good tokens cost nothing, and after too many bad ones even they are not told; reading a survey goes on."""
    storage.publish(survey(access="token"))
    [good] = create_tokens(storage, "exam", 1)
    assert {check(client, good[:16], peer=STRANGER).status_code for _ in range(2 * FAILURES)} == {200}
    assert {check(client, "0" * 16, peer=STRANGER).status_code for _ in range(FAILURES)} == {401}

    assert {check(client, token, peer=STRANGER).status_code for token in ("0" * 16, good[:16])} == {429}
    assert check(client, good[:16], peer="198.51.100.7").status_code == 200
    assert client.get("/api/v1/surveys/exam/status", environ_overrides={"REMOTE_ADDR": STRANGER}).status_code == 200


def test_any_origin_may_ask(client: FlaskClient, storage: SQLiteStorage) -> None:
    storage.publish(survey())
    for address in (f"/api/v1/surveys/{name}" for name in ("exam", "none")):
        replies = [client.get(f"{address}{end}") for end in ("/revisions", "/status")]
        replies += [client.options(f"{address}{end}") for end in ("/revisions", "/status", "/token")]
        for each in (*replies, check(client, "0" * 16, address.rpartition("/")[2])):
            assert each.headers["Access-Control-Allow-Origin"] == "*"
            assert {"Access-Control-Allow-Credentials", "Set-Cookie"}.isdisjoint(each.headers.keys())
