"""What ``make sbom`` writes: whoever looks for a package with a fault finds it there, with its version and hashes."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
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
    """And whatever those bring along: as many as are pinned, each with its version and hashes."""
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
    """Its name, version and licence."""
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
