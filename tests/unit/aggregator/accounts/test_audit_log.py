"""What the application tells the journal: who reads which snapshot, and how many sign-ins were refused."""

import importlib
import re
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sottovoce.aggregator.accounts.audit_log import ReadResults, RefusedLogins
from sottovoce.aggregator.accounts.authentication import new_key
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import day_of
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.commands import run as command
from tests.conftest import FakeClock
from tests.storage.test_contract import arrival
from tests.surveys import survey

SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def browser(storage: SQLiteStorage, clock: FakeClock) -> FlaskClient:
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


def test_results_are_noted_once_for_each_survey_and_day(
    browser: FlaskClient, storage: SQLiteStorage, clock: FakeClock
) -> None:
    for _ in range(3):
        assert browser.get("/dashboard/surveys/exam/results").status_code == 200
        assert browser.get("/api/v1/surveys/exam/estimates").status_code == 200
    storage.store([arrival(1, number) for number in range(25)])
    browser.get("/dashboard/surveys/exam/results")
    (ann,) = storage.access.accounts()
    ReadResults(storage).note(ann.id.hex(), "exam", "1", day_of(clock.moment))
    assert told(storage, words.RESULTS_READ) == [("ann", "exam 0")]
    ReadResults(storage).note(ann.id.hex(), "exam-2", "1", day_of(clock.moment))

    assert told(storage, words.RESULTS_READ) == [("ann", "exam 0"), ("ann", "exam-2 1")]


def test_noted_snapshot_costs_nothing_that_day(storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database is not asked; on the next day it is."""
    read, asked = ReadResults(storage), []
    monkeypatch.setattr(type(storage.journal), "append_once", lambda _, *about, **_same: asked.append(about))
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

    assert told(storage, words.REFUSED) == [(words.NO_ACTOR, "2026-06-01 5 3")]


def test_file_is_noted_once_a_day_and_holds_the_head_with_its_own_entry(
    browser: FlaskClient, storage: SQLiteStorage
) -> None:
    """By a program or from the page; what was noted is 304 to whoever has it."""
    pages = ("/api/v1/surveys/exam/export", "/dashboard/surveys/exam/results/export.json")
    replies = [browser.get(path) for path in pages for _ in range(2)]
    known = browser.get(pages[0], headers={"If-None-Match": replies[0].headers["ETag"]})

    assert told(storage, words.EXPORTED) == [("ann", "exam export.json")]
    assert {reply.json["journal"] for reply in replies} == {str(storage.journal.head())}
    assert "journal" not in browser.get("/api/v1/surveys/exam/estimates").json
    assert known.status_code == 304


def test_wrong_keys_links_and_invitations_are_refused_sign_ins(browser: FlaskClient, storage: SQLiteStorage,
                                                               clock: FakeClock) -> None:  # fmt: skip
    """Of programs too, and counted for the alert; a request without a key tries none. Nothing is written at once."""
    before, key = storage.journal.head(), {"Authorization": "Bearer sottovoce-key-of-another-instance"}
    assert browser.get("/api/v1/surveys", headers=key).status_code == 401
    for path in ("sign-in?link=x", "invitation?link=x"):
        assert browser.post(f"/dashboard/{path}", data={"name": "Eve"}, headers=SAME_ORIGIN).status_code == 401
    alone = browser.application.test_client()
    assert alone.get("/api/v1/surveys").status_code == 401
    assert storage.journal.head() == before
    found = browser.application.extensions
    found["refused_logins"].write(int((clock.moment + timedelta(days=1)).timestamp()))

    assert told(storage, words.REFUSED) == [(words.NO_ACTOR, "2026-06-01 3 3")]
    assert found["admission"].rejected["unauthorized"] == 3


def test_key_of_another_aggregator_is_refused(browser: FlaskClient, tmp_path: Path, clock: FakeClock) -> None:
    there = SQLiteStorage(tmp_path / "other.sqlite")
    key, digest = new_key()
    there.add_researcher("ann", digest)
    other = create_app(Settings(), there, clock, {}).test_client()
    for door, status in ((other, 200), (browser, 401)):
        reply = door.get("/api/v1/surveys", headers={"Authorization": f"Bearer {key}"})
        assert (reply.status_code, key in reply.text) == (status, False)
    reply = browser.post("/dashboard/login", data={"token": key}, headers=SAME_ORIGIN)
    assert (reply.status_code, key in reply.text, "is unknown" in reply.text) == (401, False, True)
    other.application.extensions["group_commit"].end()
    there.close()


def test_every_kind_of_entry_is_written_somewhere() -> None:
    """The closed list has no word for what nobody notes."""
    written = {
        name
        for folder in ("aggregator", "cli", "demo")
        for path in Path(importlib.import_module(f"sottovoce.{folder}").__file__ or "").parent.rglob("*.py")
        if path.parts[-2:] != ("audit_log", "events.py")
        for name in re.findall(r"\b[A-Z_]{3,}\b", path.read_text(encoding="utf-8"))
    }
    named = {name for name, value in vars(words).items() if isinstance(value, str) and value in words.WHAT}

    assert len(named) == len(words.WHAT)
    assert named <= written


def test_verbs_show_check_and_write_out_the_journal(tmp_path: Path) -> None:
    storage = SQLiteStorage(tmp_path / "sottovoce.sqlite")
    storage.publish(survey(), who=words.MACHINE)
    account = storage.access.by(words.MACHINE).add_owner("Ann")
    storage.close_survey("exam", 20_000, account.id.hex())
    noted = storage.journal.head()

    def run(*arguments: str) -> tuple[int, str]:
        result = command("db", "journal", *arguments, "--data", tmp_path)
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
    with storage.write() as db:
        db.execute("UPDATE journal SET who = '' WHERE number = 1")
    storage.close()
    assert run("verify")[0] == 1
