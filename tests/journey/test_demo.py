"""The demonstration, as a stranger runs it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import requests
from sottovoce.aggregator.estimators.support import estimate_share
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.demo.run import MOST_ERRORS, demo_answers, demo_survey, distance
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.spec import Question

from tests.journey.test_own_survey import invoke, sottovoce
from tests.recount import recount
from tests.unit.shared.test_schema import validator


def test_demo_finds_the_truth_of_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tenth of its people; what is no terminal, and shows no bar, gets a line a second from the start."""
    people = demo_answers()[::10]
    monkeypatch.setattr("sottovoce.cli.demo.run.demo_answers", lambda: people)
    done = invoke(tmp_path, "demo", "--exit", "--folder", "data", "--export", "export.json")
    exported = json.loads((tmp_path / "export.json").read_text())

    assert done.returncode == 0, done.stderr
    validator("export").validate(exported)
    assert (exported["reports"], exported["closed"]) == (len(people), True)
    again = invoke(tmp_path, "demo", "--exit", "--folder", "data")
    assert (again.returncode, "choose another" in again.stderr) == (1, True)
    assert done.stderr.startswith("Starting a server")
    assert f"0 of {len(people)} people have answered" in done.stderr


def test_demo_can_be_watched_before_everybody_has_answered(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sottovoce.cli", "demo", "--folder", "data"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            begun, watch = process.stderr.readline(), process.stderr.readline()
            with requests.Session() as browser:
                opened = browser.get(watch.split()[-1], headers={"Sec-Fetch-Site": "none"})
                results = browser.get(f"{opened.url}surveys/marriage/results")
        finally:
            process.terminate()
            told = process.communicate()[1]

    assert begun.startswith("Starting a server")
    assert watch.startswith("Watch it fill, signed in, once: http://127.0.0.1:")
    assert "Marriage and faithfulness" in opened.text
    assert (results.status_code, "Marriage and faithfulness" in results.text) == (200, True)
    assert "6,366 randomized reports" not in told


@pytest.mark.slow
def test_demo_sends_every_row_and_finds_the_truth(tmp_path: Path) -> None:
    ended = sottovoce(tmp_path, "demo", "--exit", "--folder", "data", "--export", "export.json")
    exported = json.loads((tmp_path / "export.json").read_text())
    storage = SQLiteStorage(tmp_path / "data" / "sottovoce.sqlite")
    stored = storage.surveys()[0]

    assert ended.returncode == 0, ended.stderr
    validator("export").validate(exported)
    assert (exported["reports"], exported["closed"]) == (6366, True)
    assert storage.live_counts(stored.key) == recount(storage, stored)
    storage.close()


def test_demo_would_notice_swapped_labels() -> None:
    coin = demo_survey().questions[0].mechanism
    assert isinstance(coin, BinaryRR)
    truth = sum(person["affair_coin"] == "yes" for person in demo_answers()) / 6366
    right, swapped = (
        estimate_share("yes", round(6366 * (0.25 + 0.5 * share)), 6366, coin.a, coin.b) for share in (truth, 1 - truth)
    )

    assert distance(right, truth) < 0.1
    assert distance(swapped, truth) > MOST_ERRORS


def test_demo_answers_fit_the_survey() -> None:
    questions: dict[str, Question] = {question.name: question for question in demo_survey().questions}
    people = demo_answers()

    assert len(people) == 6366
    assert sum(person["affair_coin"] == "yes" for person in people) == 2053
    for person in people:
        assert set(person) == set(questions)
        for name, answer in person.items():
            questions[name].encode(answer)
