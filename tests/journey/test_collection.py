"""Batches, withdrawals and retention over HTTP, against the real server."""

import json

import pytest
import requests
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.report import dump_report
from sottovoce.shared.spec import Survey

from tests.conftest import Running, SharedServer
from tests.journey.test_hostile_http import JSON, check_problem
from tests.recount import recount
from tests.surveys import ANSWERS, survey

SMALL = survey()


@pytest.fixture(scope="module")
def server(shared_server: SharedServer) -> Running:
    return shared_server.publish(survey())


def reports(count: int, asked: Survey = SMALL) -> list[bytes]:
    """Honest reports, as their canonical bytes."""
    return [dump_report(randomize(asked, encode(asked, ANSWERS), Draws()), asked) for _ in range(count)]


def send(server: Running, path: str, body: bytes) -> requests.Response:
    return requests.post(f"{server.api}/{path}", data=body, headers=JSON, timeout=30)


def batch(bodies: list[bytes]) -> bytes:
    items = b",".join(b'{"report":' + body.rstrip() + b"}" for body in bodies)
    return b'{"format":"sottovoce-batch/1","items":[' + items + b"]}"


def withdrawal(body: bytes) -> bytes:
    return json.dumps({"report_id": json.loads(body)["report_id"]}, separators=(",", ":")).encode()


def test_batch_of_a_thousand_is_stored_once_and_counted(server: Running) -> None:
    before, bodies = server.reports(), reports(1000, server.survey)
    first, second = (send(server, "reports/batch", batch(bodies)) for _ in range(2))

    assert first.status_code == second.status_code == 200
    assert first.content == second.content
    assert send(server, "reports", bodies[7]).json() == first.json()["items"][7]
    assert server.reports() == before + 1000
    storage = server.storage()
    (stored,) = storage.revisions(server.survey.name)
    assert storage.live_counts(stored.key) == recount(storage, stored)
    storage.close()


def test_batch_has_limits_of_its_own(server: Running) -> None:
    check_problem(send(server, "reports/batch", batch(reports(1, server.survey) * 1001)), 400, "malformed")
    check_problem(send(server, "reports/batch", b" " * (512 * 1024 + 1)), 413, "too_large")
    check_problem(send(server, "withdraw", b" " * (64 * 1024 + 1)), 413, "too_large")
    check_problem(send(server, "reports/batch", b" " * (512 * 1024)), 400, "malformed")


def test_withdrawn_report_is_gone_for_good(server: Running) -> None:
    (body,) = reports(1, server.survey)
    send(server, "reports", body)
    before = server.reports()
    first, second = (send(server, "withdraw", withdrawal(body)) for _ in range(2))

    assert (first.status_code, first.content) == (200, second.content)
    assert server.reports() == before - 1
    check_problem(send(server, "reports", body), 410, "withdrawn")
    check_problem(send(server, "withdraw", withdrawal(reports(1)[0])), 404, "not_found")


def test_withdraw_and_batch_answer_any_origin(server: Running) -> None:
    """A saved page may take a report back."""
    for path in ("withdraw", "reports/batch"):
        reply = requests.options(f"{server.api}/{path}", headers={"Origin": "null"}, timeout=15)
        assert reply.headers["Access-Control-Allow-Origin"] == "*"
