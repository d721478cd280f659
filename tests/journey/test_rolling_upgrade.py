"""
Nodes of one release after the other on one PostgreSQL, under load: nobody is refused, and nothing is lost.

A later release is a copy of these sources with migrations of its own: it adds a column, makes the function of its
storing under a new number, and takes away what only the release before the last one needed.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import requests
import sottovoce.aggregator
from sottovoce.aggregator.storage.postgres.schema import MIGRATIONS

from tests import postgres
from tests.journey.test_database_down import until
from tests.journey.test_kill import Senders, Server, before_others, served

NOW = len(MIGRATIONS)
FUNCTION = 9
"""Numbers of this release's schema, and of its function."""

EXPAND = """
MIGRATIONS += (Migration((
    "ALTER TABLE reports ADD COLUMN later_{n} bigint NOT NULL DEFAULT 0",
    "DO $$ BEGIN EXECUTE replace(pg_get_functiondef('sottovoce_store_{old}'::regproc), 'store_{old}', 'store_{new}');"
    " END $$",
)),)
"""
CONTRACT = """
MIGRATIONS += (Migration(("DROP FUNCTION sottovoce_store_{older}",), usable_from={usable_from}),)
"""

DESCRIBE = """
NOT_COPIED["reports"] = {{**NOT_COPIED.get("reports", TABLES["reports"]), "later_{n}": NUMBERS}}
"""


def release(number: int, folder: Path) -> Path:
    """The sources of the release that comes so many after this one."""
    package = folder / f"release-{number}" / "sottovoce" / "aggregator"
    shutil.copytree(Path(sottovoce.aggregator.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    schema, tables = package / "storage" / "postgres" / "schema.py", package / "storage" / "table_catalogue.py"
    for n in range(1, number + 1):
        if n > 1:
            append(schema, CONTRACT.format(older=FUNCTION + n - 2, usable_from=NOW + 2 * n - 3))
        append(schema, EXPAND.format(n=n, old=FUNCTION + n - 1, new=FUNCTION + n))
        append(tables, DESCRIBE.format(n=n))
    storage = package / "storage" / "postgres" / "storage.py"
    text = storage.read_text()
    assert text.count(f"sottovoce_store_{FUNCTION}(") == 1
    storage.write_text(text.replace(f"sottovoce_store_{FUNCTION}(", f"sottovoce_store_{FUNCTION + number}("))
    return package.parents[1]


def append(file: Path, text: str) -> None:
    """Add to the end of a source."""
    with file.open("a") as source:
        source.write(text)


def verb(sources: Path, url: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a verb of a release."""
    environment = {**os.environ, **before_others(sources), "SOTTOVOCE_DATABASE": url}
    command = [sys.executable, "-m", "sottovoce.cli", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def check(sources: Path, url: str, *all_senders: Senders) -> None:
    """Whatever was acknowledged is there, nobody met an error, and the release finds all counts as its rows say."""
    found = verb(sources, url, "doctor")
    assert found.returncode == 0, found.stderr
    with psycopg.connect(url) as connection:
        ids = {bytes(row[0]).hex() for row in connection.execute("SELECT report_id FROM reports")}
    assert [senders.wrong for senders in all_senders] == [[]] * len(all_senders)
    assert set().union(*(senders.acknowledged for senders in all_senders)) == ids


def log(server: Server) -> str:
    """What a node has said."""
    return (server.folder.parent / f"{server.folder.name}.log").read_text()


@pytest.mark.slow
def test_old_node_serves_on_while_the_schema_grows_and_turns_away_when_it_shrinks(tmp_path: Path) -> None:
    """Not one refusal by either until then; afterwards it says why it is not ready, and the other goes on."""
    url = postgres.fresh()
    first, second = release(1, tmp_path), release(2, tmp_path)
    with served(tmp_path / "old", url) as old:
        before = Senders(old.url, 2)
        before.wait(10)
        migrated = verb(first, url, "migrate")
        assert migrated.returncode == 0, migrated.stderr
        with served(tmp_path / "new", url, sources=first) as new:
            after = Senders(new.url, 2)
            after.wait(10)
            before.wait(10)
            before.end()
            left_behind = Senders(old.url, 2)
            assert verb(second, url, "migrate").returncode == 0
            until(old, 503)
            reason = requests.get(f"{old.url}/readyz", timeout=30).json()["detail"]
            after.wait(10)
            left_behind.end()
            after.end()
            assert requests.get(f"{new.url}/readyz", timeout=30).status_code == 200
            check(second, url, before, after, left_behind)

    assert (before.refused, after.refused) == (0, 0)
    assert "made by a newer version of this program, which this one cannot work with" in reason
    assert reason in log(old)
    assert "bug:" not in log(old) + log(new)


@pytest.mark.slow
def test_three_releases_follow_each_other_under_load(tmp_path: Path) -> None:
    """Two nodes, replaced one after the other each time; a release takes away what the one before the last needed."""
    url = postgres.fresh()
    everybody: list[Senders] = []
    nodes = [Server(tmp_path / f"{place}-0", url) for place in "ab"]
    for number in range(1, 4):
        sources = release(number, tmp_path)
        for place, old in enumerate(nodes):
            senders = [Senders(node.url, 2) for node in nodes]
            nodes[place] = Server(tmp_path / f"{'ab'[place]}-{number}", url, sources=sources)
            senders.append(Senders(nodes[place].url, 2))
            for each in senders:
                each.wait(30)
            for each in senders:
                each.end()
            everybody += senders
            assert old.end() == 0
            assert "bug:" not in log(old)
        check(sources, url, *everybody)
    for node in nodes:
        assert node.end() == 0

    assert sum(senders.refused for senders in everybody) == 0
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT version, usable_from FROM schema_version").fetchone() == (NOW + 5, NOW + 3)
