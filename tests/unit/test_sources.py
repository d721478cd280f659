"""The pages of sources and of field notes are true: every file, test and command that they name is there."""

import ast
import re
from pathlib import Path

from sottovoce.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")


def functions(path: str) -> set[str]:
    nodes = ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def test_every_file_and_test_that_the_page_names_exists() -> None:
    """A statement that moved, or whose test was renamed, would stand there unshown."""
    files = set(re.findall(r"`((?:shared|client|aggregator|tests)/[\w/]+\.\w+)", PAGE))
    tests = set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE))

    assert [path for path in files if not (ROOT / path).is_file()] == []
    assert [name for path, name in tests if name not in functions(path)] == []
    assert (len(files), len(tests)) > (15, 25)
    assert [verb for verb in re.findall(r"`sottovoce (\w+)", PAGE) if verb not in main.places] == []


def test_every_row_has_its_test_or_says_that_there_is_nothing() -> None:
    """No statement without what shows it, and fifteen errors with what guards against them."""
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]
    told = [row for row in rows if not row.startswith(("| statement", "| error"))]

    assert [row for row in told if "::test_" not in row and "nothing to guard" not in row] == []
    assert re.findall(r"^\| (\d+)\. ", PAGE, re.MULTILINE) == [str(number) for number in range(1, 16)]


NOTES = (ROOT / "docs" / "field_notes.md").read_text(encoding="utf-8")
LINES = [line.strip("| ").split(" | ") for line in NOTES.splitlines() if line.startswith("| ")][1:]
FINDINGS = {path.name for path in (ROOT / "findings").glob("*.sh")}


def is_there(name: str) -> bool:
    """Whether a finding is in its folder, or a test in its file."""
    path, _, test = name.partition("::")
    return name in FINDINGS or (test != "" and (ROOT / path).is_file() and test in functions(path))


def test_every_line_of_the_field_notes_is_shown_and_says_version_and_what_this_program_does() -> None:
    assert len(NOTES.splitlines()) <= 40
    assert [line[0] for line in LINES if len(line) != 5 or not re.search(r"\d\.\d", line[2])] == []

    shown = {line[0]: re.findall(r"`([^`]+)`", line[3]) for line in LINES}
    named = [name for names in shown.values() for name in names]

    assert len(shown) == len(LINES)
    assert [line for line, names in shown.items() if not names] == []
    assert [name for name in named if not is_there(name)] == []
    assert FINDINGS - set(named) == set()
