"""The packages of ``make demo``: those of the aggregator's extra, in the versions and with the hashes of all tests."""

import re
from collections.abc import Iterable
from importlib.metadata import requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.unit.test_sbom import PROJECT, ROOT, direct

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
    """In the table of docs/dependencies.md, and the table names no package that is gone."""
    rows = re.findall(r"^\|[^|]*\|([^|]*)\|", (ROOT / "docs/dependencies.md").read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name for cell in rows for name in re.findall(r"`([\w-]+)`", cell)}

    assert set(map(canonicalize_name, listed)) == direct()
