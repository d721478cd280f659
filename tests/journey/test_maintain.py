"""Looking after a database by the commands, beside a running aggregator where they may be."""

import resource
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path

import pytest
import requests
from sottovoce.aggregator.storage.connect import FILE, open_url
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.spec import Survey

from tests import postgres
from tests.conftest import Running, processes, start
from tests.journey.test_collection import batch, reports, send, withdrawal
from tests.journey.test_own_survey import invoke, sottovoce
from tests.recount import recount
from tests.surveys import survey
from tests.unit.cli.test_maintain import fill

NO_LIMIT = resource.RLIM_INFINITY


def store(folder: Path, asked: Survey) -> None:
    """Make a database with this survey and 60 reports, of which one is withdrawn."""
    folder.mkdir()
    with closing(SQLiteStorage(folder / FILE)) as storage:
        fill(storage, asked)


def test_backup_while_reports_come_in_restores_to_a_moment_of_that_time(tmp_path: Path, running: Running) -> None:
    """Whole reports only, counts equal to a recount, between the number before and the number after."""
    data = ("--data", str(running.data))
    send(running, "reports/batch", batch(reports(100, running.survey)))
    ended = threading.Event()

    def keep_sending() -> None:
        while not ended.is_set():
            send(running, "reports", reports(1, running.survey)[0])

    sender = threading.Thread(target=keep_sending)
    sender.start()
    before = running.reports()
    saved = sottovoce(tmp_path, "db", "backup", "saved.sqlite", *data)
    after = running.reports()
    ended.set()
    sender.join()
    assert saved.returncode == 0, saved.stderr
    assert invoke(tmp_path, "db", "restore", "saved.sqlite", "--data", "again").returncode == 0
    assert invoke(tmp_path, "db", "doctor", "--data", "again").returncode == 0
    with closing(SQLiteStorage(tmp_path / "again" / FILE)) as again:
        assert before <= again.revisions(running.survey.name)[0].reports <= after
    assert invoke(tmp_path, "db", "restore", "saved.sqlite", *data).returncode == 1
    assert invoke(tmp_path, "db", "backup", "saved.sqlite", *data).returncode == 1


def test_doctor_finds_a_wrong_count(tmp_path: Path) -> None:
    store(tmp_path / "data", survey())
    assert invoke(tmp_path, "db", "doctor", "--data", "data").returncode == 0
    with sqlite3.connect(tmp_path / "data" / "sottovoce.sqlite") as connection:
        connection.execute("UPDATE counts SET reports = reports + 1 WHERE question = 0")
    found = invoke(tmp_path, "db", "doctor", "--data", "data")

    assert (found.returncode, "not those of the rows" in found.stderr) == (1, True)


def test_doctor_says_which_table_is_not_as_it_should_be(tmp_path: Path) -> None:
    """Also where so much is missing that nothing can be counted; and such a file is no backup."""
    path = tmp_path / "data" / "sottovoce.sqlite"
    path.parent.mkdir()
    SQLiteStorage(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE pulse")
        connection.execute("ALTER TABLE settled ADD came_at INTEGER")
    found = invoke(tmp_path, "db", "doctor", "--data", "data")
    refused = invoke(tmp_path, "db", "restore", str(path), "--data", "again")

    for words in ("there is no table pulse", "the table reports has a column came_at too many"):
        assert words in found.stderr
        assert words in refused.stderr
    assert (found.returncode, refused.returncode) == (1, 1)
    assert not (tmp_path / "again").exists()


def test_copy_moves_everything_there_and_back(tmp_path: Path) -> None:
    store(tmp_path / "data", survey())
    url = postgres.fresh()
    (tmp_path / "address").write_text(url)
    copied = invoke(tmp_path, "db", "copy", "--to-file", "address", "--data", "data")
    assert copied.returncode == 0, copied.stderr
    # In a process: a refused copy leaves its connections to the end of the process.
    assert sottovoce(tmp_path, "db", "copy", "--to-file", "address", "--data", "data").returncode == 1
    there = open_url(url, tmp_path)
    back = open_url(f"sqlite:///{tmp_path}/back.sqlite", tmp_path)
    back.copy_from(there)
    first = SQLiteStorage(tmp_path / "data" / FILE)
    for storage in (there, back):
        assert storage.surveys() == first.surveys()
        assert storage.cells(1) == first.cells(1)
        assert list(storage.rows(1)) == list(first.rows(1))
    for storage in (there, back, first):
        storage.close()


def test_purge_forgets_ids_when_they_fall_due(tmp_path: Path) -> None:
    """Every later report is 409, and the rows and counts are still there."""
    store(tmp_path / "data", survey(closes="2020-01-01T00:00:00Z", retention={"ids_days": 1}))
    purged = invoke(tmp_path, "db", "purge", "--data", "data")
    storage = SQLiteStorage(tmp_path / "data" / "sottovoce.sqlite")
    assert purged.returncode == 0
    assert storage.surveys()[0].purged
    storage.close()


def test_metrics_count_and_need_a_researcher(own_server: Running) -> None:
    for body in reports(30):
        send(own_server, "reports", body)
    send(own_server, "reports", b"{}")
    text = requests.get(f"{own_server.url}/metrics", headers=own_server.researcher, timeout=15).text

    assert requests.get(f"{own_server.url}/metrics", timeout=15).status_code == 401
    assert "\nsottovoce_reports 25.0\n" in text
    assert '\nsottovoce_rejected_total{reason="malformed"} 1.0\n' in text
    assert '\nsottovoce_request_seconds_count{class="2xx",route="collect.report"} 25.0\n' in text
    assert own_server.survey.name not in text


@pytest.fixture(scope="module")
def disturbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An aggregator whose database is taken away from it for a while; each test gives it back."""
    with start(tmp_path_factory.mktemp("disturbed"), survey()) as process:
        yield process


def test_readiness_turns_red_when_the_schema_is_another(disturbed: Running) -> None:
    path = disturbed.data / "sottovoce.sqlite"

    def becomes(version: int, status: int) -> bool:
        with sqlite3.connect(path, timeout=10) as connection:
            connection.execute(f"PRAGMA user_version = {version:d}")
        return status in islice(statuses_of(disturbed), 2000)

    with sqlite3.connect(path) as connection:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    assert becomes(999, 503)
    assert requests.get(f"{disturbed.url}/healthz", timeout=5).status_code == 200
    assert becomes(version, 200)


def limit_files(running: Running, size: int) -> None:
    """Let no file of the aggregator grow beyond this: a write fails in the same place as on a full disk."""
    for pid in processes(running.url):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def statuses_of(running: Running) -> Iterator[int]:
    while True:
        yield requests.get(f"{running.url}/readyz", timeout=5).status_code
        time.sleep(0.02)


def check_full(running: Running, fill: Callable[[], object], empty: Callable[[], object]) -> None:
    before, bodies = reports(5), reports(40)
    assert [send(running, "reports", body).status_code for body in before] == [200] * 5
    fill()
    # The database's log may have room for some more.
    while send(running, "reports", reports(1)[0]).status_code == 200:
        pass
    stored = running.reports()
    full = [send(running, "reports", body).status_code for body in bodies[:39]]
    full.append(send(running, "withdraw", withdrawal(before[0])).status_code)
    assert 503 in statuses_of(running)
    refused = requests.get(f"{running.url}/readyz", timeout=5)
    assert (refused.status_code, refused.headers["Retry-After"].isdigit()) == (503, True)
    assert requests.get(f"{running.url}/healthz", timeout=5).status_code == 200
    empty()
    assert set(full) == {503}
    # Until readiness is green again, everything is refused at once.
    assert 200 in statuses_of(running)
    assert [send(running, "reports", body).status_code for body in bodies] == [200] * 40
    storage = running.storage()
    assert (running.reports(), storage.verify()) == (stored + 40, [])
    assert storage.live_counts(1) == recount(storage, storage.surveys()[0])
    storage.close()


def test_full_disk_is_a_503_and_passes(disturbed: Running) -> None:
    check_full(disturbed, lambda: limit_files(disturbed, 1), lambda: limit_files(disturbed, NO_LIMIT))


def fill_up(path: Path) -> None:
    with suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_disk_that_is_really_full_is_a_503_and_passes(tmp_path: Path) -> None:
    """The same on a small disk of its own, where one may be mounted; elsewhere by the limit again."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    mounted = subprocess.run(mount, capture_output=True).returncode == 0  # noqa: PLW1510 - few may mount
    try:
        with start(disk / "data", survey()) as process:
            filler = disk / "filler"
            if mounted:
                check_full(process, lambda: fill_up(filler), filler.unlink)
            else:
                check_full(process, lambda: limit_files(process, 1), lambda: limit_files(process, NO_LIMIT))
    finally:
        if mounted:
            subprocess.run(["umount", str(disk)], check=True)


def test_readiness_turns_red_while_another_process_keeps_the_database_locked(disturbed: Running) -> None:
    """It does not wait for the lock, and is green again after it; a report that waits meanwhile is stored."""
    before = disturbed.reports()
    with closing(sqlite3.connect(disturbed.data / "sottovoce.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(send, disturbed, "reports", reports(1)[0])
            assert 503 in statuses_of(disturbed)
            other.execute("ROLLBACK")
            assert waiting.result().status_code == 200

    assert 200 in statuses_of(disturbed)
    assert disturbed.reports() == before + 1
