"""No cell of ours is computed by a spreadsheet."""

import csv
from pathlib import Path

from sottovoce.aggregator.file_formats.csv_cells import harmless, write_csv
from sottovoce.aggregator.file_formats.provenance import About

from tests.surveys import survey


def test_text_that_a_spreadsheet_would_compute_is_quoted() -> None:
    """An apostrophe before it makes it a text; a negative estimate is a number, and stays one."""
    for text in ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"):
        assert harmless(text) == f"'{text}"
    for cell in (-1, -0.5, "1-1", "a=b", "", None, True):
        assert harmless(cell) is cell


def test_table_is_utf_8_with_one_header(tmp_path: Path) -> None:
    """Texts with commas, quotes and line ends come back as they were."""
    write_csv(tmp_path / "a.csv", About.of(survey()), ["é", "=b"], [('x, "y"\nz', None)])
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["é", "'=b"], ['x, "y"\nz', ""]]
