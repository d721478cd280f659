"""Run the tests on each mutant of ``mutants.yaml`` in a copy of the repository, and say which test kills it.

Each mutant meets ever more tests, until one fails: those that killed it in an earlier run, those that name its module,
all that need no server and no browser, and all others. The copy is edited in place: subprocesses see the mutant too.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.edits import ROOT, Edit, load_edits

MUTANTS = Path(__file__).with_name("mutants.yaml")
PACKAGES = ("aggregator", "client", "shared")
SKIPPED = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "node_modules", "site")
STAGES = ("earlier", "related", "fast", "slow")
FAST = ("tests/unit", "tests/vectors", "tests/property", "tests/storage")
SLOW = ("tests/journey", "tests/browser")
MINUTES = 60

SOURCE_READERS = (
    "tests/mutation",
    "tests/planted",
    "tests/unit/test_completeness.py",
    "tests/unit/test_documentation.py",
    "tests/unit/test_imports.py",
    "tests/unit/test_packages.py",
    "tests/unit/test_size.py",
    "tests/unit/test_sources.py",
    "tests/unit/client/test_web_sources.py",
)
"""Tests that read source text: that they fail does not show that a promise is tested."""


def main() -> None:
    """Run the mutants that are not in the output file yet, or those that are named."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.run", description=__doc__)
    parser.add_argument("names", nargs="*", help="mutants to run; all if none is named")
    parser.add_argument("--tests", type=Path, default=ROOT, help="the tree whose source and tests are run")
    parser.add_argument("--earlier", type=Path, help="output of an earlier run: its killing tests are tried first")
    parser.add_argument("--output", type=Path, default=Path("mutants.json"), help="written after each mutant")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES)
    asked = parser.parse_args()
    earlier = read(asked.earlier)
    results = read(asked.output)
    wanted = [edit for edit in load_edits(MUTANTS) if edit.name in asked.names or not asked.names]
    with copy_of(asked.tests) as folder:
        for edit in wanted:
            known = results.get(edit.name, {})
            stages = [stage for stage in asked.stages if stage not in known.get("stages", [])]
            if not known.get("killed_by") and stages:
                results[edit.name] = run_mutant(folder, edit, stages, earlier.get(edit.name, {}), known)
                asked.output.write_text(json.dumps(results, indent=1), encoding="utf-8")
                print(edit.name, results[edit.name]["killed_by"] or "survives", flush=True)
        for name in failing_without_mutant(folder, [results[edit.name]["killed_by"] for edit in wanted]):
            print("fails without any mutant too:", name)
    print_summary(wanted, results)


def read(path: Path | None) -> dict[str, Any]:
    """Return the results in a file; none if there is no such file."""
    return json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}


@contextmanager
def copy_of(tree: Path) -> Iterator[Path]:
    """Make a copy of a tree that can be edited; packages of node are not copied."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name) / "tree"
        shutil.copytree(tree, folder, ignore=SKIPPED, symlinks=True)
        for modules in tree.glob("tests/**/node_modules"):
            if "node_modules" not in modules.parent.parts:
                (folder / modules.relative_to(tree)).symlink_to(modules.resolve())
        yield folder


def run_mutant(
    folder: Path, edit: Edit, stages: Sequence[str], earlier: dict[str, Any], known: dict[str, Any]
) -> dict[str, Any]:
    """Return the test that kills this mutant, and the stages that it went through."""
    passed = list(known.get("stages", []))
    with planted(folder, edit):
        for stage in stages:
            passed.append(stage)
            found = failures(folder, tests_of(stage, folder, edit, earlier), "-x")
            if found:
                return {"killed_by": found[0], "stages": passed}
    return {"killed_by": None, "stages": passed}


@contextmanager
def planted(folder: Path, edit: Edit) -> Iterator[None]:
    """Keep an edit in a copy for a while."""
    file = folder / edit.file
    text = file.read_text(encoding="utf-8")
    file.write_text(edit.apply(text), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(text, encoding="utf-8")


def tests_of(stage: str, folder: Path, edit: Edit, earlier: dict[str, Any]) -> list[str]:
    if stage == "earlier":
        known = earlier.get("killed_by") or earlier.get("tests") or []
        tests = [known] if isinstance(known, str) else known
        return [test for test in tests if (folder / test.partition("::")[0]).exists()]
    if stage == "related":
        return related(folder, edit)
    return [each for each in (FAST if stage == "fast" else SLOW) if (folder / each).exists()]


def related(folder: Path, edit: Edit) -> list[str]:
    """Return the twin of a module, the tests that name it and those of its folder; for JavaScript those of node."""
    if edit.file.endswith(".js"):
        return ["tests/vectors/test_javascript.py"]
    module = Path(edit.file)
    package = ".".join(module.parts[1:-1])
    named = re.compile(rf"\b{re.escape(package)}(?:\.| import (?:\w+, )*){module.stem}\b")
    paths = [path.relative_to(folder) for tests in FAST for path in sorted((folder / tests).rglob("test_*.py"))]
    twins = [path for path in paths if path.name == f"test_{module.stem}.py"]
    naming = [path for path in paths if named.search((folder / path).read_text(encoding="utf-8"))]
    beside = [path for path in paths if module.parts[-2] in path.parts]
    return list(dict.fromkeys(str(path) for path in (*twins, *naming, *beside)))


def failures(folder: Path, tests: Sequence[str], *options: str) -> list[str]:
    """Return the tests that fail on a copy, but for those that read source."""
    tests = [test for test in tests if not test.startswith(SOURCE_READERS)]
    if not tests:
        return []
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*(str(folder / package) for package in PACKAGES), str(folder)]),
        # Compiled modules are told apart by time and size, which a mutant may leave as they are.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", "-m", "not slow"]
    command += ["--timeout", "120", *options, *(f"--ignore={each}" for each in SOURCE_READERS), *tests]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as ended:
        try:
            out, errors = ended.communicate(timeout=60 * MINUTES)
        except subprocess.TimeoutExpired:
            return ["no end"]
        finally:
            # A mutant that never ends runs on in what the tests have started.
            with suppress(ProcessLookupError):
                os.killpg(ended.pid, signal.SIGKILL)
    found = re.findall(r"^(?:FAILED|ERROR) (\S+(?:\[.*?\])?)(?= - |$)", out, re.MULTILINE)
    if ended.returncode in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        return []
    if "ERROR: not found:" in errors:
        return []  # the test that killed the mutant in an earlier run is gone
    # Where no test can even be collected, the last line of the output says why.
    return found or (out + errors).splitlines()[-1:] or [f"exit code {ended.returncode}"]


def failing_without_mutant(folder: Path, killers: Sequence[str | None]) -> list[str]:
    """Return those of the killing tests that fail on the unchanged source: they have killed nothing."""
    return failures(folder, sorted({killer for killer in killers if killer and killer.startswith("tests/")}))


def print_summary(wanted: Sequence[Edit], results: dict[str, Any]) -> None:
    total = Counter(edit.name.rpartition("_")[0] for edit in wanted)
    killed = Counter(edit.name.rpartition("_")[0] for edit in wanted if results[edit.name]["killed_by"])
    for stratum, number in total.items():
        print(f"{stratum}: {killed[stratum]} of {number} killed")


if __name__ == "__main__":
    main()
