"""Questions that are asked by a link, in every back end: who publishes and withdraws them."""

from pathlib import Path

from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.audit_log.events import LINK_PUBLISHED, LINK_WITHDRAWN
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.sql_storage import PublishedLink

from tests import postgres
from tests.storage.test_contract import BACK_ENDS

DIGEST, ANN, BEN = "d" * 64, "a" * 32, "b" * 32


def test_question_is_published_once(store: Storage) -> None:
    for who in (ANN, BEN, ANN):
        store.link_questions.publish(DIGEST, b"{}", who)

    assert store.link_questions.all() == [PublishedLink(DIGEST, (ANN, BEN), b"{}")]
    assert store.link_questions.document(DIGEST) == b"{}"
    assert store.link_questions.document("e" * 64) is None
    noted = [(entry.what, entry.who, entry.about) for entry in store.journal.latest(10)]
    assert noted == [(LINK_PUBLISHED, BEN, DIGEST), (LINK_PUBLISHED, ANN, DIGEST)]


def test_publisher_and_admins_withdraw(store: Storage) -> None:
    store.link_questions.publish(DIGEST, b"{}", ANN)
    assert not store.link_questions.withdraw(DIGEST, BEN, is_admin=False)
    assert store.link_questions.withdraw(DIGEST, ANN, is_admin=False)
    assert not store.link_questions.withdraw(DIGEST, ANN, is_admin=False)
    store.link_questions.publish(DIGEST, b"{}", ANN)
    assert store.link_questions.withdraw(DIGEST, BEN, is_admin=True)

    assert store.link_questions.all() == []
    assert [entry.who for entry in store.journal.latest(10) if entry.what == LINK_WITHDRAWN] == [BEN, ANN]


def test_question_of_two_stays_for_the_other(store: Storage) -> None:
    """One who withdraws it does not end the study of another; an admin withdraws it for all."""
    for who in (ANN, BEN):
        store.link_questions.publish(DIGEST, b"{}", who)
    assert store.link_questions.withdraw(DIGEST, ANN, is_admin=False)
    assert store.link_questions.all() == [PublishedLink(DIGEST, (BEN,), b"{}")]
    assert store.link_questions.document(DIGEST) == b"{}"

    store.link_questions.publish(DIGEST, b"{}", ANN)
    assert store.link_questions.withdraw(DIGEST, "c" * 32, is_admin=True)
    assert store.link_questions.document(DIGEST) is None


def test_withdrawn_question_is_in_no_file(tmp_path: Path) -> None:
    store = BACK_ENDS["sqlite"](tmp_path)
    store.link_questions.publish(DIGEST, b'{"label":"sentinel"}', ANN)
    store.link_questions.withdraw(DIGEST, ANN, is_admin=False)
    store.settle()
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert (b"sentinel" in held, DIGEST.encode() in held) == (False, True)
    store.close()


def test_two_nodes_serve_what_one_of_them_published() -> None:
    url = postgres.with_tables()
    one, other = PostgresStorage(url), PostgresStorage(url)
    one.link_questions.publish(DIGEST, b"{}", ANN)
    assert other.link_questions.document(DIGEST) == b"{}"
    other.link_questions.withdraw(DIGEST, ANN, is_admin=False)
    assert one.link_questions.document(DIGEST) is None
    one.close()
    other.close()
