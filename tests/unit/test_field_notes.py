"""What the field notes say of other tools can be run."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
FINDINGS = {path.name for path in (ROOT / "findings").glob("*.sh")}


def test_every_line_is_held_by_a_finding_or_a_test() -> None:
    """A line names a script of findings/ or a file of tests, each script has a line, and the page stays short."""
    text = (ROOT / "docs" / "field_notes.md").read_text(encoding="utf-8")
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    held = [cells[3].strip("`") for cells in lines]
    other = [name for name in held if name not in FINDINGS]

    assert {len(cells) for cells in lines} == {5}
    assert set(held) >= FINDINGS
    assert [name for name in other if not (name.startswith("tests/") and (ROOT / name).is_file())] == []
    assert len(text.splitlines()) <= 40
