"""A database as a whole: saved, taken back, copied, looked through; whatever goes wrong, nothing half of it stays."""

import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from click.testing import Result
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.audit_log import events
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.aggregator.surveys.housekeeping import first_due, purge_due
from sottovoce.cli.process import free_port
from sottovoce.shared.spec import Survey

from tests import postgres
from tests.commands import done, run as command
from tests.exported import published
from tests.pretended_provider import pretended_provider
from tests.storage.test_contract import arrival, identity, plan
from tests.surveys import survey

pytestmark = pytest.mark.external


def run(*words: str, **environment: str) -> Result:
    settings = {f"SOTTOVOCE_{name}": value for name, value in environment.items()}
    return command(*words, env=settings)


def fill(storage: Storage, asked: Survey | None = None, reports: int = 60) -> None:
    """Publish a survey, by default the small one, and store reports, of which one is withdrawn."""
    key = storage.publish(asked or survey()).key
    storage.store([arrival(key, number) for number in range(reports)])
    storage.withdraw(plan(key), identity(0))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    with closing(SQLiteStorage(folder / "sottovoce.sqlite")) as storage:
        fill(storage)
    return folder


@pytest.fixture
def saved(data: Path, tmp_path: Path) -> Path:
    assert run("db", "backup", str(tmp_path / "saved"), "--data", str(data)).exit_code == 0
    return tmp_path / "saved"


def ids(path: Path) -> list[bytes]:
    """Of the reports of a file, in their order there."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        return [row[0] for row in connection.execute("SELECT report_id FROM reports NOT INDEXED")]


@pytest.mark.parametrize(("closed", "held"), [(0, 59), (20, 59), (23, 59), (24, 0), (40, 0)])
def test_backup_holds_no_ids_that_fall_due_while_it_is_kept(data: Path, closed: int, held: int) -> None:
    """Of a survey that forgets 30 days after it closed, in a file for a week; the database keeps them until the day."""
    with closing(SQLiteStorage(data / "sottovoce.sqlite")) as storage:
        before = [bytes(row[1]) for row in storage.export_table("reports")]
        storage.close_survey("exam", day_of(now()) - closed)
    file = data.parent / "week"
    assert run("db", "backup", str(file), "--keep-days", "7", "--data", str(data)).exit_code == 0

    found = file.read_bytes()
    assert sum(one in found for one in before) == held
    assert len(ids(data / "sottovoce.sqlite")) == 59
    assert [path.name for path in data.parent.iterdir() if path.name.startswith("week")] == ["week"]
    assert run("db", "restore", str(file), "--data", str(data.parent / "again")).exit_code == 0
    with closing(SQLiteStorage(data.parent / "again" / "sottovoce.sqlite")) as storage:
        assert storage.surveys()[0].reports == 59


@pytest.mark.parametrize("closed", [None, 0, 20])
def test_backup_names_the_day_before_which_it_is_deleted(data: Path, closed: int | None) -> None:
    """The first on which ids are gone from the database; of an open survey, if it is closed today."""
    today = datetime.now(UTC).date() - timedelta(days=closed or 0)
    with closing(SQLiteStorage(data / "sottovoce.sqlite")) as storage:
        if closed is not None:
            storage.close_survey("exam", day_of(now()) - closed)
        due = first_due(storage, now())
        assert due == today + timedelta(days=31)
        assert purge_due(storage, datetime.combine(due - timedelta(days=1), datetime.min.time(), UTC)) == []
        told = run("db", "backup", str(data.parent / "whole"), "--data", str(data)).stderr
        if closed is not None:
            assert len(purge_due(storage, datetime.combine(due, datetime.min.time(), UTC))) == 1
    assert f"Delete it before {due}" in told
    with closing(SQLiteStorage(data / "sottovoce.sqlite")) as storage:
        storage.delete_survey("exam")
    assert run("db", "backup", str(data.parent / "none"), "--data", str(data)).stderr.endswith("Saved.\n")


@pytest.mark.parametrize(("ids_days", "code"), [(7, 0), (6, 1), (0, 1)])
def test_backup_may_not_be_kept_for_longer_than_ids_after_a_close_at_any_moment(
    tmp_path: Path, ids_days: int, code: int
) -> None:
    published(tmp_path, survey(retention={"ids_days": ids_days})).close()
    made = run("db", "backup", str(tmp_path / "week"), "--keep-days", "7", "--data", str(tmp_path))

    assert (made.exit_code, (tmp_path / "week").exists()) == (code, code == 0)
    assert (f"{ids_days} days after it closes" in made.output) == (code == 1)


def test_backup_leaves_out_a_survey_that_is_deleted_while_it_is_kept(tmp_path: Path) -> None:
    day = (now() + timedelta(days=5)).date().isoformat()
    published(tmp_path, survey(retention={"ids_days": 30, "delete_on": day})).close()
    made = run("db", "backup", str(tmp_path / "week"), "--keep-days", "7", "--data", str(tmp_path))

    assert "exam: left out" in made.output
    with closing(SQLiteStorage(tmp_path / "week")) as storage:
        assert storage.surveys() == []


def test_postgresql_is_saved_as_the_same_file(tmp_path: Path) -> None:
    """By its user's rights alone, in the order of the ids; it restores into a folder, and into an empty PostgreSQL."""
    url, again, folder = postgres.fresh(), postgres.fresh(), tmp_path / "none"
    with closing(open_url(url, tmp_path)) as storage:
        fill(storage)
        storage.link_questions.publish("d" * 64, b"{}", "machine")
    # Anew: a process publishes its counts soon after its reports, and before it ends.
    with closing(open_url(url, tmp_path)) as storage:
        surveys = storage.surveys()
    file = tmp_path / "saved"
    assert run("db", "backup", str(file), DATABASE=url, DATA=str(folder)).exit_code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert ids(file) == sorted(ids(file)) != []
    assert run("db", "restore", str(file), DATABASE=again, DATA=str(folder)).exit_code == 0
    assert run("db", "restore", str(file), DATABASE=again, DATA=str(folder)).exit_code == 1
    assert run("db", "doctor", DATABASE=again, DATA=str(folder)).exit_code == 0
    assert not folder.exists()
    assert run("db", "restore", str(file), "--data", str(folder)).exit_code == 0
    for there in (open_url(again, folder), open_url("", folder)):
        with closing(there):
            assert there.surveys() == surveys
            assert there.link_questions.document("d" * 64) == b"{}"
            assert wrong_counts(there) == []


def test_restore_goes_where_the_settings_say(saved: Path, tmp_path: Path) -> None:
    file, folder = tmp_path / "elsewhere" / "db", tmp_path / "folder"
    assert run("db", "restore", str(saved), "--data", str(folder), DATABASE=f"sqlite:///{file}").exit_code == 0
    assert run("db", "doctor", DATABASE=f"sqlite:///{file}").exit_code == 0
    assert not folder.exists()


def spoil(saved: Path, kind: str) -> None:
    if kind == "empty":
        saved.write_bytes(b"")
    elif kind == "junk":
        saved.write_bytes(b"sentinel" * 1000)
    elif kind == "cut":
        saved.write_bytes(saved.read_bytes()[: saved.stat().st_size // 2])
    elif kind == "page":
        body = bytearray(saved.read_bytes())
        body[-2048:] = bytes(2048)
        saved.write_bytes(body)
    else:
        saved.unlink()
        with closing(sqlite3.connect(saved)) as connection:
            connection.execute("CREATE TABLE contacts (name TEXT)")
            connection.execute(f"PRAGMA user_version = {3 if kind == 'numbered' else 0:d}")
            connection.commit()


@pytest.mark.parametrize("kind", ["empty", "junk", "cut", "page", "foreign", "numbered"])
def test_restore_refuses_what_is_no_whole_backup_before_it_touches_anything(saved: Path, kind: str) -> None:
    spoil(saved, kind)
    folder = saved.parent / "again"
    refused = run("db", "restore", str(saved), "--data", str(folder))

    assert (refused.exit_code, refused.output.count("Error: "), "sentinel" in refused.output) == (1, 1, False)
    assert refused.output.splitlines()[-1].startswith("Error: ")
    assert not folder.exists()
    assert not list(saved.parent.glob("saved-*"))


def test_another_programs_database_is_opened_by_no_verb(tmp_path: Path) -> None:
    (tmp_path / "saved").touch()
    spoil(tmp_path / "saved", "foreign")
    assert run("db", "doctor", DATABASE=f"sqlite:///{tmp_path}/saved").exit_code == 1
    assert run("db", "migrate", DATABASE=f"sqlite:///{tmp_path}/saved").exit_code == 1
    with closing(sqlite3.connect(tmp_path / "saved")) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("contacts",)]


def test_restore_refuses_the_log_of_another_database(saved: Path, tmp_path: Path) -> None:
    """SQLite would take it for the restored one's own."""
    folder = tmp_path / "again"
    folder.mkdir()
    (folder / "sottovoce.sqlite-wal").write_bytes(b"log")
    assert run("db", "restore", str(saved), "--data", str(folder)).exit_code == 1
    assert [path.name for path in folder.iterdir()] == ["sottovoce.sqlite-wal"]


def test_doctor_refuses_a_database_of_no_bytes(tmp_path: Path) -> None:
    """It is lost, and not new."""
    (tmp_path / "sottovoce.sqlite").touch()
    found = run("db", "doctor", "--data", str(tmp_path))
    assert (found.exit_code, "empty file" in found.output) == (1, True)
    assert (tmp_path / "sottovoce.sqlite").stat().st_size == 0


def test_doctor_names_a_file_that_others_can_read(data: Path) -> None:
    file = data / "sottovoce.sqlite"
    for mode, is_named in ((0o644, True), (0o600, False)):
        file.chmod(mode)
        found = run("db", "doctor", "--data", str(data))
        assert (found.exit_code, f"chmod 600 {file}" in found.output) == (0, is_named)


KILL = """
import os, signal, sys
from pathlib import Path
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage import copy
from sottovoce.cli import database
from sottovoce.cli.main import main
from sottovoce.shared.spec import Survey
owner, name, after = {"copied": (database.shutil, "copyfile", True), "opened": (SQLiteStorage, "__init__", True),
    "checked": (SQLiteStorage, "verify", True), "scrubbed": (SQLiteStorage, "scrub", True),
    "closed": (SQLiteStorage, "close", True), "named": (Path, "rename", True),
    "marked": (SQLiteStorage, "mark_unfinished", True), "filled": (SQLiteStorage, "copy_from", True)}[sys.argv.pop(1)]
whole = getattr(owner, name)
def killed(*args, **more):
    whole(*args, **more)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(owner, name, killed)
main()
"""


def run_killed(moment: str, *words: str) -> None:
    ended = subprocess.run([sys.executable, "-c", KILL, moment, *words], capture_output=True, timeout=120)  # noqa: PLW1510
    assert ended.returncode == -signal.SIGKILL, ended.stderr


@pytest.mark.parametrize("moment", ["copied", "opened", "checked", "scrubbed", "closed", "named"])
def test_restore_that_was_killed_leaves_nothing_that_spoils_the_next(saved: Path, moment: str) -> None:
    folder = saved.parent / "again"
    run_killed(moment, "db", "restore", str(saved), "--data", str(folder))
    again = run("db", "restore", str(saved), "--data", str(folder))

    assert again.exit_code == (1 if moment == "named" else 0)
    assert run("db", "doctor", "--data", str(folder)).exit_code == 0
    left = [path.name for path in folder.iterdir() if path.suffix == ".part"]
    assert left == [] or (moment == "named" and not any(path.is_file() for path in folder.glob(".*.part/*")))
    with closing(open_url("", folder)) as restored:
        assert restored.surveys()[0].reports == 59


@pytest.mark.parametrize("moment", ["marked", "filled"])
def test_copy_that_was_killed_is_refused_by_everybody_until_it_is_run_again(data: Path, moment: str) -> None:
    """By every verb, and by a program that knows no mark, since its version is newer; then all is there, once."""
    target = f"sqlite:///{data.parent}/target"
    run_killed(moment, "db", "copy", "--to", target, "--data", str(data))
    for words in (["db", "doctor"], ["db", "migrate"], ["db", "backup", str(data.parent / "no")], ["survey", "list"]):
        refused = run(*words, DATABASE=target)
        assert (refused.exit_code, "not finished" in refused.output) == (1, True), words
    with closing(sqlite3.connect(data.parent / "target")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] > 1000
    done(run("db", "copy", "--to", target, "--data", str(data)))
    assert run("db", "doctor", DATABASE=target).exit_code == 0


def test_unfinished_copy_on_postgresql_is_refused_by_everybody(data: Path) -> None:
    url = postgres.fresh()
    with closing(open_url(url, data)) as node:
        node.mark_unfinished(True)
        assert run("db", "doctor", DATABASE=url).exit_code == 1
        (data.parent / "address").write_text(url)
        assert run("db", "copy", "--to-file", str(data.parent / "address"), "--data", str(data)).exit_code == 0
        node.check()
        assert node.surveys()[0].reports == 59


def test_address_with_a_password_is_not_taken_from_the_command_line(data: Path) -> None:
    """Everybody on the machine sees the words of a command; the message repeats none."""
    for url in ("postgresql://me:sentinel@a.example/x", "postgresql://a.example/x?user=me&password=sentinel"):
        refused = run("db", "copy", "--to", url, "--data", str(data))
        assert (refused.exit_code, "sentinel" in refused.output, "--to-file" in refused.output) == (1, False, True)


def test_no_folder_is_made_where_none_is_used(tmp_path: Path) -> None:
    """Publishing into a PostgreSQL database needs no data folder."""
    url, folder, file = postgres.fresh(), tmp_path / "none", tmp_path / "survey.yaml"
    assert run("new", str(file)).exit_code == 0
    assert run("survey", "publish", str(file), DATABASE=url, DATA=str(folder)).exit_code == 0
    assert not folder.exists()


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A folder with little room: a small disk where one may be mounted, else a limit on the size of files."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True).returncode == 0  # noqa: PLW1510 - few may mount
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        if not mounted:
            resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 1024, usual[1]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("from_file", [True, False])
def test_backup_on_a_full_disk_leaves_nothing(tmp_path: Path, from_file: bool) -> None:
    url = f"sqlite:///{tmp_path}/db" if from_file else postgres.fresh()
    with closing(open_url(url, tmp_path)) as storage:
        fill(storage, reports=6000)
    with small_disk(tmp_path / "disk"):
        refused = run("db", "backup", str(tmp_path / "disk" / "saved"), DATABASE=url)
        left = list((tmp_path / "disk").iterdir())

    assert (refused.exit_code, "Traceback" in refused.output, left) == (1, False, [])


def test_backup_of_a_database_on_a_full_disk_is_made_from_a_copy(tmp_path: Path, data: Path) -> None:
    """The database needs room beside it even if the backup goes to another disk; the message says what to do."""
    saved, usual = tmp_path / "saved", resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, usual[1]))
    try:
        refused = run("db", "backup", str(saved), "--data", str(data))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    shutil.copytree(data, tmp_path / "copy")

    assert (refused.exit_code, "its disk is full" in refused.stderr, saved.exists()) == (1, True, False)
    assert run("db", "backup", str(saved), "--data", str(tmp_path / "copy")).exit_code == 0


def test_export_replaces_nothing_unasked_and_writes_what_the_name_says(data: Path) -> None:
    out = data.parent / "results.json"
    out.write_text("mine")
    words = ("results", "export", "exam", "--data", str(data), "--out")
    for name in (str(out), str(data.parent / "results.csv"), str(data.parent / "results")):
        assert run(*words, name).exit_code == 1
    assert (out.read_text(), len(list(data.parent.glob("results*")))) == ("mine", 1)
    assert run(*words, "/dev/null").exit_code == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert run(*words, str(out), "--force").exit_code == 0
    assert out.read_text().startswith("{")


@pytest.mark.parametrize(
    ("delta", "code", "warned"), [("9.9e-7", 0, False), ("1.1e-6", 0, True), ("9.9e-5", 0, True), ("1e-4", 1, False)]
)
def test_delta_that_is_too_large_for_so_many_is_warned_of_and_then_refused(
    tmp_path: Path, delta: str, code: int, warned: bool
) -> None:
    """Above 1/n^2, and from 1/(10 n) on; n = 1,000."""
    assert run("new", str(tmp_path / "survey.yaml")).exit_code == 0
    shown = run("survey", "privacy", str(tmp_path / "survey.yaml"), "--respondents", "1000", "--delta", delta)
    assert (shown.exit_code, "warning: delta" in shown.output) == (code, warned)


@pytest.mark.parametrize("back_end", ["sqlite", "postgres"])
def test_restored_backup_of_a_month_ago_forgets_nothing_until_somebody_says_so(tmp_path: Path, back_end: str) -> None:
    file, folder = tmp_path / "saved", tmp_path / "folder"
    url = postgres.fresh() if back_end == "postgres" else f"sqlite:///{folder}/db"
    with closing(SQLiteStorage(file)) as storage:
        key = storage.publish(survey(retention={"ids_days": 1})).key
        storage.store([arrival(key, 1)])
        storage.close_survey("exam", 20_000)
        storage.note_running(int((now() - timedelta(days=30)).timestamp()))
    assert run("db", "restore", str(file), DATABASE=url, DATA=str(folder)).exit_code == 0
    told, refused = run("db", "doctor", DATABASE=url), run("db", "purge", DATABASE=url)
    assert (told.exit_code, "forgetting waits" in told.output, "24 more hours" in told.output) == (0, True, True)
    assert (refused.exit_code, "sottovoce db purge --clock-ok" in refused.output) == (1, True)
    with closing(open_url(url, folder)) as restored:
        assert not restored.surveys()[0].purged
    assert "report ids forgotten" in run("db", "purge", "--clock-ok", DATABASE=url).output
    assert "waits" not in run("db", "doctor", DATABASE=url).output


def test_earlier_postgresql_is_migrated_when_all_are_stopped() -> None:
    url, kept = postgres.fresh(), Path(__file__).parents[2] / "storage" / "schemas" / "postgres-11.sql"
    with psycopg.connect(url) as connection:
        connection.execute(kept.read_bytes())
    for words in (["db", "migrate"], ["survey", "list"], ["serve", "--port", str(free_port())]):
        refused = run(*words, DATABASE=url)
        assert (refused.exit_code, "stop them all, run `sottovoce db migrate --stopped`" in refused.output) == (1, True)
    assert run("db", "migrate", "--stopped", DATABASE=url).exit_code == 0
    assert run("survey", "list", DATABASE=url).exit_code == 0


def test_doctor_asks_the_institution_whether_it_knows_this_aggregator(tmp_path: Path) -> None:
    SQLiteStorage(tmp_path / "sottovoce.sqlite").close()
    with pretended_provider() as provider:
        named = {
            "SIGN_IN_METHODS": "oidc",
            "OIDC_ISSUER": provider.issuer,
            "OIDC_CLIENT": "sottovoce",
            "DATA": str(tmp_path),
        }
        provider.refuses = "invalid_grant"
        assert run("db", "doctor", **named).exit_code == 0
        provider.refuses = "invalid_client"
        wrong_secret = run("db", "doctor", **named)
        wrong_name = run("db", "doctor", **{**named, "OIDC_ISSUER": f"{provider.issuer}/"})
    down = run("db", "doctor", **named)

    assert [result.exit_code for result in (wrong_secret, wrong_name, down)] == [1, 1, 1]
    assert "SOTTOVOCE_OIDC_SECRET" in wrong_secret.stderr
    assert "SOTTOVOCE_OIDC_ISSUER" in wrong_name.stderr
    assert "did not answer" in down.stderr


def test_looking_after_a_database_is_noted(data: Path) -> None:
    file, again = data.parent / "saved", data.parent / "again"
    url = postgres.fresh()
    assert run("db", "backup", str(file), "--data", str(data)).exit_code == 0
    assert run("db", "restore", str(file), "--data", str(again)).exit_code == 0
    assert run("db", "purge", "--clock-ok", "--data", str(again)).exit_code == 0
    (data.parent / "to").write_text(url)
    assert run("db", "copy", "--to-file", str(data.parent / "to"), "--now", "--data", str(again)).exit_code == 0
    assert run("db", "migrate", DATABASE=url).exit_code == 0
    with closing(open_url(url, data)) as storage:
        told = [(one.what, one.who) for one in storage.journal.entries()]

    by_machine = [events.BACKED_UP, events.RESTORED, events.SETTING_CHANGED, events.COPIED]
    assert told[0] == (events.PUBLISHED, events.NO_ACTOR)
    assert told[1:] == [(what, events.MACHINE) for what in by_machine]


def test_backup_replaces_a_backup_and_nothing_else(data: Path, tmp_path: Path) -> None:
    file, other, link = tmp_path / "last.sqlite", tmp_path / "notes.txt", tmp_path / "link.sqlite"
    other.write_text("notes")
    assert run("db", "backup", str(file), "--replace", "--data", str(data)).exit_code == 0
    before = file.stat().st_ino
    assert run("db", "backup", str(file), "--data", str(data)).exit_code == 1
    assert file.stat().st_ino == before
    assert run("db", "backup", str(file), "--replace", "--data", str(data)).exit_code == 0
    assert file.stat().st_ino != before
    link.symlink_to(file)
    for wrong in (other, link, tmp_path):
        refused = run("db", "backup", str(wrong), "--replace", "--data", str(data))
        assert refused.exit_code in {1, 2}
    assert other.read_text() == "notes"
    assert link.is_symlink()
