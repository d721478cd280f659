"""The running aggregator keeps to its description, whatever is sent: what fits is taken, all else refused in words."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import requests

from tests.conftest import Running, start
from tests.surveys import survey

pytestmark = pytest.mark.slow

SETTINGS = Path(__file__).with_name("schemathesis.toml")
EXAMPLES = 8
"""For each route, beside those that its description asks for."""


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A real aggregator with a survey for each purpose."""
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
    """Every route, with random requests that its description allows, and with some that it does not."""
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
    """A reply without what the description says that it has."""
    said = requests.get(f"{described.url}/openapi.json", timeout=15).json()
    said["components"]["schemas"]["token-counts"]["required"].append("lost")
    (tmp_path / "wrong.json").write_text(json.dumps(said), encoding="utf-8")
    options = ("--include-operation-id", "tokens.stats", "--phases", "fuzzing", "--max-examples", "3")

    assert '"lost" is a required property' in findings(described, tmp_path, *options, description="wrong.json")
