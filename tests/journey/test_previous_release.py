"""
The release before this one, as it was released, beside this one on one PostgreSQL, under load (O4).

``previous_release.txt`` names its commit, and changes with each release. ``test_rolling_upgrade.py`` goes from this
release to those that come. Slow, and the whole history is needed: a copy of the sources alone has no release before it.
"""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path

import psycopg
import pytest
import yaml

from tests import postgres
from tests.journey.test_kill import Senders, Server, check
from tests.surveys import document

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
COMMIT = (Path(__file__).parent / "previous_release.txt").read_text(encoding="ascii").strip()


def archived(folder: Path) -> Path:
    """The sources of that release, as they were committed."""
    found = subprocess.run(
        ["git", "-C", ROOT, "cat-file", "-e", f"{COMMIT}^{{commit}}"], capture_output=True, check=False
    )
    if found.returncode:
        pytest.fail(
            f"the commit of the previous release, {COMMIT}, is not in this checkout: get the whole history, such as"
            " by git fetch --unshallow"
        )
    file = folder / "sources.tar"
    subprocess.run(["git", "-C", ROOT, "archive", "-o", file, COMMIT], check=True)
    with tarfile.open(file) as archive:
        archive.extractall(folder / "sources", filter="data")
    return folder / "sources"


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Python of an environment with that release's wheel, and the libraries of this one."""
    folder = tmp_path_factory.mktemp("previous")
    sources = archived(folder)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=sources, check=True,
                   capture_output=True)  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "environment", symlinks=True)
    python = folder / "environment" / "bin" / "python"
    own = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True,
                         text=True, check=True).stdout.strip()  # fmt: skip
    # What an editable install has put there is not followed from here, so only its own packages are this release's.
    (Path(own) / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", own, wheel]
    subprocess.run(command, check=True, capture_output=True)
    return str(python)


def run(python: str, url: str, *words: str) -> str:
    """Run a verb of an installed release; gives what it said."""
    environment = {**os.environ, "SOTTOVOCE_DATABASE": url}
    ended = subprocess.run([python, "-m", "sottovoce.cli", *words], env=environment, capture_output=True, text=True,
                           timeout=120, check=False)  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


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
