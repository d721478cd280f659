"""Reports as CSV and Parquet: what was stored, once a row, empty where not asked."""

import csv
import importlib
from collections import Counter
from pathlib import Path

import duckdb
import pytest
from sottovoce.aggregator.export.catalogue import SINGLE, Source
from sottovoce.aggregator.export.tables import write_reports_parquet
from sottovoce.aggregator.file_formats import optional_imports
from sottovoce.shared.errors import EstimateError

from tests.exported import TODAY, published, send, source
from tests.surveys import document, survey


def stored(every: Source) -> Counter[tuple[float | None, ...]]:
    """The reports in memory, as rows; the distance is half a kilometre a step, and in its own unit in files."""
    columns = [(column / 2 if name == "far" else column).tolist() for name, column in every.reports.columns.items()]
    return Counter(zip(*columns, every.reports.wave.tolist(), every.reports.revision.tolist(), strict=True))


def test_csv_has_a_column_for_each_question_and_a_row_for_each_report(every: Source, folder: Path) -> None:
    """The header names the questions, then wave and revision."""
    with (folder / "reports.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))

    assert header == [*every.reports.columns, "_wave", "_revision"]
    assert Counter(tuple(map(float, row)) for row in rows) == stored(every)


def test_parquet_read_by_duckdb_holds_the_same_reports_sorted(every: Source, folder: Path) -> None:
    """Sorted, so that there is no order to tell anything; the survey is named in the file itself."""
    with duckdb.connect() as connection:
        path = str(folder / "reports.parquet")
        rows = connection.read_parquet(path).fetchall()
        told = connection.sql("SELECT key, value FROM parquet_kv_metadata($file)", params={"file": path}).fetchall()

    assert Counter(rows) == stored(every)
    assert rows == sorted(rows)
    assert {key.decode(): value.decode() for key, value in told} == every.about.pairs


def test_parquet_follows_from_the_set_of_reports(every: Source, folder: Path, tmp_path: Path) -> None:
    """Another order of the same reports makes the same bytes."""
    reports = every.reports
    write_reports_parquet(tmp_path / "again.parquet", reports.taken(reports.wave.argsort()[::-1]), every.about)
    assert (tmp_path / "again.parquet").read_bytes() == (folder / "reports.parquet").read_bytes()


def test_question_that_was_not_asked_is_an_empty_cell(tmp_path: Path) -> None:
    """And a question that is called wave is none of the two additional columns."""
    questions = document()["questions"]
    questions[0]["name"] = "wave"
    asked = survey(questions=questions, ask=1)
    storage = published(tmp_path, asked)
    send(storage, asked, [(1, None, 0)] * 6 + [(None, 2, 0)] * 5)
    storage.close_survey("exam", TODAY)
    for name in ("reports.csv", "reports.parquet"):
        SINGLE[name](source(storage, asked), tmp_path / name)
    storage.close()

    lines = (tmp_path / "reports.csv").read_text().splitlines()
    assert lines[0] == "wave,reason,year,_wave,_revision"
    assert Counter(lines[1:]) == {"1,,0,0,1": 6, ",2,0,0,1": 5}
    with duckdb.connect() as connection:
        rows = connection.read_parquet(str(tmp_path / "reports.parquet")).fetchall()
    assert Counter(rows) == {(1, None, 0, 0, 1): 6, (None, 2, 0, 0, 1): 5}


@pytest.mark.parametrize("name", ["reports.parquet", "reports.sav", "reports.dta"])
def test_file_whose_library_is_missing_says_what_to_install(
    every: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A plain [aggregator] has none of the three."""

    def absent(name: str) -> None:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr(optional_imports, "importlib", type("Absent", (), {"import_module": staticmethod(absent)}))
    with pytest.raises(EstimateError, match=r"\.\[files\]"):
        SINGLE[name](every, tmp_path / name)
    assert importlib.import_module("duckdb")


@pytest.mark.slow
def test_duckdb_counts_parquet_and_csv_alike(every: Source, folder: Path, tmp_path: Path) -> None:
    """Each row as often as it was stored: every type, declined answers, numbers and days beside rare ones left out."""
    shown = {"public": True, "in_files": True}
    far = {**shown, "type": "decimal", "name": "far", "label": {"en": "Far?"}, "min": "-2", "max": "10", "step": "0.1"}
    born = {**shown, "type": "date", "name": "born", "label": {"en": "Born?"}, "min": "1900-01-01", "max": "2000-01-01"}
    asked = survey(questions=[{**document()["questions"][1], "absent_category": True}, far, born])
    storage = published(tmp_path, asked)
    send(storage, asked, [(step % 4, step, step * 9) for step in range(0, 121, 10) for _ in range(6)])
    send(storage, asked, [(None, 3, 25_000)] * 4 + [(0, None, None)] * 5 + [(3, 7, 400)])
    storage.close_survey("exam", TODAY)
    for name in ("reports.parquet", "reports.csv"):
        SINGLE[name](source(storage, asked), tmp_path / name)
    storage.close()

    for place, reports in ((folder, len(every.reports)), (tmp_path, 13 * 6 + 10)):
        read = [Counter(duckdb.sql(f"FROM '{place}/reports.{kind}'").fetchall()) for kind in ("parquet", "csv")]
        assert read[0] == read[1]
        assert read[0].total() == reports
    assert any("few" in row for row in read[0])
