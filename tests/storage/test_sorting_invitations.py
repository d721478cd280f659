"""Invitations are written anew on a shared database, while people redeem them and somebody makes a backup."""

import hashlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from sottovoce.aggregator.storage import Outcome
from sottovoce.aggregator.storage.postgres import settling
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.shared.errors import StorageError

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


def test_invitations_are_written_anew_in_the_order_of_hashes(store: PostgresStorage, url: str) -> None:
    """By one transaction, with the rows and the traits of before; a redemption that comes meanwhile waits."""
    key = store.revisions("exam")[0].key
    with psycopg.connect(url) as connection:
        looks = connection.execute(LOOKS).fetchall()
        connection.commit()
        assert store.settle()
        assert connection.execute(LOOKS).fetchall() == looks
        order = [bytes(found) for (found,) in connection.execute(ORDER)]
        moments = connection.execute("SELECT count(DISTINCT xmin::text) FROM blind_invitations").fetchone()

    rows = {bytes(row[1]): row[2] for row in store.export_table("blind_invitations")}
    assert rows.keys() == {*HASHES[:-1]}
    assert {each for each, found in rows.items() if found is not None} == {HASHES[n] for n in (7, 3, 30, 11)}
    assert (order, moments) == (sorted(HASHES[:-1]), (1,))
    assert store.verify() == []
    assert store.redeem_invitation(key, HASHES[7], HASHES[7]) is Outcome.SAME


def test_invitations_are_redeemed_and_looked_up_while_they_are_written_anew(store: PostgresStorage) -> None:
    """Again and again: each is redeemed once, none is lost, and a good one is never said to be bad."""
    key = store.revisions("exam")[0].key
    free = [hashed for number, hashed in enumerate(HASHES[:-1]) if number not in {7, 3, 30, 11}]

    def redeem(hashed: bytes) -> None:
        assert store.has_token(key, hashed)
        assert store.redeem_invitation(key, hashed, hashed) is Outcome.NEW
        assert store.redeem_invitation(key, hashed, b"x" * 32) is Outcome.CONFLICT

    with ThreadPoolExecutor(4) as pool:
        redeemed = [pool.submit(redeem, hashed) for hashed in free]
        while not all(each.done() for each in redeemed):
            assert store.settle()
        for each in redeemed:
            each.result()
    assert store.token_counts(key).spent == MANY - 1
    assert store.verify() == []


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
    monkeypatch.setattr(settling, "TRIES", 1)
    monkeypatch.setattr(settling, "PAUSE_SECONDS", 0)
    with store.snapshot() as rows:
        assert len(list(rows("surveys"))) == 1
        with pytest.raises(StorageError, match="tried again"):
            store.settle()
        key = store.revisions("exam")[0].key
        assert store.redeem_invitation(key, HASHES[1], HASHES[1]) is Outcome.NEW
        assert len(list(rows("blind_invitations"))) == MANY - 1
    store.scrub()
    with store._connection() as connection:
        order = [bytes(found) for (found,) in connection.execute(ORDER)]
    assert order == sorted(order)
