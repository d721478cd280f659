"""The page of published results is true: its figures are what the program makes of its counts."""

import re
from pathlib import Path
from typing import Any

PAGE = (Path(__file__).parents[2] / "docs" / "replications.md").read_text(encoding="utf-8")


def _column(heading: str, table: str) -> list[str]:
    header, _, *rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in table.splitlines()]
    return [row[header.index(heading)] for row in rows]


def test_every_figure_of_the_page_is_what_its_python_makes() -> None:
    """Beside at least eight published ones, with a reason where two differ."""
    compared, others = re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE)
    made: dict[str, Any] = {}
    exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], made)  # type: ignore[index]  # noqa: S102 - our own page

    assert _column("here", compared) == made["compared"]
    assert _column("here", others) == made["others"]
    published, reasons = _column("published", compared), _column("why they differ", compared)
    pairs = zip(published, made["compared"], reasons, strict=True)
    assert [here for there, here, why in pairs if (there.removesuffix(", R") in here) != (why == "no difference")] == []
    assert len(published) >= 8
