"""The release before this one, as it was released, and this one after it on one PostgreSQL (O4)."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests import postgres
from tests.journey.previous_release import ROOT, previous, run
from tests.journey.test_kill import Senders, Server, check
from tests.surveys import document

pytestmark = pytest.mark.slow

__all__ = ["previous"]


def test_previous_release_is_really_another_one(previous: str) -> None:
    """Its own packages in its own environment, none of this checkout's."""
    told = "from sottovoce import aggregator, cli, shared; print(aggregator.__path__, cli.__path__, shared.__path__)"
    places = subprocess.run([previous, "-c", told], capture_output=True, text=True, check=True, cwd="/").stdout

    assert str(ROOT) not in places
    assert places.count("environment") == 3


def test_previous_release_is_stopped_and_its_data_kept(tmp_path: Path, previous: str) -> None:
    url = postgres.fresh()
    (tmp_path / "exam.yaml").write_text(yaml.safe_dump(document(), allow_unicode=True, sort_keys=False))
    run(previous, url, "survey", "publish", str(tmp_path / "exam.yaml"))

    class Previous(Server):
        python = previous

    nodes: list[Server] = [Previous(tmp_path / "old", url)]
    try:
        before = Senders(nodes[0].url, 2)
        before.wait(20)
        before.end()
        assert nodes[0].end() == 0
        run(sys.executable, url, "db", "migrate", "--stopped")
        nodes.append(Server(tmp_path / "new", url))
        after = Senders(nodes[1].url, 2)
        after.wait(20)
        after.end()
        after.acknowledged |= before.acknowledged
        after.sent |= before.sent
        check(nodes[1], after)
    finally:
        for node in nodes:
            if node.process.poll() is None:
                node.kill_group()

    assert (before.refused, after.refused) == (0, 0)
    assert (before.wrong, after.wrong) == ([], [])
    for name in ("old", "new"):
        assert "bug:" not in (tmp_path / f"{name}.log").read_text()
