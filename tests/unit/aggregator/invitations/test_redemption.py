import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.invitations import redemption
from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.invitations.tokens import create_tokens, revoke_tokens, token_counts
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.redemption import dump_request, parse_request
from sottovoce.shared.report import dump_report

from tests.conftest import FakeClock
from tests.invited import Prepared, blind_survey, key, prepare, request_of, signatures
from tests.surveys import ANSWERS, survey
from tests.unit.aggregator.api.conftest import post

SURVEYS = "/api/v1/surveys/exam"


@pytest.fixture
def app(storage: SQLiteStorage, clock: FakeClock, tmp_path: Path) -> Flask:
    keys = KeysFile(str(tmp_path / "keys"))
    keys._write({"exam": (key(0), key(1))})
    storage.publish(blind_survey())
    storage.publish(survey(name="open"))
    return create_app(Settings(blind_keys_file=str(tmp_path / "keys")), storage, clock, {})


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


def redeem(client: FlaskClient, body: bytes) -> Any:
    return post(client, f"{SURVEYS}/redeem", body)


def report_of(prepared: Prepared, wave: int = 0) -> bytes:
    asked = blind_survey()
    drawn = randomize(asked, encode(asked, ANSWERS), Draws())
    return dump_report(replace(drawn, report_id=prepared.report_id.hex(), wave=wave), asked)


def send(client: FlaskClient, body: bytes, signature: str | None) -> Any:
    return post(client, f"{SURVEYS}/reports", body, **({"Authorization": f"Blind {signature}"} if signature else {}))


def invited(storage: SQLiteStorage) -> str:
    return create_tokens(storage, "exam", 1)[0]


def test_invitation_is_redeemed_and_its_signature_spent(client: FlaskClient, storage: SQLiteStorage) -> None:
    prepared = prepare(blind_survey())
    asked = request_of(blind_survey(), invited(storage), prepared)
    reply, again = redeem(client, asked), redeem(client, asked)
    (signature,) = signatures(prepared, reply.data)
    body = report_of(prepared[0])

    assert (reply.status_code, reply.headers["Connection"]) == (200, "close")
    assert reply.data == again.data
    assert send(client, body, signature).data == send(client, body, signature).data == send(client, body, None).data
    assert token_counts(storage, "exam")[:4] == (1, 0, 0, 1)  # in steps of release_batch, as reports are
    assert storage.token_counts(storage.revisions("exam")[0].key) == (1, 1, 0, 0, 0, None)
    assert storage.revisions("exam")[0].reports == 1


def test_signature_is_good_for_one_report_of_all_revisions(client: FlaskClient, storage: SQLiteStorage) -> None:
    """Whoever asks for a signature under one version has no second report under the correction of it."""
    first, prepared = blind_survey(), prepare(blind_survey())
    second = blind_survey(revision=2, replaces=first.digest)
    (signature,) = signatures(prepared, redeem(client, request_of(first, invited(storage), prepared)).data)
    storage.publish(second)
    sent = report_of(prepared[0])
    corrected = sent.replace(first.digest.encode(), second.digest.encode())
    replies = [send(client, body, signature) for body in (sent, corrected, sent)]

    assert [(reply.status_code, reply.json.get("code")) for reply in replies] == [
        (200, None), (409, "id_conflict"), (200, None)
    ]  # fmt: skip
    assert [row.reports for row in storage.revisions("exam")] == [1, 0]


def test_second_redemption_is_refused(client: FlaskClient, storage: SQLiteStorage) -> None:
    invitation, first = invited(storage), prepare(blind_survey())
    reply = redeem(client, request_of(blind_survey(), invitation, first))
    other = redeem(client, request_of(blind_survey(), invitation, prepare(blind_survey())))

    assert (other.status_code, other.json["code"]) == (409, "already_redeemed")
    assert redeem(client, request_of(blind_survey(), invitation, first)).data == reply.data


def test_bad_requests_are_refused_and_use_up_nothing(
    client: FlaskClient, storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, invitation, prepared = blind_survey(), invited(storage), prepare(blind_survey())
    whole = parse_request(request_of(asked, invitation, prepared))
    revoked = invited(storage)
    revoke_tokens(storage, "exam", [revoked])

    def code(**changes: Any) -> tuple[int, str]:
        reply = redeem(client, dump_request(replace(whole, **changes)))
        return reply.status_code, reply.json["code"]

    assert code(invitation=revoked) == code(invitation="0" * 16) == code(invitation="typo") == (401, "token_invalid")
    assert code(digest="0" * 64) == (409, "digest_mismatch")
    assert code(blinded=whole.blinded * 2) == code(blinded=(bytes(256),)) == (400, "malformed")
    assert code(blinded=(key().modulus.to_bytes(256),)) == code(blinded=(bytes(383) + b"\1",)) == (400, "malformed")
    elsewhere = post(
        client, "/api/v1/surveys/open/redeem", dump_request(replace(whole, digest=survey(name="open").digest))
    )
    assert elsewhere.json["code"] == "malformed"
    assert post(client, "/api/v1/surveys/none/redeem", dump_request(whole)).json["code"] == "unknown_survey"
    monkeypatch.setattr(client.application.extensions["redeeming"]._turns, "_value", 0)
    assert code() == (503, "busy")
    monkeypatch.undo()
    assert storage.token_counts(storage.revisions("exam")[0].key) == (2, 0, 1, 1, 0, None)
    storage.close_survey("exam", 1)
    assert code() == (409, "closed")


def test_keys_that_are_missing_use_up_no_invitation(storage: SQLiteStorage, clock: FakeClock, tmp_path: Path) -> None:
    """It is the operator's fault, and redeeming goes on once the file is there."""
    storage.publish(blind_survey())
    client = create_app(Settings(blind_keys_file=str(tmp_path / "none")), storage, clock, {}).test_client()
    reply = redeem(client, request_of(blind_survey(), invited(storage), prepare(blind_survey())))

    assert (reply.status_code, reply.json["code"]) == (503, "storage")
    assert storage.token_counts(storage.revisions("exam")[0].key).unspent == 1


def test_report_without_a_signature_of_its_id_is_refused(client: FlaskClient, storage: SQLiteStorage) -> None:
    prepared, other = prepare(blind_survey())[0], prepare(blind_survey())[0]
    (signature,) = signatures([other], redeem(client, request_of(blind_survey(), invited(storage), [other])).data)
    twice = prepare(blind_survey(2))[1]
    of_wave = twice.signature(key(1).sign(twice.blinded.sent))
    changed = ("A" if signature[0] != "A" else "B") + signature[1:]
    cases = [
        (report_of(prepared), None), (report_of(prepared), signature), (report_of(other), changed),
        (report_of(other), signature[:-1]), (report_of(twice), of_wave), (report_of(other), "x"),
    ]  # fmt: skip

    for body, brought in cases:
        reply = send(client, body, brought)
        assert (reply.status_code, reply.json["code"]) == (401, "token_invalid")
    items = [{"report": json.loads(body), **({"signature": brought} if brought else {})} for body, brought in cases]
    good = {"report": json.loads(report_of(other)), "signature": signature}
    assert [each.get("code") for each in batch(client, [*items, good])] == ["token_invalid"] * 6 + [None]
    assert [each.get("code") for each in batch(client, [items[0]])] == ["token_invalid"]
    assert storage.revisions("exam")[0].reports == 1
    beyond = send(client, report_of(prepared, wave=1), signature)
    assert (beyond.status_code, beyond.json["code"]) == (401, "token_invalid")


def batch(client: FlaskClient, items: list[Any]) -> Any:
    body = json.dumps({"format": "sottovoce-batch/1", "items": items}, separators=(",", ":")).encode()
    return post(client, f"{SURVEYS}/reports/batch", body).json["items"]


def test_signature_is_spent_once(client: FlaskClient, storage: SQLiteStorage) -> None:
    prepared = prepare(blind_survey())
    (signature,) = signatures(prepared, redeem(client, request_of(blind_survey(), invited(storage), prepared)).data)
    body = report_of(prepared[0])
    admission = client.application.extensions["admission"]
    with ThreadPoolExecutor(8) as pool:
        receipts = list(pool.map(lambda _: admission.begin("exam", body, "", signature).reply(), range(64)))
    other = body
    while other == body:
        other = report_of(prepared[0])

    assert len(set(receipts)) == 1
    assert send(client, other, signature).json["code"] == "id_conflict"
    assert storage.revisions("exam")[0].reports == 1


def test_many_redeem_at_once_and_each_is_signed_for_once(app: Flask, storage: SQLiteStorage) -> None:
    check_once(app, storage, 60)


@pytest.mark.slow
def test_ten_thousand_redeem_at_once(app: Flask, storage: SQLiteStorage) -> None:
    check_once(app, storage, 10_000)


def check_once(app: Flask, storage: SQLiteStorage, many: int) -> None:
    """Numbers that are no blinded ids do as well: the signer cannot tell."""
    asked, signer = blind_survey(), app.extensions["redeeming"]
    template = parse_request(request_of(asked, "0" * 16, prepare(asked)))
    invitations = create_tokens(storage, "exam", many)
    bodies = [
        dump_request(replace(template, invitation=invitation, blinded=((number * 5 + copy + 1).to_bytes(256),)))
        for number, invitation in enumerate(invitations)
        for copy in range(5)
    ]

    def ask(body: bytes) -> bytes | None:
        try:
            return bytes(signer.redeem("exam", body))
        except redemption.Refusal as refusal:
            return None if refusal.code == "already_redeemed" else refusal.code.encode() * 9

    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(ask, bodies))
    signed = [sum(reply is not None for reply in replies[start : start + 5]) for start in range(0, len(replies), 5)]
    assert signed == [1] * many
    assert storage.token_counts(storage.revisions("exam")[0].key) == (many, many, 0, 0, 0, None)


def test_survey_of_waves_is_redeemed_at_once(storage: SQLiteStorage, clock: FakeClock, tmp_path: Path) -> None:
    KeysFile(str(tmp_path / "keys"))._write({"exam": (key(0), key(1))})
    asked = blind_survey(2)
    clock.moment = datetime(2026, 1, 15, tzinfo=UTC)
    storage.publish(asked)
    client = create_app(Settings(blind_keys_file=str(tmp_path / "keys")), storage, clock, {}).test_client()
    prepared = prepare(asked)

    assert len(signatures(prepared, redeem(client, request_of(asked, invited(storage), prepared)).data)) == 2


def test_nothing_that_was_signed_or_spent_is_stored(client: FlaskClient, storage: SQLiteStorage) -> None:
    """No blinded id, signature or invitation in any table; closing and forgetting leave only how many there were."""
    prepared, invitation = prepare(blind_survey()), invited(storage)
    reply = redeem(client, request_of(blind_survey(), invitation, prepared))
    (signature,) = signatures(prepared, reply.data)
    send(client, report_of(prepared[0]), signature)
    storage.close_survey("exam", 1)
    kept = b"".join(path.read_bytes() for path in storage._path.parent.glob("*.sqlite*"))
    first = storage.revisions("exam")[0].key

    for secret in (prepared[0].blinded.sent, signature.encode(), invitation[:16].encode()):
        assert secret not in kept
    storage.purge(first)
    assert list(storage.export_table("blind_invitations")) == []
    assert storage.token_counts(first) == (1, 1, 0, 0, 0, None)
