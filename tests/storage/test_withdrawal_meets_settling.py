"""A withdrawal that comes while reports are written anew, on PostgreSQL, from the device to the row."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from flask.testing import FlaskClient
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.postgres import storage
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.client.delivery import readable
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.link import Link
from sottovoce.client.respondent import Respondent
from sottovoce.client.terminal import earlier
from sottovoce.client.transport import TRIES, Transport
from sottovoce.shared.errors import TransportError

from tests import postgres
from tests.surveys import ANSWERS, survey
from tests.unit.client.fakes import Reply, Session

ORIGIN = "https://a.example"


class Door(Session):
    """A session that reaches the application itself."""

    def __init__(self, client: FlaskClient) -> None:
        super().__init__()
        self._client = client

    def request(self, method: str, url: str, **options: Any) -> Reply:
        self.requests.append((method, url, options))
        body = options.get("data")
        reply = self._client.open(
            url.removeprefix(ORIGIN),
            method=method,
            data=body,
            headers=options.get("headers"),
            environ_overrides={"CONTENT_LENGTH": str(len(body or b""))},
        )
        return Reply(reply.status_code, reply.data, dict(reply.headers))


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty database, where who withdraws waits for a moment only."""
    monkeypatch.setattr(storage, "_WITHDRAW", ("SET LOCAL lock_timeout = '50ms'", *storage._WITHDRAW[1:]))
    return postgres.with_tables()


@pytest.fixture
def store(url: str) -> Iterator[PostgresStorage]:
    with closing(PostgresStorage(url)) as node:
        node.publish(survey())
        yield node


@pytest.fixture
def door(store: PostgresStorage) -> Iterator[Door]:
    app = create_app(Settings(), store, now, {})
    yield Door(app.test_client())
    app.extensions["group_commit"].end()


def answered(store: PostgresStorage, door: Door, ledger: FileLedger) -> None:
    """Somebody's report arrives, and has settled."""
    Respondent(survey(), Transport(ORIGIN, door), ledger).answer(ANSWERS)
    store.scrub()


def ended(ledger: FileLedger) -> list[str]:
    """What became of each report that the device knows."""
    return [record.entry.ended for record in readable(ledger)[0]]


def withdraw(ledger: FileLedger, door: Door, sleep: Callable[[float], None], patch: pytest.MonkeyPatch) -> list[Any]:
    patch.setattr(earlier, "notifying_transport", lambda origin: Transport(origin, door, sleep))
    link = Link(ORIGIN, "exam", survey().digest[:32], "", 0)
    return list(earlier.withdraw(ledger, link, earlier.reports_to_withdraw(ledger, link)))


def test_withdrawal_waits_until_reports_are_written(
    store: PostgresStorage, url: str, door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused for a while, tried again by itself, and then done; in between nothing of it was."""
    ledger = FileLedger(tmp_path)
    answered(store, door, ledger)
    waited = []
    with psycopg.connect(url) as writer:
        writer.execute("LOCK TABLE settled IN SHARE ROW EXCLUSIVE MODE")

        def sleep(seconds: float) -> None:
            waited.append(seconds)
            assert (store.surveys()[0].reports, wrong_counts(store)) == (1, [])
            if len(waited) == 2:
                writer.rollback()

        assert [one["state"] for one in withdraw(ledger, door, sleep, monkeypatch)] == ["withdrawn"]
    assert len(waited) == 2
    assert (store.surveys()[0].reports, wrong_counts(store)) == (0, [])
    assert ended(ledger) == ["withdrawn"]


def test_withdrawal_that_waits_for_too_long_stays_the_persons_to_repeat(
    store: PostgresStorage, url: str, door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = FileLedger(tmp_path)
    answered(store, door, ledger)
    with psycopg.connect(url) as writer:
        writer.execute("LOCK TABLE settled IN SHARE ROW EXCLUSIVE MODE")
        with pytest.raises(TransportError, match=r"may still count\. They are kept on this device") as refused:
            withdraw(ledger, door, lambda _: None, monkeypatch)
    assert (refused.value.status, refused.value.reason) == (503, "storage")
    assert sum(address.endswith("/withdraw") for _, address, _ in door.requests) == TRIES
    assert (store.surveys()[0].reports, wrong_counts(store)) == (1, [])
    assert ended(ledger) == [""]
    assert [one["state"] for one in withdraw(ledger, door, lambda _: None, monkeypatch)] == ["withdrawn"]
    assert (store.surveys()[0].reports, wrong_counts(store)) == (0, [])
