"""Whoever tries keys, at however many addresses, keeps nobody else from signing in."""

import http.client
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest
import requests

from tests.conftest import Running, start
from tests.surveys import survey

THREADS = 4


class Guessers:
    """Threads that try ``count`` wrong keys, each from another network; in ``seconds``, or as slowly as it answers."""

    def __init__(self, url: str, count: int, seconds: float) -> None:
        self.replies: Counter[int] = Counter()
        self._address = url.removeprefix("http://")
        self._wait = seconds * THREADS / count
        self._threads = [threading.Thread(target=self._guess, args=(count // THREADS,)) for _ in range(THREADS)]
        for thread in self._threads:
            thread.start()

    def busy(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def _guess(self, count: int) -> None:
        connection = http.client.HTTPConnection(self._address, timeout=60)
        began = time.monotonic()
        for number in range(count):
            address = ".".join(str(byte % 200 + 1) for byte in secrets.token_bytes(4))
            headers = {"X-Forwarded-For": address, "Content-Type": "application/x-www-form-urlencoded",
                       "Sec-Fetch-Site": "same-origin"}  # fmt: skip
            body = f"token=sottovoce-key-{secrets.token_urlsafe(24)}"
            connection.request("POST", "/dashboard/login", body, headers)
            reply = connection.getresponse()
            reply.read()
            self.replies[reply.status] += 1
            time.sleep(max(0.0, began + number * self._wait - time.monotonic()))
        connection.close()


def sign_in(running: Running) -> float:
    """Somebody signs in with a good key, from a network of her own; the seconds that it took."""
    began = time.monotonic()
    browser = requests.Session()
    reply = browser.post(f"{running.url}/dashboard/login", data={"token": running.token}, timeout=60,
                         headers={"Sec-Fetch-Site": "same-origin", "X-Forwarded-For": "203.0.113.7"})  # fmt: skip
    assert (reply.status_code, "sottovoce" in browser.cookies) == (200, True)
    return time.monotonic() - began


Note = Callable[[str, object], None]
"""Where a figure goes: into the record of the run (`--junitxml`, `-o junit_family=xunit1`)."""


def others_sign_in(folder: Path, count: int, seconds: float, note: Note) -> None:
    """Guess so many keys in so many seconds; meanwhile every sign-in with a good one succeeds."""
    with start(folder, survey(), proxy_hops=1) as running:
        sign_in(running)
        began = time.monotonic()
        guessers = Guessers(running.url, count, seconds)
        took = []
        while guessers.busy():
            took.append(sign_in(running))
            time.sleep(seconds / 60)
        note("wrong keys a minute", round(60 * count / (time.monotonic() - began)))
        note("seconds to sign in: median, largest, how many", (median(took), max(took), len(took)))
    assert guessers.replies.total() == count // THREADS * THREADS
    assert set(guessers.replies) <= {401, 403, 429}
    assert guessers.replies[401] + guessers.replies[403] > 0
    assert len(took) > 2


def test_others_sign_in_while_many_wrong_keys_come(tmp_path: Path, record_testsuite_property: Note) -> None:
    others_sign_in(tmp_path, 200, 2, record_testsuite_property)


@pytest.mark.slow
def test_others_sign_in_while_ten_thousand_wrong_keys_come(tmp_path: Path, record_testsuite_property: Note) -> None:
    others_sign_in(tmp_path, 10_000, 60, record_testsuite_property)
