"""The release before this one and this one on one SQLite file: the upgrade, and the way back on the copy."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from tests.journey.previous_release import previous, run
from tests.journey.test_kill import Senders, Server, check
from tests.surveys import document

pytestmark = pytest.mark.slow

__all__ = ["previous"]


def stored_ids(file: Path) -> set[str]:
    with closing(sqlite3.connect(file)) as connection:
        return {report_id.hex() for (report_id,) in connection.execute("SELECT report_id FROM reports")}


def refused(url: str, *words: str) -> str:
    """Run a verb of this release that must refuse; gives what it said."""
    environment = {**os.environ, "SOTTOVOCE_DATABASE": url}
    ended = subprocess.run([sys.executable, "-m", "sottovoce.cli", *words], env=environment, capture_output=True,
                           text=True, timeout=120, check=False)  # fmt: skip
    assert ended.returncode == 1
    return ended.stderr


def test_upgrade_and_way_back_on_one_file(tmp_path: Path, previous: str) -> None:
    """No verb stops the running node; the upgrade keeps every report, and so does the way back, up to the copy."""
    folder = tmp_path / "data"
    folder.mkdir()
    file = folder / "sottovoce.sqlite"
    url = f"sqlite:///{file}"
    (tmp_path / "exam.yaml").write_text(yaml.safe_dump(document(), allow_unicode=True, sort_keys=False))
    run(previous, url, "survey", "publish", str(tmp_path / "exam.yaml"))

    class Previous(Server):
        python = previous

    node: Server = Previous(folder)
    everybody = [Senders(node.url, 2)]
    try:
        everybody[0].wait(10)
        for words in (
            ["db", "doctor"],
            ["survey", "list"],
            ["db", "backup", str(tmp_path / "saved")],
            ["db", "migrate"],
        ):
            assert "sottovoce db migrate" in refused(url, *words) or "--now" in refused(url, *words)
        everybody[0].wait(10)
        everybody[0].end()
        assert node.end() == 0
        run(sys.executable, url, "db", "migrate", "--now")
        (copy,) = folder.glob("*-before-*.sqlite")
        before = stored_ids(copy)
        assert everybody[0].acknowledged <= before <= set(everybody[0].sent)

        node = Server(folder)
        everybody.append(Senders(node.url, 2))
        everybody[1].wait(10)
        everybody[1].end()
        assert node.end() == 0
        everybody[1].acknowledged |= everybody[0].acknowledged
        everybody[1].sent |= everybody[0].sent
        check(node, everybody[1])

        file = tmp_path / "back" / file.name
        file.parent.mkdir()
        shutil.copy(copy, file)
        node = Previous(file.parent)
        everybody.append(Senders(node.url, 2))
        everybody[2].wait(10)
        everybody[2].end()
        assert node.end() == 0
    finally:
        if node.process.poll() is None:
            node.kill_group()

    assert [(senders.refused, senders.wrong) for senders in everybody] == [(0, [])] * 3
    assert before | everybody[2].acknowledged <= stored_ids(file) <= before | set(everybody[2].sent)
    for name in ("data", "back"):
        assert "bug:" not in (tmp_path / f"{name}.log").read_text()
