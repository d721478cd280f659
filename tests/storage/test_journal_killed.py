"""A process that acts and is killed at any moment leaves no act without its entry, and no entry without its act."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.connect import open_url

from tests import postgres

ACTS = """
import sys
from pathlib import Path
from sottovoce.aggregator.storage.connect import open_url
from tests.surveys import survey
storage = open_url(sys.argv[1], Path(sys.argv[2]))
key = storage.publish(survey(access="token")).key
print(flush=True)
number = storage.token_counts(key).created
while True:
    storage.add_tokens(key, [(number + 1).to_bytes(32)])
    number += 1
    storage.close_survey("exam", 20_000)
    storage.reopen_survey("exam")
"""
ADDRESSES: dict[str, Callable[[], str]] = {"sqlite": lambda: "", "postgres": postgres.fresh}


def check(storage: Storage) -> int:
    """Hold the entries against what is there; returns how many there are."""
    entries = list(storage.journal.entries())
    assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
    assert storage.verify() == []
    kinds = [entry.what for entry in entries]
    assert kinds.count(words.TOKENS_MADE) == storage.token_counts(1).created == storage.token_counts(1).unspent
    # The record is written by the same steps, in lines of its own.
    steps = [line.what for line in storage.record()]
    for entry, line in ((words.PUBLISHED, "published"), (words.CLOSED, "closed"), (words.REOPENED, "reopened")):
        assert kinds.count(entry) == steps.count(line)
    assert storage.surveys()[0].closed == (kinds.count(words.CLOSED) > kinds.count(words.REOPENED))
    return len(entries)


def kill_again_and_again(url: str, folder: Path, times: int) -> None:
    """Each time at another moment of its work."""
    found = 0
    for number in range(times):
        process = subprocess.Popen([sys.executable, "-c", ACTS, url, str(folder)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.05 + 0.0137 * (number % 17))
        process.kill()
        process.wait()
        process.stdout.close()
        storage = open_url(url, folder)
        last, found = found, check(storage)
        storage.close()
        # On a busy machine a process may be killed before its first act.
        assert found >= last
    assert found > times


def test_five_kills_leave_every_act_with_its_entry(tmp_path: Path) -> None:
    """And every entry with its act."""
    kill_again_and_again("", tmp_path, 5)


@pytest.mark.slow
@pytest.mark.parametrize("back_end", ADDRESSES)
def test_fifty_kills_leave_every_act_with_its_entry(tmp_path: Path, back_end: str) -> None:
    """On both back ends; no gap in the numbers."""
    kill_again_and_again(ADDRESSES[back_end](), tmp_path, 50)
