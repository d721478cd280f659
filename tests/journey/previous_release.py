"""The release before this one, as it was released, installed beside this one for tests.

``earliest_release.txt`` names the commit of the earliest release whose databases this one reads, 0.4.0. Slow, and the
whole history is needed: a copy of the sources alone has no release before it.
"""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMIT = (Path(__file__).parent / "earliest_release.txt").read_text(encoding="ascii").strip()


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
