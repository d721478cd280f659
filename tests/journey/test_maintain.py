"""Looking after a database by the commands, beside a running aggregator where they may be."""

import resource
import sqlite3
import threading
from pathlib import Path

import requests
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.aggregator.storage.sqlite import SQLiteStorage

from tests import postgres
from tests.conftest import Running, processes, start
from tests.journey.test_collection import batch, reports, send, withdrawal
from tests.journey.test_own_survey import sottovoce
from tests.surveys import survey


def test_backup_while_reports_come_in_restores_to_a_moment_of_that_time(tmp_path: Path) -> None:
    """Whole reports only, counts equal to a recount, between the number before and the number after."""
    with start(tmp_path / "data", survey()) as process:
        send(process, "reports/batch", batch(reports(100)))
        ended = threading.Event()

        def keep_sending() -> None:
            while not ended.is_set():
                send(process, "reports", reports(1)[0])

        sender = threading.Thread(target=keep_sending)
        sender.start()
        before = process.reports()
        saved = sottovoce(tmp_path, "backup", "saved.sqlite", "--data", "data")
        after = process.reports()
        ended.set()
        sender.join()
    assert saved.returncode == 0, saved.stderr
    assert sottovoce(tmp_path, "restore", "saved.sqlite", "--data", "again").returncode == 0
    assert sottovoce(tmp_path, "doctor", "--data", "again").returncode == 0
    again = SQLiteStorage(tmp_path / "again" / "sottovoce.sqlite")
    assert before <= again.surveys()[0].reports <= after
    again.close()
    assert sottovoce(tmp_path, "restore", "saved.sqlite", "--data", "data").returncode == 1
    assert sottovoce(tmp_path, "backup", "saved.sqlite", "--data", "data").returncode == 1


def test_restore_refuses_what_is_no_backup(tmp_path: Path) -> None:
    """Nothing of it stays in the data folder."""
    (tmp_path / "junk").write_bytes(b"sentinel" * 1000)
    refused = sottovoce(tmp_path, "restore", "junk", "--data", "data")

    assert (refused.returncode, "sentinel" in refused.stderr) == (1, False)
    assert list((tmp_path / "data").iterdir()) == []


def test_doctor_finds_a_wrong_count(tmp_path: Path) -> None:
    """One count that is off by one is named, with exit code 1."""
    with start(tmp_path / "data", survey()) as process:
        send(process, "reports", reports(1)[0])
    assert sottovoce(tmp_path, "doctor", "--data", "data").returncode == 0
    with sqlite3.connect(tmp_path / "data" / "sottovoce.sqlite") as connection:
        connection.execute("UPDATE counts SET reports = reports + 1 WHERE question = 0")
    found = sottovoce(tmp_path, "doctor", "--data", "data")

    assert (found.returncode, "not those of the rows" in found.stderr) == (1, True)


def test_copy_moves_everything_there_and_back(tmp_path: Path) -> None:
    """To PostgreSQL and from there to a file: surveys, reports, withdrawals, counts and researchers."""
    with start(tmp_path / "data", survey()) as process:
        bodies = reports(60)
        send(process, "reports/batch", batch(bodies))
        send(process, "withdraw", withdrawal(bodies[0]))
    url = postgres.fresh()
    copied = sottovoce(tmp_path, "copy", "--to", url, "--data", "data")
    assert copied.returncode == 0, copied.stderr
    assert sottovoce(tmp_path, "copy", "--to", url, "--data", "data").returncode == 1
    there = open_url(url, tmp_path)
    back = open_url(f"sqlite:///{tmp_path}/back.sqlite", tmp_path)
    for table in ("surveys", "reports", "tombstones", "cells", "counts", "token_counts", "researchers"):
        back.import_table(table, there.export_table(table))
    first = process.storage()
    for storage in (there, back):
        assert storage.surveys() == first.surveys()
        assert storage.cells(1) == first.cells(1)
        assert list(storage.rows(1)) == list(first.rows(1))
    for storage in (there, back, first):
        storage.close()


def test_purge_forgets_ids_when_they_fall_due(tmp_path: Path) -> None:
    """Every later report is 409, and the rows and counts are still there."""
    with start(tmp_path / "data", survey(closes="2020-01-01T00:00:00Z", retention={"ids_days": 1})):
        pass
    purged = sottovoce(tmp_path, "purge", "--data", "data")
    storage = SQLiteStorage(tmp_path / "data" / "sottovoce.sqlite")
    assert purged.returncode == 0
    assert storage.surveys()[0].purged
    storage.close()


def test_metrics_count_and_need_a_researcher(running: Running) -> None:
    """Snapshots and refusals only; 401 without a token."""
    for body in reports(30):
        send(running, "reports", body)
    send(running, "reports", b"{}")
    text = requests.get(f"{running.url}/metrics", headers=running.researcher, timeout=15).text

    assert requests.get(f"{running.url}/metrics", timeout=15).status_code == 401
    assert "\nsottovoce_reports 25\n" in text
    assert '\nsottovoce_rejected_total{reason="malformed"} 1\n' in text
    assert running.survey.name not in text


def test_readiness_turns_red_when_the_schema_is_another(running: Running) -> None:
    """And green again when it is back; the process itself stays alive."""
    path = running.data / "sottovoce.sqlite"

    def becomes(version: int, status: int) -> bool:
        with sqlite3.connect(path, timeout=10) as connection:
            connection.execute(f"PRAGMA user_version = {version:d}")
        return any(requests.get(f"{running.url}/readyz", timeout=5).status_code == status for _ in range(2000))

    with sqlite3.connect(path) as connection:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    assert becomes(999, 503)
    assert requests.get(f"{running.url}/healthz", timeout=5).status_code == 200
    assert becomes(version, 200)


def test_full_disk_is_a_503_and_passes(running: Running) -> None:
    """A database that can grow no more refuses, readiness says so, and nothing acknowledged is lost."""
    # A limit on the size of files stands for a full disk: the write fails in the same place.
    workers = processes(running.url)
    before = [send(running, "reports", body).status_code for body in reports(5)]
    for pid in workers:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    bodies = reports(40)
    statuses = [send(running, "reports", body).status_code for body in bodies]
    asked = (requests.get(f"{running.url}/readyz", timeout=5) for _ in range(2000))
    ready = next(reply for reply in asked if reply.status_code != 200)
    for pid in workers:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    after = [send(running, "reports", body).status_code for body in bodies]

    assert (before, set(statuses), after) == ([200] * 5, {503}, [200] * 40)
    assert (ready.status_code, ready.headers["Retry-After"].isdigit()) == (503, True)
    assert running.reports() == 45
