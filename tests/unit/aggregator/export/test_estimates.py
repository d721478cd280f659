"""The table of estimates: as CSV and as a workbook without formulas."""

import csv
import json
import zipfile
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.worked_example import results_in_words
from sottovoce.aggregator.export.catalogue import COLUMNS, SINGLE, Source, write_estimates_xlsx
from sottovoce.aggregator.i18n.translator import ENGLISH
from sottovoce.shared.mechanisms.square_wave import SquareWave

from tests.exported import TODAY, drawn, published, send, source
from tests.surveys import months, survey

SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def rows(folder: Path) -> list[dict[str, str]]:
    """The rows of estimates.csv."""
    with (folder / "estimates.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_estimates_are_those_of_the_results(every: Source, folder: Path) -> None:
    """One row an estimate, of everybody and of each cohort, with survey, revision, digest, epsilon and version."""
    results = analyse(every.revisions)
    whole = [row for row in rows(folder) if not row["cohort"]]

    shares = [each for result in results.questions for each in result.estimates if not result.of_kind("mean")]
    found = [row for row in whole if row["kind"] == "share" and row["type"] not in {"integer", "decimal", "date"}]
    assert [float(row["raw"]) for row in found] == pytest.approx([each.raw for each in shares])
    assert {row["cohort"] for row in rows(folder)} == {"", *(group.name for group in results.cohorts)}
    assert {row["digest"] for row in rows(folder)} == {results.survey.digest}
    assert all(row["version"] and row["epsilon_total"] for row in rows(folder))


def test_ranges_have_empty_limits_and_their_reason_in_every_file(every: Source, folder: Path) -> None:
    """CSV and JSON have none; codebook and methods say why, and so does the terminal."""
    name = next(each.name for each in every.about.survey.questions if isinstance(each.mechanism, SquareWave))
    ranges = [row for row in rows(folder) if row["question"] == name and row["kind"] == "share"]
    exported = json.loads((folder / "export.json").read_text(encoding="utf-8"))
    asked = next(each for each in exported["questions"] if each["name"] == name)
    told = results_in_words(analyse(every.revisions))

    assert {(row["low"], row["high"], row["std_error"], row["method"]) for row in ranges} == {("", "", "", "none")}
    assert {(bar["low"], bar["high"], bar["std_error"]) for bar in asked["histogram"]} == {(None, None, None)}
    jsonschema.validate(
        exported, json.loads(files("sottovoce.shared").joinpath("schema/export.schema.json").read_text())
    )
    why = ENGLISH.words.translate("results_no_limits")
    for text in ("codebook.html", "methods.md"):
        assert why in " ".join((folder / text).read_text(encoding="utf-8").split())
    assert f"{name}: {why}" in told


def test_workbook_holds_the_same_rows_and_no_formula(folder: Path) -> None:
    """Read by unzipping: whatever begins with an equals sign is a text."""
    with zipfile.ZipFile(folder / "estimates.xlsx") as book:
        sheets = [ET.fromstring(book.read(f"xl/worksheets/sheet{number}.xml")) for number in (1, 2)]  # noqa: S314
        texts = ET.fromstring(book.read("xl/sharedStrings.xml"))  # noqa: S314
        names = book.namelist()

    shared = ["".join(item.itertext()) for item in texts]
    assert [name for name in names if "vba" in name.lower() or "external" in name.lower()] == []
    assert [cell for sheet in sheets for cell in sheet.iter(f"{SHEET}f")] == []
    lines = [[cell for cell in row.iter(f"{SHEET}c")] for row in sheets[0].iter(f"{SHEET}row")]
    assert len(lines) == len(rows(folder)) + 1
    assert [shared[int(cell[0].text or 0)] for cell in lines[0]] == list(COLUMNS)


def test_label_that_looks_like_a_formula_is_a_text_in_the_workbook(every: Source, tmp_path: Path) -> None:
    """The library would make a formula of it, if it were not told."""
    wild = survey(
        questions=[{"type": "boolean", "name": "q", "label": {"en": "=1+1"}, "mechanism": {"name": "coin_flip"}}]
    )
    write_estimates_xlsx(
        tmp_path / "e.xlsx", [every.revisions[0].__class__(every.revisions[0].stored, wild, ())], every.about
    )
    with zipfile.ZipFile(tmp_path / "e.xlsx") as book:
        assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")
        assert b"=1+1" in book.read("xl/sharedStrings.xml")


def test_workbook_is_the_same_on_every_day(every: Source, folder: Path, tmp_path: Path) -> None:
    """So that its SHA-256 says something."""
    write_estimates_xlsx(tmp_path / "again.xlsx", every.revisions, every.about)
    assert (tmp_path / "again.xlsx").read_bytes() == (folder / "estimates.xlsx").read_bytes()


def test_estimates_of_one_wave_come_alone(tmp_path: Path) -> None:
    """Without it everybody's come first, then each wave's."""
    asked = survey(waves=months(2))
    storage = published(tmp_path, asked)
    for wave in (0, 1):
        send(storage, asked, drawn(asked, 50 + wave), wave)
    storage.close_survey("exam", TODAY)
    waves = {}
    for wave in (None, 1):
        SINGLE["estimates.csv"](source(storage, asked, wave=wave), tmp_path / "estimates.csv")
        waves[wave] = {(row["wave"], row["n"]) for row in rows(tmp_path) if not row["cohort"]}
    storage.close()

    assert waves == {None: {("", "101"), ("0", "50"), ("1", "51")}, 1: {("1", "51")}}
