"""Tokens over HTTP: for researchers only, shown once, and never repeated."""

import csv
import io
from datetime import date
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.intake.request_limits import check_head
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage.table_catalogue import TABLES
from sottovoce.shared.redemption import parse_token, print_token, token_hash

from tests.invited import blind_survey
from tests.storage.test_contract import arrival
from tests.surveys import months, survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.api.conftest import post, program_of

NONE_HELD = {"held": 0, "held_since": None}
TOKENS = "/api/v1/surveys/exam/tokens"
ASKED = survey(access="token")


@pytest.fixture(autouse=True)
def surveys(storage: SQLiteStorage) -> None:
    storage.publish(ASKED)
    storage.publish(survey(name="open"))


def test_tokens_are_made_once_counted_and_taken_back(researcher: FlaskClient, storage: SQLiteStorage) -> None:
    made = post(researcher, TOKENS, {"count": 3}).json
    table = post(researcher, TOKENS, {"count": 2}, Accept="text/csv")
    rows = list(csv.DictReader(io.StringIO(table.text)))
    tokens = [row["token"] for row in [*made["tokens"], *rows]]

    assert made["survey"] == "exam"
    assert table.content_type == "text/csv; charset=utf-8"
    assert [print_token(parse_token(token, "exam"), "exam") for token in tokens] == tokens
    assert len(set(tokens)) == 5
    for row in [*made["tokens"], *rows]:
        assert row["link"] == f"https://survey.example.org/s/exam#d={ASKED.digest[:32]}&t={row['token']}"
    assert all(storage.has_token(1, token_hash(token, "exam")) for token in tokens)
    assert researcher.get(TOKENS).json == {"created": 5, "spent": 0, "revoked": 0, "unspent": 5, **NONE_HELD}
    mixed = [tokens[0], tokens[1][:16], tokens[0].lower(), f"{tokens[2]}0", "nonsense", ""]
    taken = post(researcher, f"{TOKENS}/revoke", {"tokens": mixed}).json
    assert taken == {"survey": "exam", "revoked": 2}
    assert post(researcher, f"{TOKENS}/revoke", {"tokens": tokens[:2]}).json["revoked"] == 0
    assert researcher.get(TOKENS).json == {"created": 5, "spent": 0, "revoked": 2, "unspent": 3, **NONE_HELD}
    assert [storage.has_token(1, token_hash(token, "exam")) for token in tokens] == [False, False, True, True, True]


def test_tokens_outlive_a_correction(researcher: FlaskClient, storage: SQLiteStorage) -> None:
    """Those made before and after a revision lie together: links that were sent out stay good, once."""
    post(researcher, TOKENS, {"count": 2})
    corrected = storage.publish(survey(access="token", revision=2))
    [row] = post(researcher, TOKENS, {"count": 1}).json["tokens"]
    key = storage.revisions("exam")[0].key

    assert corrected.key != key
    assert storage.has_token(key, token_hash(row["token"], "exam"))
    assert researcher.get(TOKENS).json == {"created": 3, "spent": 0, "revoked": 0, "unspent": 3, **NONE_HELD}


TOLD: list[tuple[str, Any, str]] = [
    (TOKENS, {"count": 0}, "count is a whole number from 1 to 100,000"),
    (TOKENS, {"count": "7"}, "count is a whole number from 1 to 100,000"),
    (TOKENS, {"count": 1, "wave": -1}, "wave is a whole number from 0 on"),
    (TOKENS, {"wave": 0}, "the body is an object with count, and perhaps wave"),
    (TOKENS, b'{"count":', "the body is not JSON (line 1, column 10)"),
    (TOKENS, b'{"count":3.0}', "the body holds a number that is not a whole number"),
    (TOKENS, b'{"count":1,"count":1}', "the body has a duplicate key"),
    (f"{TOKENS}/revoke", {"tokens": [7]}, "tokens is a list of texts"),
    ("/api/v1/surveys/exam/token", {"token_sha256": "x"},
     'the body is {"token_sha256": 64 digits and letters from a to f}'),
    ("/api/v1/surveys/exam/withdraw", {"report_id": "x"}, "report_id is 32 digits and letters from a to f"),
    ("/api/v1/surveys/exam/withdraw", {"id": "x"}, "a key is missing, unknown, or has a value of another type"),
    ("/api/v1/surveys/exam/withdraw", b'{"report_id": "%032x"}' % 1, "the request is not in canonical form"),
    ("/api/v1/surveys/exam/reports", b"{", "the body is not JSON"),
    ("/api/v1/surveys/exam/reports/batch", b'{"format":"sottovoce-batch/1","items":[]}',
     "a batch has format sottovoce-batch/1 and 1 to 1,000 items"),
]  # fmt: skip
MALFORMED: list[tuple[str, Any]] = [
    (TOKENS, b""), (TOKENS, b"[]"), (TOKENS, b"{}"), (TOKENS, {"count": -1}), (TOKENS, {"count": 100_001}),
    (TOKENS, {"count": True}), (TOKENS, {"count": "3"}), (TOKENS, {"count": None}),
    (TOKENS, {"count": 1, "sentinel": 1}), (TOKENS, {"count": 1, "wave": "0"}),
    (TOKENS, b'{"count":' + b"[" * 59_999), (f"{TOKENS}/revoke", {"tokens": "sentinel"}),
    (f"{TOKENS}/revoke", {"tokens": ["sentinel", 7]}), (f"{TOKENS}/revoke", {"count": 1}),
    (f"{TOKENS}/revoke", b"\xff"),
]  # fmt: skip


def test_refusal_says_what_is_wrong_and_makes_and_takes_nothing(researcher: FlaskClient) -> None:
    replies = [(post(researcher, path, body), told) for path, body, told in TOLD]
    assert [reply.json["detail"] for reply, _ in replies] == [told for _, told in replies]
    found = [*(reply for reply, _ in replies), *(post(researcher, path, body) for path, body in MALFORMED)]
    assert {(reply.status_code, reply.json["code"]) for reply in found} == {(400, "malformed")}
    assert [reply.text for reply in found if "sentinel" in reply.text] == []
    assert researcher.get(TOKENS).json == {"created": 0, "spent": 0, "revoked": 0, "unspent": 0, **NONE_HELD}


def test_there_are_none_for_an_open_survey_or_for_none(researcher: FlaskClient) -> None:
    open_survey = post(researcher, "/api/v1/surveys/open/tokens", {"count": 1})
    assert (open_survey.status_code, open_survey.json["detail"]) == (404, "this survey asks for no tokens")
    for path in ("", "/revoke"):
        body = {"tokens": []} if path else {"count": 1}
        reply = post(researcher, f"/api/v1/surveys/none/tokens{path}", body)
        assert (reply.status_code, reply.json["code"]) == (404, "unknown_survey")
    assert researcher.get("/api/v1/surveys/none/tokens").status_code == 404


def test_links_name_their_wave(researcher: FlaskClient, storage: SQLiteStorage) -> None:
    panel = storage.publish(survey(name="panel", access="token", waves=months(2)))
    for wave, part in ((0, "&t="), (1, "&w=1&t=")):
        [row] = post(researcher, "/api/v1/surveys/panel/tokens", {"count": 1, "wave": wave}).json["tokens"]
        assert row["link"] == f"https://survey.example.org/s/panel#d={panel.digest[:32]}{part}{row['token']}"
    refused = post(researcher, "/api/v1/surveys/panel/tokens", {"count": 1, "wave": 2})
    assert (refused.status_code, refused.json["detail"]) == (404, "the survey has no such wave")
    assert researcher.get("/api/v1/surveys/panel/tokens").json["created"] == 2


def test_only_a_researchers_header_opens_them(app: Flask, storage: SQLiteStorage) -> None:
    """Neither nobody, nor a dashboard's cookie, which another site's page could make a browser send."""
    browser, _ = log_in(app)
    for client in (app.test_client(), browser):
        for path, body in ((TOKENS, {"count": 1}), (f"{TOKENS}/revoke", {"tokens": []})):
            reply = client.post(path, json=body, base_url="https://survey.example.org")
            assert (reply.status_code, reply.json["code"]) == (401, "unauthorized")
            assert "Access-Control-Allow-Origin" not in reply.headers
        assert client.get(TOKENS, base_url="https://survey.example.org").status_code == 401
    assert storage.token_counts(1).created == 0


def test_a_long_list_of_tokens_passes_the_gate() -> None:
    """25,000 of them are half a megabyte."""
    head = [("content-length", "500000"), ("content-type", "application/json")]
    assert check_head("POST", f"{TOKENS}/revoke", head) == 500_000


@pytest.mark.parametrize(("reports", "told"), [(24, 0), (25, 25), (49, 25)])
def test_spent_tokens_are_told_in_steps_while_the_survey_is_open(
    researcher: FlaskClient, storage: SQLiteStorage, reports: int, told: int
) -> None:
    """Whoever asks again and again would else see each person come; once it is closed, all are told."""
    key = storage.revisions("exam")[0].key
    hashes = [bytes([number]) * 32 for number in range(60)]
    storage.add_tokens(key, hashes)
    storage.store([arrival(key, number, token=hashes[number]) for number in range(reports)])
    counts = {"created": 60, "revoked": 0, **NONE_HELD}
    assert researcher.get(TOKENS).json == {**counts, "spent": told, "unspent": 60 - told}
    storage.close_survey("exam", 1)

    assert researcher.get(TOKENS).json == {**counts, "spent": reports, "unspent": 60 - reports}


def test_what_a_restore_holds_is_told_with_its_day(researcher: FlaskClient, storage: SQLiteStorage) -> None:
    key = storage.publish(blind_survey(name="invited")).key
    storage.add_tokens(key, [bytes([number]) * 32 for number in range(3)], blind=True)
    storage.redeem_invitation(key, bytes(32), b"x" * 32)
    storage.close_survey("invited", 1)
    storage.hold_invitations()
    told = researcher.get("/api/v1/surveys/invited/tokens").json

    date.fromisoformat(told.pop("held_since"))
    assert told == {"created": 3, "spent": 1, "revoked": 0, "unspent": 0, "held": 2}


def test_tokens_for_a_try_out_say_so_first(researcher: FlaskClient, storage: SQLiteStorage) -> None:
    storage.publish(survey(name="tried", access="token", trial=True))
    path = "/api/v1/surveys/tried/tokens"
    assert post(researcher, path, {"count": 1}).text.startswith('{"trial":true,')
    assert post(researcher, path, {"count": 1}, Accept="text/csv").text.startswith("Test run: not the real survey.\r\n")
    assert "trial" not in post(researcher, TOKENS, {"count": 1}).text


NAMED = "8e03978e-40d5-43dd-bc93-6894a57f9324"


def test_request_that_comes_again_gets_the_same_tokens(researcher: FlaskClient, storage: SQLiteStorage) -> None:
    """The first answer may have been lost; nothing is made twice, in either form, and nothing in clear is kept."""
    first = post(researcher, TOKENS, {"count": 3}, **{"Idempotency-Key": f'"{NAMED}"'}).json
    again = post(researcher, TOKENS, {"wave": 0, "count": 3}, **{"Idempotency-Key": NAMED}).json
    table = post(researcher, TOKENS, {"count": 3}, Accept="text/csv", **{"Idempotency-Key": NAMED}).text
    tokens = [row["token"] for row in first["tokens"]]

    assert first == again
    assert [row["token"] for row in csv.DictReader(io.StringIO(table))] == tokens
    assert len(set(tokens)) == 3
    assert all(storage.has_token(1, token_hash(token, "exam")) for token in tokens)
    assert researcher.get(TOKENS).json == {"created": 3, "spent": 0, "revoked": 0, "unspent": 3, **NONE_HELD}
    kept = b" ".join(str(row).encode() for table in TABLES for row in storage.export_table(table))
    for secret in (NAMED, *tokens, *(token[:16] for token in tokens)):
        assert secret.encode() not in kept
    assert storage.verify() == []


def test_request_that_comes_again_makes_nothing_good_again(researcher: FlaskClient, storage: SQLiteStorage) -> None:
    """Neither what was taken back nor what was spent, even if that is all of them."""
    key = {"Idempotency-Key": NAMED}
    tokens = [row["token"] for row in post(researcher, TOKENS, {"count": 2}, **key).json["tokens"]]
    post(researcher, f"{TOKENS}/revoke", {"tokens": tokens[:1]})
    storage.store([arrival(1, 1, token=token_hash(tokens[1], "exam"))])
    again = post(researcher, TOKENS, {"count": 2}, **key)

    assert [row["token"] for row in again.json["tokens"]] == tokens
    assert [storage.has_token(1, token_hash(token, "exam")) for token in tokens] == [False, False]
    assert storage.token_counts(1).created == 2


@pytest.mark.parametrize("body", [{"count": 2}, {"count": 4}, {"count": 3, "wave": 1}])
def test_key_names_one_request(researcher: FlaskClient, storage: SQLiteStorage, body: Any) -> None:
    storage.publish(survey(name="panel", access="token", waves=months(2)))
    path, key = "/api/v1/surveys/panel/tokens", {"Idempotency-Key": NAMED}
    assert post(researcher, path, {"count": 3}, **key).status_code == 200
    reply = post(researcher, path, body, **key)

    assert (reply.status_code, reply.json["code"]) == (422, "key_reused")
    assert researcher.get(path).json["created"] == 3


def test_key_is_its_researchers_and_its_surveys(app: Flask, researcher: FlaskClient, storage: SQLiteStorage) -> None:
    """Somebody else with the same key gets other tokens, and so does another survey."""
    storage.publish(survey(name="other", access="token"))
    asked = [
        post(client, path, {"count": 1}, **{"Idempotency-Key": NAMED})
        for client, path in (
            (researcher, TOKENS),
            (researcher, "/api/v1/surveys/other/tokens"),
            (program_of(app, "ben"), TOKENS),
        )
    ]

    assert len({reply.json["tokens"][0]["token"][:16] for reply in asked}) == 3
    assert storage.token_counts(1).created == 2


@pytest.mark.parametrize(
    "key", ["", '""', "short", "x" * 201, "with a space in it", f'"{NAMED}', f"{NAMED},{NAMED}", "é" * 20]
)
def test_key_that_could_be_guessed_or_read_in_two_ways_is_refused(
    researcher: FlaskClient, storage: SQLiteStorage, key: str
) -> None:
    """And not taken for none, which would make tokens twice."""
    reply = post(researcher, TOKENS, {"count": 1}, **{"Idempotency-Key": key})

    assert (reply.status_code, reply.json["code"]) == (400, "malformed")
    assert storage.token_counts(1).created == 0
