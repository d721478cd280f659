import csv
import importlib
import json
import re
import subprocess
import zipfile
from collections import Counter
from dataclasses import replace
from datetime import date
from importlib.resources import files
from math import ceil, floor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import duckdb
import jsonschema
import numpy as np
import pyreadstat
import pytest
from sottovoce.aggregator.analysis.data_file.read_table import read_table
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.regression.formula import parse_formula
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.worked_example import results_in_words
from sottovoce.aggregator.authoring.templates import template_file
from sottovoce.aggregator.export.archive import write_folder, write_zip
from sottovoce.aggregator.export.catalogue import (
    AT_ANY_TIME,
    COLUMNS,
    OF_REPORTS,
    RELEASED,
    SINGLE,
    WITH_PUBLIC,
    Source,
    estimated_in_words,
    preregistration,
    protection_in_words,
)
from sottovoce.aggregator.export.results_client.sources import with_covariates
from sottovoce.aggregator.export.statistics_files import allowed_names, column_names, cut
from sottovoce.aggregator.export.tables import write_reports_parquet
from sottovoce.aggregator.file_formats import optional_imports
from sottovoce.aggregator.file_formats.csv_cells import harmless, write_csv
from sottovoce.aggregator.file_formats.provenance import TRIAL, About
from sottovoce.aggregator.i18n.translator import ENGLISH
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.shared.errors import EstimateError, SpecError
from sottovoce.shared.mechanisms.square_wave import SquareWave
from sottovoce.shared.rational import show_epsilon

from tests.blocks import block, blocks, in_block
from tests.exported import TODAY, drawn, files_of, published, send, source
from tests.surveys import document, months, survey
from tests.unit.aggregator.analysis.reports import GROUP, ROW, X
from tests.unit.aggregator.analysis.survey_of_reports import reports as reports_of


def stored(every: Source) -> Counter[tuple[float | None, ...]]:
    """The reports in memory, as rows; the distance is half a kilometre a step, and in its own unit in files."""
    columns = [(column / 2 if name == "far" else column).tolist() for name, column in every.reports.columns.items()]
    return Counter(zip(*columns, every.reports.wave.tolist(), every.reports.revision.tolist(), strict=True))


def file(folder: Path, header: str, lines: list[str]) -> Path:
    path = folder / "mine.csv"
    path.write_text("\n".join([header, *lines, ""]))
    return path


SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "estimates.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_has_a_column_for_each_question_and_a_row_for_each_report(every: Source, folder: Path) -> None:
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
    reports = every.reports
    write_reports_parquet(tmp_path / "again.parquet", reports.taken(reports.wave.argsort()[::-1]), every.about)
    assert (tmp_path / "again.parquet").read_bytes() == (folder / "reports.parquet").read_bytes()


def test_question_that_was_not_asked_is_an_empty_cell(tmp_path: Path) -> None:
    """And a question that is called wave is none of the two additional columns."""
    questions = document()["questions"]
    questions[0]["name"] = "wave"
    asked = survey(questions=questions, ask=1)
    files_of(tmp_path, (asked, [(1, None, 0)] * 6 + [(None, 2, 0)] * 5), names=("reports.csv", "reports.parquet"))

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
    shown = {"public": True, "in_files": True}
    far = {**shown, "type": "decimal", "name": "far", "label": {"en": "Far?"}, "min": "-2", "max": "10", "step": "0.1"}
    born = {**shown, "type": "date", "name": "born", "label": {"en": "Born?"}, "min": "1900-01-01", "max": "2000-01-01"}
    asked = survey(questions=[{**document()["questions"][1], "absent_category": True}, far, born])
    rows = [(step % 4, step, step * 9) for step in range(0, 121, 10) for _ in range(6)]
    rows += [(None, 3, 25_000)] * 4 + [(0, None, None)] * 5 + [(3, 7, 400)]
    files_of(tmp_path, (asked, rows), names=("reports.parquet", "reports.csv"))

    for place, reports in ((folder, len(every.reports)), (tmp_path, 13 * 6 + 10)):
        read = [Counter(duckdb.sql(f"FROM '{place}/reports.{kind}'").fetchall()) for kind in ("parquet", "csv")]
        assert read[0] == read[1]
        assert read[0].total() == reports
    assert any("few" in row for row in read[0])


def test_covariate_is_a_predictor_like_a_public_question(tmp_path: Path) -> None:
    """Names and numbers in their own unit, however many; the same model as with the survey's own columns."""
    incomes = 10_000 + 37.5 * ROW
    lines = [f"{'north' if g else 'south'},{x:.2f},{income}" for g, x, income in zip(GROUP, X, incomes, strict=True)]
    given = with_covariates(reports_of(), file(tmp_path, "region,score,income", lines))
    own = regress(reports_of(), "said", parse_formula("x*g"))
    found = regress(given, "said", parse_formula('score*C(region, ref="south")'))

    assert [each.term for each in found.coefficients] == ["(constant)", "score", "region=north", "score:region=north"]
    for one, other in zip(found.coefficients, own.coefficients, strict=True):
        assert one.estimate == pytest.approx(other.estimate, abs=1e-9)
    linear = regress(given, "income", ["x"])
    slope = np.polyfit(X, incomes, 1)[0]
    assert linear.coefficients[1].estimate == pytest.approx(slope, rel=1e-9)
    among = parse_request("crosstab", {"rows": "region", "columns": "said", "where": "income > 20000"}).document(given)
    assert among["n"] == (incomes > 20_000).sum()


def test_missing_covariate_leaves_the_report_out(tmp_path: Path) -> None:
    lines = ["" if row < 100 else "ab"[row % 2] for row in ROW]
    given = with_covariates(reports_of(), file(tmp_path, "arm,more", [f"{arm},1" for arm in lines]))
    assert (regress(given, "said", ["arm"]).n, regress(given, "said", ["x"]).n) == (500, 600)


@pytest.mark.parametrize(
    ("header", "count", "words"),
    [
        ("arm", 599, "599 lines for 600 reports"),
        ("said", 600, "the survey has a question 'said'"),
        ("arm,arm", 600, "mine.csv"),
    ],
)
def test_covariates_that_do_not_fit_are_refused(tmp_path: Path, header: str, count: int, words: str) -> None:
    lines = [",".join(["ab"[row % 2]] * (header.count(",") + 1)) for row in range(count)]
    with pytest.raises(SpecError, match=words):
        with_covariates(reports_of(), file(tmp_path, header, lines))


def test_text_that_a_spreadsheet_would_compute_is_quoted() -> None:
    """An apostrophe before it makes it a text; a negative number stays one, as a text too: files are joined by it."""
    for text in ("=1+1", "+1", "-1+2", "-1\n", "--1", "-A1", "@SUM(A1)", "\t=1", "\r=1"):
        assert harmless(text) == f"'{text}"
    for cell in (-1, -0.5, "-1", "-0.5", "1-1", "a=b", "", None, True):
        assert harmless(cell) is cell


def test_table_is_utf_8_with_one_header(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", About.of(survey()), ["é", "=b"], [('x, "y"\nz', None)])
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["é", "'=b"], ['x, "y"\nz', ""]]


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
    counts = every.revisions[0].__class__(every.revisions[0].stored, wild, ())
    SINGLE["estimates.xlsx"](replace(every, revisions=[counts]), tmp_path / "e.xlsx")
    with zipfile.ZipFile(tmp_path / "e.xlsx") as book:
        assert b"<f>" not in book.read("xl/worksheets/sheet1.xml")
        assert b"=1+1" in book.read("xl/sharedStrings.xml")


def test_workbook_is_the_same_on_every_day(every: Source, folder: Path, tmp_path: Path) -> None:
    """So that its SHA-256 says something."""
    SINGLE["estimates.xlsx"](every, tmp_path / "again.xlsx")
    assert (tmp_path / "again.xlsx").read_bytes() == (folder / "estimates.xlsx").read_bytes()


def test_columns_of_numbers_have_numbers_only(every: Source, folder: Path) -> None:
    """R reads a column with one date as text; dates are days since 1970-01-01, and stand in words in the label."""
    numeric = {*COLUMNS[COLUMNS.index("n") : COLUMNS.index("among")], "epsilon", "epsilon_total", "revision"} - {
        "method"
    }
    told = [row[column] for row in rows(folder) for column in numeric if row[column]]
    (mean,) = [each for each in every.results.questions[-1].estimates if each.kind == "mean"]
    row = next(each for each in rows(folder) if each["question"] == "since")
    days = [date.fromisoformat(each).toordinal() - date(1970, 1, 1).toordinal()
            for each in re.findall(r"\d{4}-\d\d-\d\d", row["option_label"])]  # fmt: skip

    assert [float(each) for each in told]
    assert [float(row[key]) for key in ("clipped", "low", "high")] == days
    assert days == [floor(mean.clipped + 0.5), floor(mean.low), ceil(mean.high)]


@pytest.mark.parametrize(("language", "between"), [("de", " bis "), ("pt-BR", " a "), ("nl", " to ")])
def test_limits_of_dates_are_in_the_language_of_the_survey(language: str, between: str, tmp_path: Path) -> None:
    """In English if it is none of the program's."""
    texts = {key: {language: "Wann?"} for key in ("title", "label")}
    since = {"type": "date", "name": "since", "label": texts["label"], "min": "2020-01-01", "max": "2020-12-31",
             "step": "1", "public": True}  # fmt: skip
    asked = survey(default_language=language, title=texts["title"], questions=[since])
    files_of(tmp_path, (asked, [(day,) for day in range(90)]), names=["estimates.csv"])

    (label,) = [row["option_label"] for row in rows(tmp_path) if row["kind"] == "mean"]
    assert re.fullmatch(rf"2020-02-\d\d \(2020-\d\d-\d\d{between}2020-\d\d-\d\d\)", label)


@pytest.mark.slow
def test_dates_of_estimates_are_read_in_r_as_the_page_says(folder: Path) -> None:
    """R before 4.3 refuses a number without the day that it counts from."""
    (said,) = re.findall(r"R: `(as\.Date\(.*?\))`", Path("docs/how_to/download_results.md").read_text(encoding="utf-8"))
    read = f'row <- subset(read.csv("{folder / "estimates.csv"}"), question == "since" & kind == "mean")'
    command = ["Rscript", "--vanilla", "-e", f"{read}; cat(with(row, as.character({said})), row$option_label)"]
    low, label = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout.split(" ", 1)

    assert label.partition("(")[2].startswith(f"{low} to ")


def test_estimates_of_one_wave_come_alone(tmp_path: Path) -> None:
    asked = survey(waves=months(2))
    storage = published(tmp_path, asked)
    for wave in (0, 1):
        send(storage, asked, drawn(asked, 50 + wave), wave)
    storage.close_survey("exam", TODAY)
    waves = {}
    for wave in (None, 1):
        for name in ("estimates.csv", "methods.md", "codebook.html"):
            SINGLE[name](source(storage, asked, wave=wave), tmp_path / name)
        waves[wave] = {(row["wave"], row["n"]) for row in rows(tmp_path) if not row["cohort"]}
        texts = [(tmp_path / name).read_text(encoding="utf-8") for name in ("methods.md", "codebook.html")]
        assert ["of wave 1 alone" in " ".join(text.split()) for text in texts] == [wave == 1] * 2
    storage.close()

    assert waves == {None: {("", "101"), ("0", "50"), ("1", "51")}, 1: {("1", "51")}}


READ = {".sav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta}
HAVEN = """
path <- commandArgs(TRUE)
columns <- if (endsWith(path, ".sav")) haven::read_sav(path) else haven::read_dta(path)
for (name in names(columns)) {
  values <- attr(columns[[name]], "labels")
  cat(name, attr(columns[[name]], "label"), rbind(values, names(values)), sep = "\t")
  cat("\n")
}
"""
"""Prints, of each column, its name, its label, and codes with their labels. Needs apt-get install r-cran-haven."""


@pytest.mark.parametrize("kind", READ)
def test_file_read_back_holds_reports_labels_and_channels(every: Source, folder: Path, kind: str) -> None:
    frame, told = READ[kind](folder / f"reports{kind}")
    labels = told.variable_value_labels

    for name, column in every.reports.columns.items():
        # The distance is half a kilometre a step, and in its own unit in the file.
        expected = column / 2 if name == "far" else column
        assert Counter(frame[name].tolist()) == Counter(expected.tolist())
    assert labels["ever"] == {0: "No", 1: "Yes"}
    assert labels["where"] == {0: "Alcohol", 1: "Cannabis", 2: "Cocaine", 3: "Ecstasy"}
    assert labels["which"][3] == "Cannabis: chosen"
    assert "far" not in labels
    assert labels["days"] == {0: "low end (0)", 1: "high end (30)"}
    assert "why" not in labels  # a mask has too many values
    assert told.column_names_to_labels["ever"] == "Have you ever taken an illegal drug?"
    more = [told.column_names_to_labels[name] for name in frame if name.strip("_") in {"wave", "revision"}]
    assert [label.split()[0] for label in more] == ["Wave", "Revision"]
    assert set(frame["ever_a"].round(6)) == {0.666667}
    assert set(frame["ever_b"].round(6)) == {0.333333}
    assert told.file_label.startswith("survey exam; revision 1; digest ")


def test_spss_file_names_the_survey_and_every_channel(every: Source, folder: Path) -> None:
    """In its notes, which have lines of 80 letters."""
    _, told = pyreadstat.read_sav(folder / "reports.sav")
    notes = " ".join(told.notes)

    assert every.about.survey.digest in notes
    assert f"sottovoce {every.about.version}" in notes
    assert "ever: binary_rr, a 0.666667, b 0.333333" in notes
    assert told.variable_measure["often"] == "ordinal"


def test_channel_of_a_report_is_that_of_its_own_revision(tmp_path: Path) -> None:
    """GLMMRR takes parameters row by row; a report that was not asked is missing."""
    first, questions = survey(), document()["questions"]
    questions[0] = {**questions[0], "mechanism": {"name": "warner", "truth": "2/3"}}
    second = survey(questions=questions, revision=2, replaces=first.digest)
    files_of(tmp_path, (first, [(1, 2, 0)] * 6), (second, [(0, 0, 1)] * 7), names=("reports.dta", "methods.md"))

    frame, _ = pyreadstat.read_dta(tmp_path / "reports.dta")
    rows = Counter(
        zip(frame["revision"], frame["cheated"], frame["cheated_a"].round(4), frame["cheated_b"].round(4), strict=True)
    )
    assert rows == {(1, 1, 0.75, 0.25): 6, (2, 0, 0.6667, 0.3333): 7}
    own, before = show_epsilon(second.epsilon), show_epsilon(first.epsilon)
    methods = " ".join((tmp_path / "methods.md").read_text(encoding="utf-8").split())
    assert f"; epsilon of a report {own}, of earlier revisions up to {before};" in methods
    assert "true share; those of shares pooled over mechanisms at the pooled variance, approximate;" in methods


@pytest.mark.parametrize(
    ("keys", "said"),
    [({}, "waves; the same people may have"), ({"fresh_samples": True}, "waves, each of other people.")],
)
def test_methods_say_whether_waves_asked_the_same_people(tmp_path: Path, keys: dict[str, bool], said: str) -> None:
    files_of(tmp_path, (survey(waves=months(2), **keys), [(1, 2, 0)] * 6), names=("methods.md",))
    assert f"in 2 {said}" in " ".join((tmp_path / "methods.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("kind", READ)
def test_file_of_many_reports_takes_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A node of 512 MB writes a million: 4 bytes for each code, and a channel that all share is there once."""
    held: dict[str, int] = {}

    def note(frame: Any, *_: object, **__: object) -> None:
        held.update({name: column.to_numpy().strides[0] for name, column in frame.items()})

    monkeypatch.setattr(pyreadstat, f"write_{kind[1:]}", note)
    files_of(tmp_path, (survey(), drawn(survey(), 20)), names=[f"reports{kind}"])
    assert held.pop("cheated_a") == held.pop("cheated_b") == 0
    assert held == {"cheated": 4, "reason": 4, "year": 4, "wave": 4, "revision": 8}


def test_what_earlier_revisions_sent_is_said_of_their_reports(tmp_path: Path) -> None:
    """One answer in clear before, one at a higher cost: the newest revision's protection is not theirs."""
    cheated, reason, year = document()["questions"]
    costly = reason | {"mechanism": {"name": "kary_rr", "odds": "9"}}
    first = survey(
        questions=[{key: cheated[key] for key in ("type", "name", "label")} | {"public": True}, costly, year]
    )
    second = survey(revision=2, replaces=first.digest)
    texts = ("methods.md", "ddi.xml", "codebook.html")
    files_of(tmp_path, (first, [(1, 2, 0)] * 6), (second, [(0, 0, 1)] * 7), names=(*texts, "export.json"))
    methods, ddi, codebook = (" ".join((tmp_path / each).read_text(encoding="utf-8").split()) for each in texts)

    for text in (methods, ddi):
        assert "Revision 1: Answers to reason were randomized" in text
        assert (
            "together 2.20-locally differentially private (delta = 0), whatever else is known. Answers to cheated,"
            in text
        )
        assert "Revision 2: Answers to cheated, reason were randomized" in text
    assert (
        "Revision 1: Public. Not randomized: sent as it is. It was another question, which no result counts. "
        "Revision 2: binary_rr" in methods
    )
    assert "from 0. Revision 2: kary_rr" in methods
    assert (
        "epsilon 2.20. A randomized report and not the answer. The number of one option, from 0. Revision 2" in methods
    )
    assert "Epsilon of one report: 2.20." in codebook
    assert "Earlier revisions drew this answer with other odds" in codebook
    assert json.loads((tmp_path / "export.json").read_text())["epsilon_total"] == max(first.epsilon, second.epsilon)


@pytest.mark.parametrize("longest", [32, 64])
def test_names_are_such_as_the_programs_take(longest: int) -> None:
    """Digits first, reserved words, long ones, and two that become one."""
    names = ["all", "if", "str5", "1st", "_wave", "q_all", "x" * 64, "x" * 63 + "y", "cheated"]
    found = allowed_names(names, longest)

    assert found[:6] == ["q_all", "q_if", "q_str5", "q_1st", "q_wave", "q_all_2"]
    assert found[-1] == "cheated"
    assert len(set(found)) == len(names)
    assert max(map(len, found)) <= longest


@pytest.mark.parametrize("kind", READ)
def test_question_with_the_longest_name_is_in_the_file(tmp_path: Path, kind: str) -> None:
    """With value labels, next to one that differs in its last letter only; the codebook lists the shorter names."""
    questions = document()["questions"]
    names = ["x" * 64, "x" * 63 + "y", "q" * 32]
    questions = [{**questions[0], "name": name} for name in names]
    asked = survey(questions=questions)
    files_of(tmp_path, (asked, [(0, 1, 1)] * 6), names=(f"reports{kind}", "codebook.html"))

    frame, told = READ[kind](tmp_path / f"reports{kind}")
    shorter = column_names(asked, kind)
    codebook = (tmp_path / "codebook.html").read_text(encoding="utf-8")
    assert [frame[shorter[name]].unique().tolist() for name in names] == [[0], [1], [1]]
    assert all(told.variable_value_labels[shorter[name]] == {0: "No", 1: "Yes"} for name in names)
    assert all(f"<code>{short}</code>" in codebook for name in names if (short := shorter[name]) != name)


@pytest.mark.parametrize("kind", READ)
def test_labels_are_whole_or_stay_different(tmp_path: Path, kind: str) -> None:
    """Of 60 Chinese letters SPSS takes 40, so that two labels would be one: their codes follow, and a note says so."""
    questions, same = document()["questions"], "是" * 60
    labels = [same + "一", same + "二", "三"]
    choices = [{"name": name, "label": {"en": text}} for name, text in zip("abc", labels, strict=True)]
    asked = survey(questions=[{**questions[1], "choices": choices, "label": {"en": "问" * 80}}])
    files_of(tmp_path, (asked, [(0,), (1,), (2,)] * 3), names=(f"reports{kind}",))

    frame, told = READ[kind](tmp_path / f"reports{kind}")
    found = told.variable_value_labels["reason"]
    assert sorted(frame["reason"]) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    if kind == ".dta":
        assert (found, told.column_names_to_labels["reason"]) == (dict(enumerate(labels)), "问" * 80)
    else:
        assert found == {0: "是" * 38 + " (0)", 1: "是" * 38 + " (1)", 2: "三"}
        assert "values of reason are cut to 120 bytes" in " ".join(told.notes)


@pytest.mark.slow
@pytest.mark.parametrize("kind", READ)
def test_labels_are_the_same_in_r(folder: Path, kind: str) -> None:
    """What haven reads is what pyreadstat reads: labels of columns, and codes with their labels."""
    command = ["Rscript", "--vanilla", "-", str(folder / f"reports{kind}")]
    printed = subprocess.run(command, input=HAVEN, capture_output=True, text=True, check=True, timeout=600).stdout
    told = READ[kind](folder / f"reports{kind}")[1]
    read = []
    for name in told.column_names:
        labels = told.variable_value_labels.get(name, {})
        cells = [cell for code, text in labels.items() for cell in (str(int(code)), text)]
        read.append([name, *filter(None, [told.column_names_to_labels[name]]), *cells])

    assert len(read) > 20
    assert [line.split("\t") for line in printed.splitlines()] == read


@pytest.mark.parametrize("kind", READ)
def test_options_keep_the_codes_of_their_names(tmp_path: Path, kind: str) -> None:
    """1, 2, 99 and -99, for SPSS, Stata and the codebook; the category of no answer has the next number."""
    questions = document()["questions"]
    choices = [{"name": name, "label": {"en": f"Option {name}"}} for name in ("1", "2", "99", "minus_99")]
    item = {**questions[1], "choices": choices, "absent_category": True, "mechanism": {"epsilon": "1"}}
    asked = survey(questions=[item])
    files_of(tmp_path, (asked, [(0,), (1,), (2,), (3,), (4,)] * 2), names=(f"reports{kind}", "codebook.html"))

    frame, told = READ[kind](tmp_path / f"reports{kind}")
    assert sorted({*frame["reason"]}) == [-99, 1, 2, 99, 100]
    assert told.variable_value_labels["reason"] == {
        1: "Option 1", 2: "Option 2", 99: "Option 99", -99: "Option minus_99", 100: "No answer"}  # fmt: skip
    cells = re.sub(r"<[^>]*>", "|", (tmp_path / "codebook.html").read_text(encoding="utf-8").replace("<wbr>", ""))
    assert re.search(r"\|3\|+-99\|+Option minus_99\|", cells)


@pytest.mark.parametrize("kind", READ)
def test_numbers_and_days_are_those_of_the_csv_file(tmp_path: Path, kind: str) -> None:
    """-0.1 and not -0.0999999999999999, and days without a time; a rare day that is left out is missing, labelled."""
    shown = {"public": True, "in_files": True}
    tenth = {**shown, "type": "decimal", "name": "far", "label": {"en": "Far?"}, **dict(min="-2", max="10", step="0.1")}
    born = {**shown, "type": "date", "name": "born", "label": {"en": "Born?"}, "min": "1900-01-01", "max": "2000-01-01"}
    asked = survey(questions=[document()["questions"][0], tenth, born])
    sent = [*[(1, step, 0) for step in range(0, 121, 3) for _ in range(5)], *[(1, None, 0)] * 5]
    sent += [(0, 0, 25_000)] * 4 + [(0, 3, None)] * 5 + [(0, 6, 400)]
    files_of(tmp_path, (asked, sent), names=(f"reports{kind}", "reports.csv"))

    frame, told = READ[kind](tmp_path / f"reports{kind}")
    with (tmp_path / "reports.csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    whole = READ[kind](tmp_path / f"reports{kind}", user_missing=True)[0]
    texts = {"1899-12-31": "few", "a": "few", "nan": ""}
    for name in ("far", "born"):
        expected = [str(float(row["far"])) if name == "far" and row["far"] else row[name] for row in rows]
        assert Counter(texts.get(str(cell), str(cell)) for cell in whole[name]) == Counter(expected)
    assert {str(day) for day in frame["born"].dropna()} == {"1900-01-01"}
    assert [*told.variable_value_labels["born"].values()] == ["few"]
    assert "few" in read_table(tmp_path / f"reports{kind}").columns["born"].values
    assert told.original_variable_types["born"] == {".sav": "DATE11", ".dta": "%td"}[kind]


def test_text_is_cut_between_words_or_letters() -> None:
    """Half a letter would make the file unreadable, and half a word is hard to read."""
    assert cut("aÄÄ", 4) == "aÄ"
    assert cut("taken an illegal drug", 15) == "taken an"
    assert cut("taken an illegal drug", 16) == "taken an illegal"
    assert cut("short", 80) == "short"


@pytest.fixture
def opened(tmp_path: Path) -> Source:
    storage = published(tmp_path, survey())
    send(storage, survey(), drawn(survey(), 60))
    return source(storage, survey())


@pytest.mark.parametrize("name", [*OF_REPORTS, *WITH_PUBLIC])
def test_file_of_reports_is_refused_while_the_survey_is_open(opened: Source, tmp_path: Path, name: str) -> None:
    with pytest.raises(EstimateError, match=r"the survey is open: .*files of reports exist once it is closed"):
        SINGLE[name](opened, tmp_path / name)
    assert not (tmp_path / name).exists()


def test_all_files_together_are_refused_while_the_survey_is_open(opened: Source, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(EstimateError, match="the survey is open"):
        write_folder(opened, tmp_path / "folder")
    with pytest.raises(EstimateError, match="the survey is open"):
        write_zip(opened, tmp_path / "all.zip")
    assert sorted(path.name for path in tmp_path.glob("*.zip")) == []


@pytest.mark.parametrize("name", AT_ANY_TIME)
def test_other_files_come_at_any_time(opened: Source, tmp_path: Path, name: str) -> None:
    SINGLE[name](opened, tmp_path / name)
    assert (tmp_path / name).stat().st_size > 0


def first_of(path: Path) -> str:
    """The first line of a file, or where a format has none, what it says of itself."""
    if path.suffix == ".parquet":
        with duckdb.connect() as connection:
            rows = connection.sql("SELECT value FROM parquet_kv_metadata($file)", params={"file": str(path)}).fetchall()
            return str(rows[0][0].decode())
    if path.suffix in {".sav", ".dta"}:
        read = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
        return str(read(path, metadataonly=True)[1].file_label)
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as book:
            # The first text is that of the first cell.
            return book.read("xl/sharedStrings.xml").decode().split("<t>")[1]
    return path.read_text(encoding="utf-8").splitlines()[0]


def test_every_file_of_a_try_out_says_so_first(tmp_path: Path) -> None:
    """Also while it is open: nobody shall take it for the real survey."""
    asked = survey(trial=True)
    storage = published(tmp_path, asked)
    send(storage, asked, drawn(asked, 60))
    found = source(storage, asked)
    (tmp_path / "all").mkdir()
    write_folder(found, tmp_path / "all")
    for name, write in WITH_PUBLIC.items():
        write(found, tmp_path / "all" / name)
    storage.close()

    said = {path.name: first_of(path) for path in (tmp_path / "all").iterdir()}
    marked = {name for name, line in said.items() if TRIAL in line or '"trial":true' in line.replace(" ", "")}
    # Nothing is published under a budget of a try-out.
    assert len(said) == len(SINGLE) - len(RELEASED) + 1
    # Of the two short labels the warning is what fits.
    marked |= {name for name in said if name.endswith(("sav", "dta")) and said[name] == TRIAL[: len(said[name])]}
    assert set(said) - marked == set()


def test_methods_tell_figures_channels_and_sources(every: Source, folder: Path) -> None:
    text = (folder / "methods.md").read_text(encoding="utf-8")

    assert "300 reports were counted and 0 were withdrawn" in " ".join(text.split())
    assert "binary_rr (yes 2/3, no 1/3), epsilon 0.70." in text
    for question in every.about.survey.questions:
        assert f"## {question.name}: " in text
        if question.mechanism is not None:
            assert text.count(f"\n## {question.mechanism.name}\n") == 1
    assert "Warner 1965 (the opposite question)" in text


def test_methods_of_a_direct_arm_claim_no_protection_for_it(tmp_path: Path) -> None:
    file = tmp_path / "protection.yaml"
    file.write_bytes(template_file("protection"))
    text = protection_in_words(read_survey_file(file))

    assert "Answers to copied were randomized" in text
    assert "Answers to year, copied_direct, moon were sent as given, without protection" in text
    assert "Nothing is randomized in the reports of direct." in text
    assert "locally differentially private (delta = 0), whatever else is known." in text
    public = [{"type": "boolean", "name": "q", "label": {"en": "Q?"}, "public": True}]
    assert protection_in_words(survey(questions=public)) == "Every answer was sent as given; nothing was randomized."


def test_methods_claim_protection_by_a_fact_from_those_who_do_not_know_it() -> None:
    """Whoever knows the fact knows more than epsilon says."""
    example = Path(__file__).parents[4] / "shared/sottovoce/examples/mechanisms/cheater_detection.yaml"
    text = protection_in_words(read_survey_file(example))
    assert "private (delta = 0), as long as no one who sees it knows the person's facts." in text
    assert "whatever" not in text
    assert "own device" not in text


def test_methods_of_a_panel_say_what_all_waves_cost() -> None:
    """What devices remember is charged once."""
    memo = {
        "name": "memoized_rr",
        "permanent": {"name": "coin_flip"},
        "instantaneous": {"name": "coin_flip"},
        "waves": 2,
    }
    coin = {"type": "boolean", "label": {"en": "Q?"}, "mechanism": {"name": "coin_flip"}}
    panel = survey(waves=months(2), questions=[{**coin, "name": "a"}, {**coin, "name": "b", "mechanism": memo}])

    assert "2.13-locally differentially private, those of all 2 waves 3.22 (delta = 0)" in protection_in_words(panel)


def test_methods_correct_no_public_answers_for_noise(tmp_path: Path) -> None:
    file = tmp_path / "protection.yaml"
    file.write_bytes(template_file("protection"))
    label = {"label": {"en": "Q?"}}
    public = [{"type": "boolean", "name": "q", "public": True, **label}]
    private = [{"type": "boolean", "name": "q", "mechanism": {"name": "coin_flip"}, **label}]
    some = estimated_in_words(read_survey_file(file))

    assert estimated_in_words(survey(questions=public)) == (
        "Shares and means are those of the reports; 95% intervals are score intervals with continuity correction."
    )
    assert some.startswith("Shares and means of private answers were estimated without bias from the counts")
    assert some.endswith("Those of answers sent as given are shares and means of the reports.")
    assert estimated_in_words(survey(questions=private)).endswith("carried over to the true share.")


def test_survey_read_again_has_the_same_digest(every: Source, folder: Path) -> None:
    for name in ("survey.yaml", "survey.json"):
        assert read_survey_file(folder / name).digest == every.about.survey.digest


def test_preregistration_says_what_was_frozen(every: Source, folder: Path) -> None:
    document = json.loads((folder / "preregistration.json").read_text(encoding="utf-8"))
    survey = every.about.survey

    assert document["revisions"] == [{"revision": 1, "digest": survey.digest}]
    assert (document["opens"], document["closes"]) == ("2026-01-01T00:00:00Z", "2026-06-01T00:00:00Z")
    assert [each["name"] for each in document["questions"]] == [question.name for question in survey.questions]
    assert document["questions"][0]["mechanism"] == {"name": "binary_rr", "a": "2/3", "b": "1/3"}
    assert document["epsilon_total"] == survey.epsilon
    assert document["analysis"]["interval"] == "score-cc"
    assert "trial" not in document


def test_preregistration_says_for_how_many_people_it_was_planned(every: Source) -> None:
    """Who wrote the survey said so before it was published; else it says that nobody did."""
    about = every.about
    told = []
    for plan in (every.plan, PlannedSize(1500, 4000)):
        told.append(preregistration(every.revisions, about, plan)["planned"])
    assert told == [{"people": None, "group": None}, {"people": 1500, "group": 4000}]


def test_preregistration_says_which_questions_of_a_block_are_asked(every: Source) -> None:
    """Nothing else in it tells that they are randomized together, or that people are asked some of them."""
    about = replace(every.about, survey=blocks(block(*map(in_block, "abc")) | {"ask": 2}))
    document = preregistration(every.revisions, about, every.plan)
    assert document["blocks"] == ["joint_rr odds=9 radius=0 k=2,2,2 ask=2 with=a,b,c"]


def test_codes_that_differ_between_revisions_are_said_of_each(tmp_path: Path) -> None:
    """Sets, then options named as numbers; numbers after noise, then ends: no label or code of one fits the other."""
    label = {"label": {"en": "How?"}}
    choices = [{"name": str(point), "label": {"en": f"Point {point}"}} for point in range(1, 6)]
    scale = {**label, "type": "rating", "name": "scale", "choices": choices, "absent_category": True}
    hours = {**label, "type": "integer", "name": "hours", "min": "10", "max": "60"}
    asked = [
        [scale | {"mechanism": {"epsilon": "1"}}, hours | {"mechanism": {"name": "geometric", "epsilon": "1"}}],
        [scale | {"mechanism": {"epsilon": "2"}}, hours | {"mechanism": {"name": "rounding_rr", "epsilon": "1"}}],
    ]
    first = survey(questions=asked[0])
    second = survey(questions=asked[1], revision=2, replaces=first.digest)
    sent = [(0b110000, 50), (0b000011, 1)], [(5, 1), (0, 0)]
    names = ("codebook.html", "ddi.xml", "reports.sav", "reports.dta")
    files_of(tmp_path, (first, sent[0]), (second, sent[1]), names=names)

    for read, name in ((pyreadstat.read_sav, "reports.sav"), (pyreadstat.read_dta, "reports.dta")):
        frame, meta = read(tmp_path / name)
        assert sorted(zip(frame["scale"], frame["hours"], strict=True)) == [(0, 0), (3, 1), (5, 1), (48, 50)]
        assert meta.variable_value_labels == {}
    codebook = (tmp_path / "codebook.html").read_text(encoding="utf-8")
    ddi = ET.parse(tmp_path / "ddi.xml")  # noqa: S314 - our own file
    texts = {each.get("name"): each for each in ddi.iter("{ddi:codebook:2_5}var")}
    in_ddi = {name: ET.tostring(each, encoding="unicode") for name, each in texts.items()}
    for of_scale, of_hours in ((codebook, codebook), (in_ddi["scale"], in_ddi["hours"])):
        assert "Revision 1: A randomized report and not the answer. A set of options as a bit mask" in of_scale
        assert "Revision 2: A randomized report and not the answer. The number of one option, from 0." in of_scale
        assert "Its code differs between revisions" in of_hours
        assert "low end" not in of_hours
        assert "Values of" not in of_scale
        assert "catgry" not in of_scale + of_hours
    assert [re.findall(r'max="(\d+)"', in_ddi[name]) for name in ("scale", "hours")] == [["48"], ["50"]]
