"""A server that is killed while it signs or stores: one signature an invitation, one report a signature."""

import os
import secrets
import signal
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest
import requests
from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.invitations.tokens import create_tokens
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.report import dump_report
from sottovoce.shared.spec import Survey

from tests.conftest import Running, processes, start
from tests.invited import blind_survey, key, prepare, request_of, signatures
from tests.surveys import ANSWERS

SOON = 0.03
"""Seconds within which a request is answered: some kills come before it, some after."""


def killed_while(running: Running, path: str, body: bytes, headers: dict[str, str]) -> None:
    """Send a request, and kill the server at a random moment of it."""

    def send() -> None:
        with suppress(requests.ConnectionError):
            requests.post(f"{running.api}/{path}", body, headers=headers, timeout=20)

    sender = threading.Thread(target=send)
    sender.start()
    time.sleep(secrets.randbelow(1000) / 1000 * SOON)
    for process in processes(running.url):
        os.kill(process, signal.SIGKILL)
    sender.join()


def report_of(asked: Survey, report_id: bytes) -> bytes:
    return dump_report(replace(randomize(asked, encode(asked, ANSWERS), Draws()), report_id=report_id.hex()), asked)


def live_on(folder: Path, lives: int) -> None:
    """Redeem and send, each killed once and then sent again; and one more try with other ids."""
    asked, keys = blind_survey(), folder / "keys"
    KeysFile(str(keys))._write({"exam": (key(0),)})
    json = {"Content-Type": "application/json"}
    with ExitStack() as stack:

        def again() -> Running:
            return stack.enter_context(start(folder / "data", asked, blind_keys_file=str(keys)))

        running = again()
        for _ in range(lives):
            (invitation,) = create_tokens(running.storage(), "exam", 1)
            prepared = prepare(asked)
            body = request_of(asked, invitation, prepared)
            killed_while(running, "redeem", body, json)
            running = again()
            (signature,) = signatures(
                prepared, requests.post(f"{running.api}/redeem", body, headers=json, timeout=20).content
            )
            other = request_of(asked, invitation, prepare(asked))
            refused = requests.post(f"{running.api}/redeem", other, headers=json, timeout=20)
            assert refused.json()["code"] == "already_redeemed"

            signed, sent = {**json, "Authorization": f"Blind {signature}"}, report_of(asked, prepared[0].report_id)
            killed_while(running, "reports", sent, signed)
            running = again()
            assert requests.post(f"{running.api}/reports", sent, headers=signed, timeout=20).status_code == 200
        assert running.reports() == lives
        first = running.storage().revisions("exam")[0].key
        assert running.storage().token_counts(first) == (lives, lives, 0, 0, 0, None)


def test_killed_server_signs_and_stores_once(tmp_path: Path) -> None:
    live_on(tmp_path, 1)


@pytest.mark.slow
def test_server_killed_a_hundred_times_signs_and_stores_once(tmp_path: Path) -> None:
    live_on(tmp_path, 50)
