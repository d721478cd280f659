"""What the application tells the journal: who reads which snapshot, and how many sign-ins were refused."""

from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from sottovoce.aggregator.access.journal import ReadResults, RefusedLogins
from sottovoce.aggregator.access.keys import new_key
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import journal_words as words
from sottovoce.aggregator.storage.sqlite import SQLiteStorage
from sottovoce.cli.main import main

from tests.conftest import FakeClock
from tests.storage.test_contract import arrival
from tests.surveys import survey

SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def browser(storage: SQLiteStorage, clock: FakeClock) -> FlaskClient:
    """Ann's, signed in with her key, on a database with one survey."""
    storage.publish(survey())
    client = create_app(Settings(public_url="http://localhost"), storage, clock, {}).test_client()
    key, digest = new_key()
    storage.add_researcher("ann", digest, words.MACHINE)
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {key}"
    assert client.post("/dashboard/login", data={"token": key}, headers=SAME_ORIGIN).status_code == 302
    return client


def told(storage: SQLiteStorage, *kinds: str) -> list[tuple[str, str]]:
    """Whose entries of some kinds there are, and about what; ann's are hers."""
    ids = {account.id.hex(): account.name for account in storage.access.accounts()}
    return [(ids.get(one.who, one.who), one.about) for one in storage.journal.entries() if one.what in kinds]


def test_results_are_noted_once_for_each_snapshot(browser: FlaskClient, storage: SQLiteStorage) -> None:
    """However often page and file are asked for; what is not shown yet makes no new entry."""
    for _ in range(3):
        assert browser.get("/dashboard/surveys/exam/results").status_code == 200
        assert browser.get("/api/v1/surveys/exam/estimates").status_code == 200
    storage.store([arrival(1, number) for number in range(24)])
    browser.get("/dashboard/surveys/exam/results")
    assert told(storage, words.RESULTS_READ) == [("ann", "exam 0")]
    storage.store([arrival(1, 24)])
    browser.get("/dashboard/surveys/exam/results")
    storage.close_survey("exam", 20_000)
    browser.get("/dashboard/surveys/exam/results")

    assert told(storage, words.RESULTS_READ) == [("ann", "exam 0"), ("ann", "exam 1"), ("ann", "exam closed")]


def test_noted_snapshot_costs_nothing_that_day(storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database is not asked; on the next day it is."""
    read, asked = ReadResults(storage), []
    monkeypatch.setattr(type(storage.journal), "append_once", lambda _, *about: asked.append(about))
    for today in (1, 1, 1, 2):
        read.note("a" * 32, "exam", "3", today)

    assert len(asked) == 2


def test_signing_in_and_what_is_done_then_is_noted_with_who(browser: FlaskClient, storage: SQLiteStorage) -> None:
    """The first key was the machine's administrator's doing."""
    assert browser.post("/api/v1/surveys/exam/close", environ_overrides={"CONTENT_LENGTH": "0"}).status_code == 200
    assert told(storage, words.LOGIN, words.CLOSED) == [("ann", "key"), ("ann", "exam")]
    assert [who for who, _ in told(storage, words.ACCOUNT_ADDED, words.GRANTED, words.KEY_MADE)] == [words.MACHINE] * 3
    assert storage.verify() == []


def test_refused_sign_ins_are_one_line_of_the_day_that_is_over(browser: FlaskClient, storage: SQLiteStorage,
                                                               clock: FakeClock) -> None:  # fmt: skip
    """Their number, and the largest in one minute; no name, and nothing at the refusal itself."""
    refused: RefusedLogins = browser.application.extensions["refused_logins"]
    before = storage.journal.head()
    for seconds in (0, 0, 59, 1, 0):
        clock.moment += timedelta(seconds=seconds)
        assert browser.post("/dashboard/login", data={"token": "wrong"}, headers=SAME_ORIGIN).status_code == 401
    assert storage.journal.head() == before
    refused.write(int(clock.moment.timestamp()))
    assert storage.journal.head() == before
    for days in (1, 1):
        refused.write(int((clock.moment + timedelta(days=days)).timestamp()))

    assert told(storage, words.REFUSED) == [(words.NOBODY, "2026-06-01 5 3")]


def test_verbs_show_check_and_write_out_the_journal(tmp_path: Path) -> None:
    """People read names and days; a head that was noted is known, a changed entry is found."""
    storage = SQLiteStorage(tmp_path / "sottovoce.sqlite")
    storage.publish(survey(), who=words.MACHINE)
    account = storage.access.by(words.MACHINE).add_owner("Ann")
    storage.close_survey("exam", 20_000, account.id.hex())
    noted = storage.journal.head()

    def run(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, ["journal", *arguments, "--data", str(tmp_path)])
        return result.exit_code, result.output

    shown = run("show", "--survey", "exam")[1].splitlines()
    assert "the machine's administrator: survey published exam 1" in shown[0]
    assert shown[-1].endswith("Ann: survey closed exam")
    assert any(line.endswith("role granted * owner Ann") for line in shown)
    assert run("show", "--until", "2020-01-01") == (0, "")
    assert run("verify", "--head", str(noted))[0] == 0
    assert run("verify", "--head", f"2:{'0' * 64}")[0] == 1
    lines = run("export")[1].splitlines()
    assert len(lines) == noted.number + 1
    assert noted.hash.hex() in lines[-1]
    with storage._write() as db:
        db.execute("UPDATE journal SET who = '' WHERE number = 1")
    storage.close()
    assert run("verify")[0] == 1
