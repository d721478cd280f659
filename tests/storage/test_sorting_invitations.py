"""Invitations are written anew on a shared database, while people redeem them and somebody makes a backup."""

import hashlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from sottovoce.aggregator.storage import Outcome
from sottovoce.aggregator.storage.postgres import invitations
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage

from tests import postgres
from tests.invited import blind_survey
from tests.storage.test_contract import arrival
from tests.surveys import survey

MANY = 40
HASHES = [hashlib.sha256(b"%d" % number).digest() for number in range(MANY)]
LOOKS = """
    SELECT reloptions::text, (SELECT array_agg(attname || coalesce(attstattarget, -1) ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = pg_class.oid AND attnum > 0)::text,
        (SELECT array_agg(indexrelid::regclass) FROM pg_index WHERE indrelid = pg_class.oid)::text
    FROM pg_class WHERE relname = 'blind_invitations'
"""
ORDER = "SELECT invitation_hash FROM blind_invitations ORDER BY ctid"


@pytest.fixture(name="url")
def _url() -> str:
    return postgres.with_tables()


@pytest.fixture(name="store")
def _store(url: str) -> Iterator[PostgresStorage]:
    """With many invitations, of which some were redeemed, in another order than that of their hashes."""
    database = PostgresStorage(url)
    key = database.publish(blind_survey()).key
    database.add_tokens(key, HASHES[:-1], blind=True)
    for number in (7, 3, 30, 11):
        database.redeem_invitation(key, HASHES[number], HASHES[number])
    yield database
    database.close()


def test_what_changes_meanwhile_is_taken_over(
    store: PostgresStorage, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redeemed, taken back, made; then all is as before but for the order, and the table is as it was made."""
    key, held = store.revisions("exam")[0].key, invitations._held

    def at_that_moment(connection: psycopg.Connection[Any]) -> bool:
        assert store.redeem_invitation(key, HASHES[20], b"x" * 32) is Outcome.NEW
        assert store.revoke_tokens(key, [HASHES[5]]) == 1
        store.add_tokens(key, HASHES[-1:], blind=True)
        return held(connection)

    # What is taken back has the table sorted soon: not within this.
    monkeypatch.setattr(PostgresStorage, "tidy", lambda _: None)
    monkeypatch.setattr(invitations, "_held", at_that_moment)
    with psycopg.connect(url) as connection:
        looks = connection.execute(LOOKS).fetchall()
        connection.commit()
        store.scrub()
        assert connection.execute(LOOKS).fetchall() == looks
        order = [bytes(found) for (found,) in connection.execute(ORDER)]
        moments = connection.execute("SELECT count(DISTINCT xmin::text) FROM blind_invitations").fetchone()

    rows = {bytes(row[1]): row[2] for row in store.export_table("blind_invitations")}
    assert rows.keys() == {*HASHES} - {HASHES[5]}
    assert {each for each, found in rows.items() if found is not None} == {HASHES[n] for n in (7, 3, 30, 11, 20)}
    assert rows[HASHES[20]] == b"x" * 32
    assert moments == (1,)
    late = [HASHES[20], HASHES[-1]]
    assert [each for each in order if each not in late] == sorted({*rows} - {*late})
    assert store.verify() == []
    assert store.redeem_invitation(key, HASHES[20], b"x" * 32) is Outcome.SAME


def test_reports_come_in_while_somebody_reads_all_and_a_survey_goes(store: PostgresStorage) -> None:
    """Deleting writes tables anew that reports need: once the backup is done, and nobody stands behind it till then."""
    key, other = store.publish(survey(name="asked")).key, store.publish(survey(name="other"))
    with ThreadPoolExecutor(2) as pool:
        with store.snapshot() as rows:
            assert other.key in [row[0] for row in rows("surveys")]
            deleted = pool.submit(store.delete_survey, "other")
            while store.revisions("other"):
                time.sleep(0.01)
            for number in range(30):
                found = pool.submit(store.store, [arrival(key, number)])
                assert found.result(20) == [Outcome.NEW]
                time.sleep(0.02)
            assert not deleted.done()
        deleted.result(60)
    assert store.verify() == []


def test_whoever_reads_all_at_one_moment_has_them(store: PostgresStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup without its invitations would be found out when it is put back; people redeem meanwhile."""
    monkeypatch.setattr(invitations, "_TRIES", 1)
    monkeypatch.setattr(invitations, "_PAUSE", 0)
    with store.snapshot() as rows:
        assert len(list(rows("surveys"))) == 1
        store.scrub()
        key = store.revisions("exam")[0].key
        assert store.redeem_invitation(key, HASHES[1], HASHES[1]) is Outcome.NEW
        assert len(list(rows("blind_invitations"))) == MANY - 1
    store.scrub()
    with store._connection() as connection:
        order = [bytes(found) for (found,) in connection.execute(ORDER)]
    assert order == sorted(order)
