"""The process that reads other people's files: a reader that attacks reaches nothing of the server."""

import ctypes
import os
import socket
import sys
from contextlib import closing
from pathlib import Path

import duckdb
import pandas
import pyreadstat
import pytest
from sottovoce.aggregator import walls
from sottovoce.aggregator.accounts import authentication
from sottovoce.aggregator.analysis.data_file.file_analysis import SHARES, FileAnalysis, UploadedFile
from sottovoce.aggregator.analysis.jobs.child import Job
from sottovoce.aggregator.analysis.jobs.queue import Worker
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.settings import SettingError, Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the walls are Linux's")

PLANTED = """
import os, socket
from pathlib import Path

SERVER = os.getppid()

def ask(kind, place):
    made = socket.socket(kind)
    made.connect(place)

def fork():
    if os.fork() == 0:
        os._exit(0)

TRIES = {{
    "database": lambda: Path({database!r}).read_bytes(),
    "environment": lambda: Path(f"/proc/{{SERVER}}/environ").read_bytes(),
    "own_environment": lambda: os.environ["SOTTOVOCE_OIDC_SECRET"] + os.environ["PGPASSWORD"],
    "memory": lambda: Path(f"/proc/{{SERVER}}/mem").open("rb").read(1),
    "port": lambda: ask(socket.AF_INET, ("127.0.0.1", {port})),
    "unix_socket": lambda: ask(socket.AF_UNIX, {address!r}),
    "writing": lambda: Path({outside!r}).write_text("x"),
    "mode": lambda: os.chmod({database!r}, 0o600),
    "mode_of_library": lambda: os.fchmod(os.open(__file__, os.O_RDONLY), 0o600),
    "owner": lambda: os.chown({database!r}, -1, -1),
    "times": lambda: os.utime({database!r}),
    "attribute": lambda: os.setxattr({database!r}, "user.reached", b""),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, SERVER, os.getpriority(os.PRIO_PROCESS, SERVER)),
    "kill": lambda: os.kill(SERVER, 0),
    "fork": fork,
    "program": lambda: os.execv("/bin/true", ["true"]),
    "limits": lambda: __import__("resource").prlimit(SERVER, __import__("resource").RLIMIT_CORE),
}}

class ReadstatError(Exception):
    pass

class PyreadstatError(Exception):
    pass

def read_sav(*anything, **named):
    reached = []
    for name, attempt in TRIES.items():
        try:
            attempt()
        except (OSError, KeyError):
            continue
        reached.append(name)
    raise type("_".join(["Reached", *reached]), (Exception,), {{}})
"""


def unheard(done: int, whole: int) -> None:
    """Progress that no test waits for."""


@LINUX
def test_planted_reader_reaches_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Database, environment, memory, ports, files with all that is set of them, and processes are out of its reach."""
    assert walls.missing() == ""
    library, database, address = tmp_path / "library", tmp_path / "sottovoce.sqlite", str(tmp_path / "socket")
    library.mkdir()
    database.write_bytes(b"reports")
    monkeypatch.setenv("PYTHONPATH", str(library))
    monkeypatch.setenv("SOTTOVOCE_OIDC_SECRET", "secret")
    monkeypatch.setenv("PGPASSWORD", "secret")
    with closing(socket.socket()) as port, closing(socket.socket(socket.AF_UNIX)) as pipe:
        port.bind(("127.0.0.1", 0))
        port.listen()
        pipe.bind(address)
        pipe.listen()
        planted = PLANTED.format(
            database=str(database), port=port.getsockname()[1], address=address, outside=str(tmp_path / "written")
        )
        (library / "pyreadstat.py").write_text(planted, encoding="utf-8")
        with closing(Worker()) as worker:
            job = Job(FileAnalysis(SHARES, {}), UploadedFile("answers.sav", b"$FL2", {}), 0)
            reply = worker.run(job, unheard)

    assert reply["bug"].startswith("Reached at ")
    assert not (tmp_path / "written").exists()


@LINUX
@pytest.mark.parametrize("kind", ["csv", "parquet", "xlsx", "sav", "dta"])
def test_readers_of_files_work_behind_the_walls(kind: str, tmp_path: Path) -> None:
    """Each library finds there what it needs, within the memory that an analysis has in the smallest deployment."""
    path, table = tmp_path / f"answers.{kind}", pandas.DataFrame({"cheated": ["yes", "no", "no"]})
    if kind == "parquet":
        duckdb.from_df(table).write_parquet(str(path))
    else:
        {
            "csv": lambda: table.to_csv(path, index=False),
            "xlsx": lambda: table.to_excel(path, index=False, engine="xlsxwriter"),
            "sav": lambda: pyreadstat.write_sav(table, path),
            "dta": lambda: pyreadstat.write_dta(table, path),
        }[kind]()
    with closing(Worker()) as worker:
        job = Job(FileAnalysis(SHARES, {}), UploadedFile(path.name, path.read_bytes(), {}), 384)
        reply = worker.run(job, unheard)

    assert reply["document"]["rows"] == 3


@LINUX
def test_folder_where_the_server_was_started_is_not_readable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python takes its modules from there otherwise, and data often lies there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "numpy.py").write_text("raise SystemExit('taken from the folder')", encoding="utf-8")
    with closing(Worker()) as worker:
        job = Job(FileAnalysis(SHARES, {}), UploadedFile("answers.csv", b"x\nyes\nno\n", {}), 0)

        assert "document" in worker.run(job, unheard)


@LINUX
def test_memory_of_the_server_is_hidden() -> None:
    """Also from a process without walls: what is not dumpable belongs to the administrator."""
    child = os.fork()
    if child == 0:
        walls.hide_memory()
        os._exit(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_visitors_are_refused_where_no_walls_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's file is read behind walls or not at all; the reason is said at the start."""
    monkeypatch.setattr(authentication, "missing", lambda: "this system is not Linux")
    with (
        closing(SQLiteStorage(tmp_path / "data.sqlite")) as storage,
        pytest.raises(SettingError, match=r"SOTTOVOCE_PUBLIC_ANALYSIS needs walls.*this system is not Linux"),
    ):
        create_app(Settings(public_analysis=1), storage, now, {})
