"""
The release before this one, as it was released, beside this one on one PostgreSQL, under load (O4).

``test_rolling_upgrade.py`` goes from this release to those that come.
"""

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import yaml

from tests import postgres
from tests.journey.previous_release import ROOT, previous, run
from tests.journey.test_kill import Senders, Server, check
from tests.surveys import document

pytestmark = pytest.mark.slow

__all__ = ["previous"]


def schema_of(url: str) -> tuple[int, int]:
    """(version, usable from) of a database."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT version, usable_from FROM schema_version").fetchone()
    assert row is not None
    return row[0], row[1]


def test_previous_release_is_really_another_one(previous: str) -> None:
    """Its own packages in its own environment, none of this checkout's."""
    told = "from sottovoce import aggregator, cli, shared; print(aggregator.__path__, cli.__path__, shared.__path__)"
    places = subprocess.run([previous, "-c", told], capture_output=True, text=True, check=True, cwd="/").stdout

    assert str(ROOT) not in places
    assert places.count("environment") == 3


def test_nodes_of_the_previous_release_are_replaced_under_load(tmp_path: Path, previous: str) -> None:
    """Both serve while the schema is brought to this release's, then the old one is stopped: no 5xx, nothing lost."""
    url = postgres.fresh()
    (tmp_path / "exam.yaml").write_text(yaml.safe_dump(document(), allow_unicode=True, sort_keys=False))
    run(previous, url, "survey", "publish", str(tmp_path / "exam.yaml"))
    before = schema_of(url)

    class Previous(Server):
        python = previous

    everybody: list[Senders] = []
    nodes: list[Server] = []
    try:
        nodes.append(Previous(tmp_path / "old", url))
        everybody.append(Senders(nodes[0].url, 2))
        everybody[0].wait(10)
        run(sys.executable, url, "migrate")
        nodes.append(Server(tmp_path / "new", url))
        everybody.append(Senders(nodes[1].url, 2))
        for senders in everybody:
            senders.wait(20)
        refused = [senders.refused for senders in everybody]
        assert nodes[0].end() == 0
        everybody[1].wait(10)
        for senders in everybody:
            senders.end()
        everybody[1].acknowledged |= everybody[0].acknowledged
        everybody[1].sent |= everybody[0].sent
        check(nodes[1], everybody[1])
    finally:
        for node in nodes:
            if node.process.poll() is None:
                node.kill_group()

    assert refused == [0, 0]
    assert [senders.wrong for senders in everybody] == [[], []]
    assert schema_of(url)[0] >= before[0]
    assert schema_of(url)[1] <= before[0]
    for name in ("old", "new"):
        assert "bug:" not in (tmp_path / f"{name}.log").read_text()
