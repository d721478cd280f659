"""kill -9 while Publish is pressed: a survey is published as a whole or not at all; until it is, its draft is there."""

import re
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
import requests
from sottovoce.aggregator.accounts.authentication import new_key
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.lifecycle import survey_of

from tests.journey.test_kill import Server
from tests.surveys import document

SAME = {"Sec-Fetch-Site": "same-origin"}
MOMENT = 0.0037
"""Seconds: about a tenth of what publishing takes."""


class Researcher:
    """Somebody whose session outlives the server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._session = requests.Session()
        token, digest = new_key()
        storage = server.storage()
        storage.add_researcher("ann", digest)
        storage.close()
        self._session.post(f"{server.url}/dashboard/login", data={"token": token}, headers=SAME, timeout=30)
        page = self._session.get(f"{server.url}/dashboard/", timeout=30).text
        found = re.search(r'name="form_token" value="(\w+)"', page)
        assert found
        self._form = {"form_token": found[1], "version": "1"}

    def publish(self, name: str) -> int:
        address = f"{self.server.url}/dashboard/surveys/{name}/publish"
        reply = self._session.post(address, data=self._form, headers=SAME, timeout=30, allow_redirects=False)
        return reply.status_code

    def publish_and_be_cut_off(self, name: str, seconds: float) -> None:
        """Press the button; so many seconds later the server and all that belongs to it is killed."""

        def press() -> None:
            with suppress(requests.RequestException):
                self.publish(name)

        pressed = threading.Thread(target=press)
        pressed.start()
        time.sleep(seconds)
        self.server.kill_group()
        pressed.join()


def standing(storage: Storage, name: str) -> tuple[int, bool]:
    """Of a survey: how many revisions there are, each whole, and whether its draft is there."""
    rows = storage.revisions(name)
    about = [line.about for line in storage.record() if line.what == "published" and line.about.startswith(f"{name} ")]
    assert [f"{name} {row.revision} {row.digest}" for row in rows] == about
    assert all(survey_of(row.document).digest == row.digest for row in rows)
    return len(rows), storage.drafts.draft(name) is not None


def kill_while_publishing(folder: Path, times: int) -> set[tuple[int, bool]]:
    """Each time at another moment; what was found. Whatever was cut short is finished by pressing the button again."""
    server, found, cut_short = Server(folder / "data"), set(), ""
    ann = Researcher(server)
    for number in range(times):
        if number:
            server.start()
        if cut_short:
            assert ann.publish(cut_short) == 303
        name = f"survey-{number}"
        storage = server.storage()
        storage.drafts.add(name, draft_of(document(name=name)).dumped)
        if cut_short:
            assert standing(storage, cut_short) == (1, False)
        storage.close()
        ann.publish_and_be_cut_off(name, MOMENT * (7 * number % 20))

        storage = server.storage()
        left = standing(storage, name)
        storage.close()
        assert left in {(0, True), (1, True), (1, False)}
        found.add(left)
        cut_short = name if left[1] else ""
    return found


def test_two_kills_leave_each_survey_published_or_its_draft(tmp_path: Path) -> None:
    assert kill_while_publishing(tmp_path, 2)


@pytest.mark.slow
def test_twenty_kills_leave_each_survey_published_or_its_draft(tmp_path: Path) -> None:
    """From before anything is written to after all is."""
    assert kill_while_publishing(tmp_path, 20) >= {(0, True), (1, False)}
