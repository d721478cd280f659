"""Wheel and source archive are the same bytes each time; locks and the list of parts name what is in them."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
import venv
import zipfile
from collections.abc import Iterable, Iterator
from email import message_from_string
from importlib import import_module
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
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
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in archives.values()}


@pytest.mark.slow
def test_archives_are_the_same_bytes_each_time(built: dict[str, Path], tmp_path: Path) -> None:
    assert digests(build(tmp_path)) == digests(built)
    assert {*built} == {".whl", ".gz"}


def test_wheel_holds_the_program_its_licence_and_its_types(built: dict[str, Path]) -> None:
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


pytestmark = pytest.mark.slow

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def direct() -> set[str]:
    """Every package that the project itself names, but for itself."""
    named = [*PROJECT["dependencies"], *(each for extra in PROJECT["optional-dependencies"].values() for each in extra)]
    return {canonicalize_name(Requirement(each).name) for each in named} - {PROJECT["name"]}


@pytest.fixture(scope="module")
def bill(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The document, made by the Makefile's own command."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nsbom:")[2].splitlines()[1]
    command = recipe.strip().replace("$(BIN)", str(Path(sys.executable).parent)).split()
    out = tmp_path_factory.mktemp("sbom") / "sbom.json"
    subprocess.run([str(out) if word == "sbom.json" else word for word in command], cwd=ROOT, check=True,
                   capture_output=True)  # fmt: skip
    return json.loads(out.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_each_direct_dependency_is_in_it(bill: dict[str, Any]) -> None:
    lock = (ROOT / "requirements-slow.lock").read_text(encoding="utf-8")
    pinned = {
        canonicalize_name(name): version for name, version in re.findall(r"^([\w.-]+)==([^ \\]+)", lock, re.MULTILINE)
    }
    listed = {canonicalize_name(each["name"]): each for each in bill["components"]}

    assert direct() - listed.keys() == set()
    assert {name: each["version"] for name, each in listed.items()} == pinned
    for each in listed.values():
        assert any(reference.get("hashes") for reference in each["externalReferences"]) or each.get("hashes")


@pytest.mark.slow
def test_it_is_of_this_release(bill: dict[str, Any]) -> None:
    component = bill["metadata"]["component"]

    assert (component["name"], component["version"]) == (PROJECT["name"], PROJECT["version"])
    assert PROJECT["license"] in json.dumps(component["licenses"])


def test_page_brings_nothing_of_others() -> None:
    """So there is no package of node to be listed: none is delivered, and no script names one."""
    scripts = [path for folder in ("client", "shared", "aggregator") for path in (ROOT / folder).rglob("*.*js")]
    imported = {name for path in scripts for name in re.findall(r'from "([^"]+)"', path.read_text(encoding="utf-8"))}

    assert len(scripts) > 60
    assert not [
        path for folder in ("client", "shared", "aggregator") for path in (ROOT / folder).rglob("package*.json")
    ]
    assert {name for name in imported if not name.startswith((".", "/", "node:"))} == set()


INSTALLERS = ("editables", "hatchling")
"""What installs the checkout itself into the environment."""


def pins(file: str) -> dict[str, str]:
    """The hashes of each pinned version of a lock, whatever the system that it is for."""
    text = (ROOT / file).read_text(encoding="utf-8")
    blocks = re.split(r"\n(?=\S)", text.strip())
    return {block.split()[0]: " ".join(re.findall(r"sha256:\w+", block)) for block in blocks}


def needed(requirements: Iterable[str], found: set[str]) -> set[str]:
    """Names of these packages and of all that they need on this system, added to those found."""
    for requirement in (Requirement(each) for each in requirements):
        name = canonicalize_name(requirement.name)
        if name not in found and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            found.add(name)
            needed(requires(name) or [], found)
    return found


def test_demo_installs_what_the_aggregator_needs_and_nothing_else() -> None:
    """Each pin is one of all tests, and those are of the long tests, hashes included."""
    wanted = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["aggregator"], *INSTALLERS]
    all_pins, demo = pins("requirements.lock"), pins("requirements-demo.lock")

    assert demo.items() <= all_pins.items() <= pins("requirements-slow.lock").items()
    here = {canonicalize_name(name) for name in (re.split("==", pin)[0] for pin in demo)}
    assert needed(wanted, set()) <= here
    assert here - needed(wanted, set()) <= {"tzdata", "uvloop"}


def test_every_direct_dependency_has_its_reason() -> None:
    rows = re.findall(r"^\|[^|]*\|([^|]*)\|", (ROOT / "docs/dependencies.md").read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name for cell in rows for name in re.findall(r"`([\w-]+)`", cell)}

    assert set(map(canonicalize_name, listed)) == direct()
