"""Redemptions on a shared database: one signature for an invitation, and nothing of it in clear."""

import hashlib
import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.invitations.redemption import Redeeming
from sottovoce.aggregator.invitations.tokens import create_tokens
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.blind_signatures import EXPONENT
from sottovoce.shared.redemption import RedeemRequest, dump_request, parse_reply, read_number, spell, token_hash
from sottovoce.shared.report import dump_report

from tests import postgres
from tests.conftest import FakeClock
from tests.invited import blind_survey, key, prepare, request_of, signatures
from tests.surveys import ANSWERS

AT_ONCE = 5
JSON = {"Content-Type": "application/json"}


@pytest.fixture(name="store")
def _store() -> Iterator[PostgresStorage]:
    """A shared database with the survey on the server that is ours, so that its files can be read."""
    database = PostgresStorage(postgres.fresh(postgres.own()[0]))
    database.publish(blind_survey())
    yield database
    database.close()


@pytest.fixture(name="keys")
def _keys(tmp_path: Path) -> str:
    path = str(tmp_path / "keys")
    KeysFile(path)._write({"exam": (key(0),)})
    return path


def test_nothing_that_was_signed_or_spent_is_in_the_servers_files(store: PostgresStorage, keys: str) -> None:
    """Tables, log of the database and log of the server hold no blinded id, signature or invitation."""
    asked, prepared = blind_survey(), prepare(blind_survey())
    (invitation,) = create_tokens(store, "exam", 1)
    client = create_app(Settings(blind_keys_file=keys), store, FakeClock(), {}).test_client()
    reply = client.post("/api/v1/surveys/exam/redeem", data=request_of(asked, invitation, prepared), headers=JSON)
    (signature,) = signatures(prepared, reply.data)
    report = randomize(asked, encode(asked, ANSWERS), Draws(), report_id=prepared[0].report_id.hex())
    signed = {**JSON, "Authorization": f"Blind {signature}"}
    sent = client.post("/api/v1/surveys/exam/reports", data=dump_report(report, asked), headers=signed)
    again = client.post("/api/v1/surveys/exam/redeem", data=request_of(asked, invitation, prepare(asked)), headers=JSON)
    blinded = prepared[0].blinded.sent
    secret = [blinded, spell(blinded).encode(), read_number(signature), signature.encode(), invitation[:16].encode()]

    assert (reply.status_code, sent.status_code, again.status_code) == (200, 200, 409)
    # Nothing that is searched for is missed: both fingerprints are there.
    assert searched(store, [token_hash(invitation, "exam"), hashlib.sha256(blinded).digest()]) == [True, True]
    assert searched(store, secret) == [False] * len(secret)
    store.scrub()
    assert searched(store, secret) == [False] * len(secret)


def searched(store: PostgresStorage, wanted: list[bytes]) -> list[bool]:
    """Whether each is in a file of the server, but those of the databases of other tests."""
    with psycopg.connect(store._pool.conninfo, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
        others = connection.execute("SELECT oid::text FROM pg_database WHERE datname <> current_database()").fetchall()
    files = [path for path in postgres.own()[1].rglob("*") if path.is_file() and (path.parent.name,) not in others]
    found = [path.read_bytes() for path in files]
    return [any(each in content for content in found) for each in wanted]


@pytest.mark.slow
def test_each_of_ten_thousand_invitations_has_one_signature(store: PostgresStorage, keys: str) -> None:
    """For one of five numbers, which five devices choose at once; the other four are refused."""
    asked, modulus, refusals = blind_survey(), key(0).modulus, set()
    redeeming = Redeeming(store, FakeClock(), KeysFile(keys))

    def ask(invitation: str, together: threading.Barrier) -> bool:
        number = (1 + secrets.randbelow(modulus - 1)).to_bytes(256)
        body = dump_request(RedeemRequest(asked.digest, invitation[:16], (number,)))
        together.wait()
        while True:
            try:
                (signed,) = parse_reply(redeeming.redeem("exam", body)).signed
            except Refusal as refusal:
                if refusal.code == "busy":
                    continue
                refusals.add(refusal.code)
                return False
            return pow(int.from_bytes(signed), EXPONENT, modulus) == int.from_bytes(number)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for invitation in create_tokens(store, "exam", 10_000):
            together = threading.Barrier(AT_ONCE)
            tries = [pool.submit(ask, invitation, together) for _ in range(AT_ONCE)]
            assert sum(each.result() for each in tries) == 1
    assert refusals == {"already_redeemed"}
    assert store.token_counts(store.revisions("exam")[0].key) == (10_000, 10_000, 0, 0, 0, None)
