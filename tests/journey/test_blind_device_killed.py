"""A device that is killed between ledger, redemption and report: one report for an invitation, none lost."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.invitations.tokens import create_tokens
from sottovoce.aggregator.storage.connect import open_url

from tests import postgres
from tests.conftest import Running, start
from tests.invited import blind_survey, key
from tests.killed_device import STEPS
from tests.surveys import ANSWERS

LAST = 40
"""No visit has so many steps."""

DATABASES = {"sqlite": lambda: "", "postgresql": postgres.fresh}


def visit(running: Running, invitation: str, home: Path, last: int) -> int:
    """One visit in the terminal, killed before its step of this number; how the program ended."""
    home.mkdir(exist_ok=True)
    answers = home / "answers.json"
    answers.write_text(json.dumps(ANSWERS), encoding="utf-8")
    link = f"{running.link}&t={invitation}"
    command = [
        sys.executable,
        "-m",
        "tests.killed_device",
        str(last),
        "respond",
        link,
        "--answers",
        str(answers),
        "--yes",
    ]
    environment = {**os.environ, "HOME": str(home), "SOTTOVOCE_LEDGER": str(home / "ledger")}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode in {0, -signal.SIGKILL}, run.stderr
    return run.returncode


@pytest.mark.slow
@pytest.mark.parametrize("back_end", DATABASES)
def test_device_killed_fifty_times_sends_one_report_for_an_invitation(tmp_path: Path, back_end: str) -> None:
    """Before each of its steps in turn: on the disk, and beside each request; twice, then in peace."""
    asked, keys = blind_survey(), tmp_path / "keys"
    KeysFile(str(keys))._write({"exam": (key(0),)})
    url = DATABASES[back_end]()
    settings = {"database": url} if url else {}
    if url:
        with_postgres = open_url(url, tmp_path)
        with_postgres.publish(asked)
        with_postgres.close()
    with start(tmp_path / "data", asked, blind_keys_file=str(keys), **settings) as running:
        storage = open_url(url, tmp_path) if url else running.storage()
        kills = people = step = 0
        steps = set()
        while kills < 50:
            (invitation,) = create_tokens(storage, "exam", 1)
            home = tmp_path / f"person{people}"
            ended = [visit(running, invitation, home, each) for each in (step, step // 2, LAST)]
            steps |= {step} if ended[0] else set()
            kills += sum(map(bool, ended))
            people += 1
            # Where the visit was over before that, from the beginning again.
            step = step + 1 if ended[0] else 0
            assert ended[2] == 0
        first = storage.revisions("exam")[0]
        assert storage.revisions("exam")[-1].reports == people
        assert storage.token_counts(first.key) == (people, people, 0, 0, 0, None)
        storage.close()
    assert len(steps) > 2 * len(STEPS)
