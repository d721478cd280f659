"""The description of the API: the running aggregator keeps to it, and clients can be made of it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import requests
from sottovoce.aggregator.app import ROUTES
from sottovoce.aggregator.http.openapi import describe

from tests.conftest import Running, start
from tests.surveys import survey

pytestmark = pytest.mark.slow

SETTINGS = Path(__file__).with_name("schemathesis.toml")
EXAMPLES = 8
"""For each route, beside those that its description asks for."""
TOOLS = Path(__file__).parents[1] / "openapi"
"""Generators and a linter, each in the environment that its lock describes."""

IMPORT_ALL = """import importlib, pkgutil, generated
for module in pkgutil.walk_packages(generated.__path__, "generated."):
    print(importlib.import_module(module.name).__name__)"""


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with start(tmp_path_factory.mktemp("described") / "data", survey()) as running:
        storage = running.storage()
        for name, access in (("over", "open"), ("gone", "open"), ("invited", "token")):
            storage.publish(survey(name=name, access=access))
        storage.close()
        yield running


def findings(running: Running, folder: Path, *options: str, description: str = "") -> str:
    """What schemathesis found; "" for nothing. The description is the aggregator's own, or in a file."""
    command = [Path(sys.executable).with_name("schemathesis"), "--config-file", SETTINGS, "run", "--no-color"]
    place = [description or f"{running.url}/openapi.json", "--url", running.url]
    ended = subprocess.run(
        [*command, *place, *options],
        check=False, capture_output=True, text=True, cwd=folder, timeout=1800,
        env={**os.environ, "RESEARCHER_KEY": running.token},
    )  # fmt: skip
    return ended.stdout + ended.stderr if ended.returncode else ""


def test_application_keeps_to_its_description(described: Running, tmp_path: Path) -> None:
    found = findings(described, tmp_path, "--phases", "examples,fuzzing", "--max-examples", str(EXAMPLES))
    assert not found, found
    with closing(described.storage()) as storage:
        # A survey that was sent is a good one, and goes the way to its end.
        assert len(storage.revisions("exams")) >= 1


def test_application_keeps_to_its_description_for_ten_minutes(described: Running, tmp_path: Path) -> None:
    """The same, every boundary of the description, and requests that follow from replies."""
    found = findings(described, tmp_path, "--max-time", "600")
    assert not found, found


def test_breach_of_a_description_would_be_found(described: Running, tmp_path: Path) -> None:
    said = requests.get(f"{described.url}/openapi.json", timeout=15).json()
    said["components"]["schemas"]["TokenCounts"]["required"].append("lost")
    (tmp_path / "wrong.json").write_text(json.dumps(said), encoding="utf-8")
    options = ("--include-operation-id", "tokens.stats", "--phases", "fuzzing", "--max-examples", "3")

    assert '"lost" is a required property' in findings(described, tmp_path, *options, description="wrong.json")


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("description") / "openapi.json"
    file.write_text(json.dumps(describe(ROUTES)), encoding="utf-8")
    return file


def run(*command: str | Path, folder: Path) -> str:
    paths = os.pathsep.join([str(TOOLS / ".venv/bin"), str(TOOLS / "node_modules/.bin"), os.environ["PATH"]])
    ended = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=folder, env={**os.environ, "PATH": paths}
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def operations(description: Path) -> set[str]:
    paths = json.loads(description.read_text(encoding="utf-8"))["paths"]
    return {at[method]["operationId"] for at in paths.values() for method in at if method != "parameters"}


def test_python_client_has_every_operation(description: Path, tmp_path: Path) -> None:
    """Nothing of the description is left out, and each module can be imported."""
    said = run(
        "openapi-python-client", "generate", "--path", description, "--output-path", "generated", "--meta", "none",
        folder=tmp_path,
    )  # fmt: skip
    modules = run(TOOLS / ".venv/bin/python", "-c", IMPORT_ALL, folder=tmp_path).split()

    assert "Warning" not in said, said
    made = {module.split(".")[-1] for module in modules if module.count(".") == 3 and ".api." in module}
    assert made == {name.replace(".", "_") for name in operations(description)}


def test_typescript_client_compiles_and_has_every_operation(description: Path, tmp_path: Path) -> None:
    run("openapi-typescript", description, "-o", "api.ts", folder=tmp_path)
    run("tsc", "--noEmit", "--strict", "api.ts", folder=tmp_path)

    types = (tmp_path / "api.ts").read_text(encoding="utf-8")
    assert {name for name in operations(description) if f'operations["{name}"]' in types} == operations(description)


def test_linter_of_descriptions_finds_no_error(description: Path, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text('extends: ["spectral:oas"]\n', encoding="utf-8")

    said = run("spectral", "lint", "-r", "rules.yaml", "--fail-severity", "error", description, folder=tmp_path)
    assert "(0 errors" in said, said
