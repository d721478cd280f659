"""The device's half and the aggregator's half of blind links, put together."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flask.testing import FlaskClient
from requests.cookies import RequestsCookieJar
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.invitations.tokens import create_tokens
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import Ledger, MemoryLedger
from sottovoce.client.respondent import Respondent
from sottovoce.client.transport import Transport
from sottovoce.shared.errors import NotYet, TransportError
from sottovoce.shared.spec import Survey

from tests.conftest import FakeClock
from tests.invited import blind_survey, key
from tests.surveys import ANSWERS

ORIGIN = "https://a.example"


class Session:
    """A ``requests`` session to an application in this process."""

    def __init__(self, client: FlaskClient) -> None:
        self.headers: dict[str, str] = {}
        self.auth: Any = None
        self.cookies = RequestsCookieJar()
        self._client = client

    def request(self, method: str, url: str, *, headers: Mapping[str, str], **options: Any) -> Any:
        body = options.get("data") or b""
        reply = self._client.open(
            url.removeprefix(ORIGIN), method=method, data=body, headers=[*self.headers.items(), *headers.items()],
            environ_overrides={"CONTENT_LENGTH": str(len(body))},
        )  # fmt: skip
        parts = iter([reply.data])
        return SimpleNamespace(
            status_code=reply.status_code, headers=reply.headers, iter_content=lambda _: parts, close=lambda: None
        )

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
def asked() -> Survey:
    """One wave, whose reports wait."""
    return blind_survey(privacy={"send_within_hours": 1})


@pytest.fixture
def client(storage: SQLiteStorage, clock: FakeClock, tmp_path: Path, asked: Survey) -> FlaskClient:
    KeysFile(str(tmp_path / "keys"))._write({"exam": (key(0),)})
    storage.publish(asked)
    return create_app(Settings(blind_keys_file=str(tmp_path / "keys")), storage, clock, {}).test_client()


def person(client: FlaskClient, asked: Survey, invitation: str, ledger: Ledger, moment: datetime) -> Respondent:
    connect: Any = lambda: Session(client)  # noqa: E731
    transport = Transport(ORIGIN, connect(), lambda _: None, fresh=connect)
    return Respondent(asked, transport, ledger, token=invitation, clock=lambda: moment)


def test_invitation_becomes_one_report_that_nobody_asked_a_name_for(
    storage: SQLiteStorage, client: FlaskClient, asked: Survey, tmp_path: Path
) -> None:
    """Redeemed, recorded, sent at its moment and not before, taken back; a second device is told that it was used."""
    (invitation, *_) = (token[:16] for token in create_tokens(storage, "exam", 1))
    ledger, moment = FileLedger(tmp_path / "ledger"), datetime.now(UTC)
    me = person(client, asked, invitation, ledger, moment)
    with pytest.raises(NotYet) as waits:
        me.answer(ANSWERS)
    later = datetime.fromtimestamp(waits.value.send_at, UTC)
    with pytest.raises(TransportError, match="used before"):
        person(client, asked, invitation, MemoryLedger(), moment).answer(ANSWERS)
    receipt = person(client, asked, invitation, ledger, later).send()

    assert person(client, asked, invitation, ledger, later).receipt == receipt
    person(client, asked, invitation, ledger, later).withdraw()
    assert ledger.spent(ORIGIN) == asked.epsilon


def test_signature_of_another_id_is_refused(storage: SQLiteStorage, client: FlaskClient, asked: Survey) -> None:
    first, second = (token[:16] for token in create_tokens(storage, "exam", 2))
    moment = datetime.now(UTC)
    people = [person(client, asked, invitation, MemoryLedger(), moment) for invitation in (first, second)]
    for each in people:
        each.record(ANSWERS)
    entries = [each.ledger.get(each._key) for each in people]
    assert entries[0] is not None and entries[1] is not None  # noqa: PT018
    with pytest.raises(TransportError) as refused:
        people[0]._transport.submit_signed("exam", entries[0].body.encode(), entries[1].signature)
    assert refused.value.reason == "token_invalid"
