"""Wheel and source archive: the same bytes each time, complete, and they run where nothing else is installed."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import venv
import zipfile
from collections.abc import Iterator
from email import message_from_string
from importlib import import_module
from pathlib import Path

import pytest
from sottovoce.cli.process import free_port

from tests.listener import honest, listening
from tests.surveys import ANSWERS, survey

ROOT = Path(__file__).parents[2]
TYPED = ("sottovoce", "sottovoce/shared", "sottovoce/client", "sottovoce/aggregator", "sottovoce/curator")
"""Folders whose types other programs may use; the first marks the modules beside the packages."""


def build(folder: Path) -> dict[str, Path]:
    """Build both archives into a folder, as ``make dist`` does. Return them by the end of their name."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return {path.suffix: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Wheel (.whl) and source archive (.gz) of this checkout."""
    return build(tmp_path_factory.mktemp("built"))


def digests(archives: dict[str, Path]) -> dict[str, str]:
    """Return the SHA-256 of each archive by its name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in archives.values()}


@pytest.mark.slow
def test_archives_are_the_same_bytes_each_time(built: dict[str, Path], tmp_path: Path) -> None:
    """Built again later, in another folder."""
    assert digests(build(tmp_path)) == digests(built)
    assert {*built} == {".whl", ".gz"}


def test_wheel_holds_the_program_its_licence_and_its_types(built: dict[str, Path]) -> None:
    """No test, no package of others; author and licence are named; the file to try is there."""
    with zipfile.ZipFile(built[".whl"]) as wheel:
        names = wheel.namelist()
        (metadata,) = [name for name in names if name.endswith("/METADATA")]
        told = message_from_string(wheel.read(metadata).decode())

    assert {name.split("/")[0].split("-")[0] for name in names} == {"sottovoce"}
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {f"{package}/py.typed" for package in TYPED} <= {*names}
    assert any(name.endswith("share/sottovoce/try.html") for name in names)
    assert not [name for name in names if "node_modules" in name or "/tests/" in name]
    assert (told["Author"], told["License-Expression"]) == ("The Sottovoce authors", "Apache-2.0")


def test_source_archive_can_be_tested(built: dict[str, Path]) -> None:
    """It has the tests, the documents and every lock, and nothing that a build or a test has left behind."""
    with tarfile.open(built[".gz"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split(
        "\n"
    )
    left_out = {name for name in tracked if name.startswith((".ci/", ".github/"))}
    assert {*tracked} - left_out - {""} <= names
    assert names - {*tracked} == {"PKG-INFO"}, "a new file: git add it; a file that was left behind: delete it"


PLAIN = ("click", "requests", "certifi", "charset_normalizer", "idna", "urllib3")
"""What the wheel brings without extras."""
RUN = (
    "import sys; from sottovoce.cli.main import main; main(sys.argv[1:], standalone_mode=False); "
    "loaded = {'.'.join(name.split('.')[:2]) for name in sys.modules}; "
    "print(*loaded & {'sottovoce.aggregator', 'sottovoce.audit', 'flask', 'numpy'})"
)


def test_wheel_without_extras_is_a_light_client(built: dict[str, Path], tmp_path: Path) -> None:
    """Help, answering, the ledger and a page run beside two libraries, and load nothing of the aggregator."""
    for name in PLAIN:
        (tmp_path / name).symlink_to(Path(str(import_module(name).__file__)).parent)
    shutil.unpack_archive(built[".whl"], tmp_path / "wheel", "zip")
    (tmp_path / "answers.json").write_text(json.dumps(ANSWERS))
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": f"{tmp_path / 'wheel'}:{tmp_path}"}
    with listening(honest(survey())) as server:
        link = f"{server.url}/s/exam#d={survey().digest[:32]}"
        for words in (
            ["--help"],
            ["respond", link, "--answers", "answers.json", "--yes"],
            ["device", "show"],
            ["survey", "page", server.url, "--folder", "form"],
        ):
            ended = subprocess.run(
                [sys.executable, "-S", "-c", RUN, *words], cwd=tmp_path, env=environment, check=False,
                capture_output=True, text=True,
            )  # fmt: skip
            assert (ended.returncode, ended.stdout.splitlines()[-1:]) == (0, [""]), ended.stderr
        assert len(server.bodies) == 1


@pytest.mark.slow
def test_wheel_runs_the_demonstration_where_nothing_else_is_installed(built: dict[str, Path], tmp_path: Path) -> None:
    """In an empty environment with what ``make demo`` installs."""
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--no-compile"]
    subprocess.run([*pip, "--require-hashes", "-r", ROOT / "requirements-demo.lock"], check=True)
    subprocess.run([*pip, "--no-deps", built[".whl"]], check=True)
    ended = subprocess.run(
        [tmp_path / "env" / "bin" / "sottovoce", "demo", "--exit", "--folder", "data"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip

    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "data" / "sottovoce.sqlite").is_file()


@pytest.mark.slow
def test_steps_of_the_dockerfile_make_a_node_that_is_healthy(tmp_path: Path) -> None:
    """Without a daemon: what it copies and runs, in folders of this test, then its entry point and its health check."""
    lines = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    stage = lines[: next(place for place, line in enumerate(lines) if line.startswith("COPY --from"))]
    place = tmp_path / "build"
    place.mkdir()
    for *sources, target in (line.split()[1:] for line in stage if line.startswith("COPY ")):
        for source in sources:
            copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
            copy(ROOT / source, place / target / source if target == "./" else place / target)
    (step,) = (line.removeprefix("RUN ") for line in stage if line.startswith("RUN "))
    installed = tmp_path / "opt"
    subprocess.run(["sh", "-ec", step.replace("/opt/sottovoce", str(installed))], cwd=place, check=True)

    settings = {
        "SOTTOVOCE_DATA": str(tmp_path / "data"),
        "SOTTOVOCE_PORT": str(free_port()),
        "PATH": os.environ["PATH"],
    }
    entry = str(installed / "bin" / "sottovoce")
    with subprocess.Popen([entry, "serve"], cwd=tmp_path, env=settings) as node:
        healthy = False
        for _ in range(60):
            healthy = (
                subprocess.run([entry, "healthcheck"], env=settings, check=False, capture_output=True).returncode == 0
            )
            if healthy:
                break
            time.sleep(0.5)
        node.terminate()

    assert healthy
    assert node.returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"build", "opt", "data"}
