"""What importing the client brings in: ``requests`` and the agreement, and nothing that a device does not need."""

import json
import subprocess
import sys

import pytest

TELL = "import json, sys; print(json.dumps(sorted(sys.modules)))"


def loaded(program: str) -> set[str]:
    run = subprocess.run([sys.executable, "-c", f"{program}; {TELL}"], capture_output=True, check=True, timeout=60)
    return set(json.loads(run.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def added() -> set[str]:
    return loaded("from sottovoce.client import FileLedger, MemoryLedger, Respondent") - loaded("import requests")


def test_client_brings_in_no_other_library(added):
    names = {name.split(".")[0] for name in added} - sys.stdlib_module_names

    assert names == {"sottovoce"}
    assert {".".join(name.split(".")[:2]) for name in added if name.startswith("sottovoce.")} == {
        "sottovoce.client",
        "sottovoce.shared",
    }


def test_client_brings_in_little_of_the_standard_library(added):
    """Beside what ``requests`` needs anyway; each of these costs every start some time."""
    exact = {"_decimal", "decimal", "fractions", "numbers"}
    records = {"_ast", "_opcode", "ast", "dataclasses", "dis", "inspect", "opcode"}
    device = {"fcntl", "secrets"}

    assert {name.split(".")[0] for name in added} <= {"sottovoce"} | exact | records | device


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_list_of_verbs_imports_no_verb(words):
    """It is shown at once: neither the network nor the aggregator's libraries are loaded for it."""
    names = loaded(
        "import contextlib, io\nfrom sottovoce.cli.main import main\n"
        f"with contextlib.redirect_stdout(io.StringIO()):\n main({words!r}, standalone_mode=False)\n0"
    )

    shown = {f"sottovoce.cli.{name}" for name in ("main", "group", "tree")}
    assert {name for name in names if name.startswith("sottovoce.cli.")} == shown
    assert not names & {"requests", "flask", "numpy", "rich", "yaml", "msgspec", "sottovoce.client"}
