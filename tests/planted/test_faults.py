"""Each fault of the list is planted in a copy of the sources, and the test that is named beside it must fail there."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tests.planted.faults import FAULTS, JAVASCRIPT, Fault

ROOT = Path(__file__).parents[2]
ROOMS = ("aggregator", "client", "shared")
"""Folders with packages in them."""

LEFT_OUT = shutil.ignore_patterns("__pycache__", "node_modules", ".*_cache")
SECONDS = 300

KILLERS = sorted({fault.killed_by for fault in FAULTS})

planted = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)


@planted
def test_fault_can_still_be_planted(fault: Fault) -> None:
    """Its code stands in its file just once; where the code has changed, the list is to be repaired."""
    text = (ROOT / fault.file).read_text(encoding="utf-8")

    assert text.count(fault.code) == 1, f"{fault.file} has this {text.count(fault.code)} times: {fault.code}"
    assert fault.planted != fault.code


@pytest.mark.parametrize("killer", KILLERS)
def test_killer_is_there(killer: str) -> None:
    """The test that is named is one of ours."""
    if killer.startswith(JAVASCRIPT):
        file = re.fullmatch(r"sources-(.+\.test\.mjs)\]", killer.removeprefix(JAVASCRIPT))
        assert file is not None
        assert (ROOT / "tests/vectors/javascript" / file[1]).exists()
        return
    path, _, name = killer.partition("::")
    assert name.partition("[")[0] in functions(path)


@cache
def functions(path: str) -> set[str]:
    """The names of all functions in a file of tests."""
    found = ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    return {node.name for node in found if isinstance(node, ast.FunctionDef)}


def test_no_two_faults_are_one() -> None:
    """Each has a name and a change of its own."""
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert len({(fault.file, fault.code, fault.planted) for fault in FAULTS}) == len(FAULTS)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources and the tests, to plant faults in."""
    folder = tmp_path_factory.mktemp("planted")
    for name in (*ROOMS, "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=LEFT_OUT)
    for name in ("pyproject.toml", "README.md", "Makefile"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture
def changed(copy: Path, fault: Fault) -> Iterator[Path]:
    """The copy with one fault in it."""
    file = copy / fault.file
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(fault.code, fault.planted), encoding="utf-8")
    yield copy
    file.write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_killers_pass_where_nothing_is_planted(copy: Path) -> None:
    """A test that fails anyway would find nothing."""
    ended = run(copy, *KILLERS)

    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.slow
@planted
def test_planted_fault_is_found(changed: Path, fault: Fault) -> None:
    """By the test that is named, which fails; not by an error on the way to it."""
    ended = run(changed, fault.killed_by)

    assert is_found(ended, fault), ended.stdout + ended.stderr


HARMLESS = Fault(
    "harmless",
    "shared/sottovoce/shared/rational.py",
    "def show_epsilon(epsilon: float) -> str:\n",
    "def show_epsilon(epsilon: float) -> str:\n\n",
    "tests/unit/shared/test_rational.py::test_show_epsilon_never_rounds_down",
)
BROKEN = replace(HARMLESS, name="broken", planted="def show_epsilon(epsilon: float) -> :\n")


@pytest.mark.slow
@pytest.mark.parametrize("fault", [HARMLESS, BROKEN], ids=lambda fault: fault.name)
def test_what_is_no_slip_is_not_found(changed: Path, fault: Fault) -> None:
    """A change that means nothing, and sources that cannot be run at all."""
    assert not is_found(run(changed, fault.killed_by), fault)


def is_found(ended: subprocess.CompletedProcess[str], fault: Fault) -> bool:
    """Whether the named test itself has failed."""
    return ended.returncode == pytest.ExitCode.TESTS_FAILED and f"FAILED {fault.killed_by}" in ended.stdout


def run(folder: Path, *killers: str) -> subprocess.CompletedProcess[str]:
    """Tests of the copy, on the packages of the copy."""
    paths = [str(folder / room) for room in ROOMS]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*paths, str(folder)]),
        # Compiled modules are told apart by time and size, which a planted fault may leave as they are.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=short", *killers]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
