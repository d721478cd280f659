"""The page of field notes is true: what each of its lines is shown by is there."""

import re

from tests.unit.test_imports import ROOT
from tests.unit.test_sources import functions

PAGE = (ROOT / "docs" / "field_notes.md").read_text(encoding="utf-8")
LINES = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")][1:]
FINDINGS = {path.name for path in (ROOT / "findings").glob("*.sh")}


def is_there(name: str) -> bool:
    """Whether a finding is in its folder, or a test in its file."""
    path, _, test = name.partition("::")
    return name in FINDINGS or (test != "" and (ROOT / path).is_file() and test in functions(path))


def test_every_line_is_shown_and_says_version_and_what_this_program_does() -> None:
    """By a finding or a test that exists."""
    assert len(PAGE.splitlines()) <= 40
    assert [line[0] for line in LINES if len(line) != 5 or not re.search(r"\d\.\d", line[2])] == []

    shown = {line[0]: re.findall(r"`([^`]+)`", line[3]) for line in LINES}
    named = [name for names in shown.values() for name in names]

    assert len(shown) == len(LINES)
    assert [line for line, names in shown.items() if not names] == []
    assert [name for name in named if not is_there(name)] == []
    assert FINDINGS - set(named) == set()
