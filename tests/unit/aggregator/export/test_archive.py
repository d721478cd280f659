"""All files in one folder or zip: sums hold, results are read back as on the pages, what is wrong has its place."""

import hashlib
import json
import shutil
import subprocess
import zipfile
from collections import Counter
from csv import DictReader
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyreadstat
import pytest
from sottovoce.aggregator import open_data, open_results
from sottovoce.aggregator.analysis.data_file.read_table import read_table
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.export.archive import FAILED, SUMS, write_folder, write_zip
from sottovoce.aggregator.export.catalogue import AT_ANY_TIME, OF_REPORTS, SINGLE, Source
from sottovoce.aggregator.export.offline.write_parquet import write_reports
from sottovoce.aggregator.export.read_archive import read_folder, results_of_archive
from sottovoce.aggregator.export.results_client.sources import FolderReports, StoredReports
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.aggregator.http.problems import NO_ROOM, describe
from sottovoce.aggregator.storage.pack_values import null
from sottovoce.shared.errors import EstimateError, SpecError
from sottovoce.shared.spec import Survey

from tests.documents import names
from tests.exported import TODAY, files_of, published, send, source
from tests.surveys import document, months, survey

GOOD = "cheated,reason,year,wave,revision\n1,2,0,0,1\n0,,1,0,1\n"


def place(folder: Path, text: str | bytes, asked: Survey | None = None) -> Path:
    (folder / "survey.json").write_bytes((asked or survey()).canonical)
    (folder / "reports.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def test_folder_holds_every_file_but_the_public_answers(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {*AT_ANY_TIME, *OF_REPORTS, SUMS}


def test_sums_are_those_of_the_files(folder: Path) -> None:
    ended = subprocess.run(
        ["sha256sum", "--strict", "-c", SUMS], cwd=folder, capture_output=True, text=True, check=True
    )
    assert ended.stdout.count(": OK") == len([*folder.iterdir()]) - 1


def test_zip_holds_the_same_with_sums_that_hold(every: Source, folder: Path, tmp_path: Path) -> None:
    write_zip(every, tmp_path / "everything.zip")
    with zipfile.ZipFile(tmp_path / "everything.zip") as archive:
        found = {name.removeprefix("exam/"): archive.read(name) for name in archive.namelist()}
        dates = {entry.date_time for entry in archive.infolist()}

    assert found.keys() == {path.name for path in folder.iterdir()}
    sums = dict(reversed(line.split("  ")) for line in found.pop(SUMS).decode().splitlines()[1:])
    assert {name: hashlib.sha256(content).hexdigest() for name, content in found.items()} == sums
    assert dates == {(1980, 1, 1, 0, 0, 0)}
    assert [path.name for path in tmp_path.iterdir()] == ["everything.zip"]


def test_file_that_fails_is_named_and_leaves_the_others(
    every: Source, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of failures has sums too, and repeats nothing of the data. A full disk is no fault of the file's."""

    def fail(_source: Source, path: Path) -> None:
        path.write_text("half of it", encoding="utf-8")
        raise ValueError("an answer")

    monkeypatch.setitem(OF_REPORTS, "reports.dta", fail)
    failed = write_folder(every, tmp_path)

    (line,) = failed
    assert line.startswith("reports.dta was not written: ")
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in folder.iterdir()} - {"reports.dta"} | {
        FAILED
    }
    assert line in (tmp_path / FAILED).read_text(encoding="utf-8")
    assert "an answer" not in line

    full = shutil.disk_usage(tmp_path)._replace(free=0)
    monkeypatch.setattr("sottovoce.aggregator.export.archive.disk_usage", lambda _: full)
    with pytest.raises(OSError, match="No space left") as found:
        write_folder(every, tmp_path)
    assert describe(found.value, "studio.file") == ("storage", NO_ROOM)
    assert describe(PermissionError(13, "Permission denied"), "studio.file") == ("internal", "")


def test_every_text_names_the_survey_and_the_version(every: Source, folder: Path) -> None:
    """Survey, revision, digest, epsilon and version; tables of reports have no room for it, the survey is all of it."""
    silent = {"reports.csv", "reports.parquet", "reports.sav", "reports.dta", "channels.csv", "scores.csv"}
    texts = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".xlsx"}
    about = every.about.survey
    named = {
        name for name, text in texts.items() if about.digest.encode() in text and every.about.version.encode() in text
    }

    assert set(texts) - silent - named == {"survey.json"}
    assert hashlib.sha256(texts["survey.json"]).hexdigest() == about.digest


@pytest.mark.parametrize("kept", [["survey.json", "reports.csv"], ["survey.yaml", "reports.parquet"]])
def test_folder_is_read_back_as_it_was_written(every: Source, folder: Path, tmp_path: Path, kept: list[str]) -> None:
    for name in kept:
        shutil.copy(folder / name, tmp_path)
    found = read_folder(tmp_path)

    assert found.survey.digest == every.about.survey.digest
    assert list(found.reports.columns) == list(every.reports.columns)
    rows = [np.stack(list(columns.values())) for columns in (found.reports.columns, every.reports.columns)]
    assert np.array_equal(*[each[:, np.lexsort(each)] for each in rows])
    assert {name: values.dtype for name, values in found.reports.columns.items()} == {
        name: values.dtype for name, values in every.reports.columns.items()
    }


@pytest.mark.parametrize("name", ["reports-with-public.csv", "reports-with-public.parquet"])
def test_public_answers_are_read_where_they_are(every: Source, folder: Path, tmp_path: Path, name: str) -> None:
    shutil.copy(folder / "survey.json", tmp_path)
    shutil.copy(folder / "reports.csv", tmp_path)
    SINGLE[name](every, tmp_path / name)
    assert sorted(read_folder(tmp_path).reports.columns["age"]) == sorted(every.reports_with_public.columns["age"])


def test_waves_and_revisions_are_read_back(tmp_path: Path) -> None:
    """Each row is checked by its own revision, whose channel may report other values."""
    first, questions = survey(waves=months(2)), document()["questions"]
    questions[1]["mechanism"] = {"name": "subset_selection", "odds": "3", "size": 1}
    second = survey(waves=months(2), questions=questions, revision=2, replaces=first.digest)
    files_of(tmp_path, (first, [(1, 0, 0)] * 6, 1), (second, [(0, 4, 1)] * 7))
    found = read_folder(tmp_path / "files")

    rows = sorted(
        zip(
            found.reports.revision.tolist(),
            found.reports.wave.tolist(),
            found.reports.columns["reason"].tolist(),
            strict=True,
        )
    )
    assert rows == [(1, 1, 0)] * 6 + [(2, 0, 4)] * 7
    (tmp_path / "files" / "survey-1.json").unlink()
    with pytest.raises(SpecError, match="column 'revision': the folder has no such revision"):
        read_folder(tmp_path / "files")


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("0,,1", "0,1,1"),
        "\ufeff" + GOOD.replace("0,,1", "0,1,1"),
        GOOD.replace("0,,1", "0,1,1").replace("\n", "\r\n"),
        GOOD.replace("0,,1", "0,1,1").rstrip("\n"),
        '"cheated","reason","year"\n"1","2","0"\n0,1,1\n',
        "year,reason,cheated\n0,2,1\n1,1,0\n",
        "reason,cheated\n2,1\n1,0\n",
    ],
    ids=["plain", "mark", "crlf", "no last line end", "quoted", "another order", "no public answers"],
)
def test_csv_is_read_however_programs_write_it(tmp_path: Path, text: str) -> None:
    found = read_folder(place(tmp_path, text))

    assert found.reports.columns["cheated"].tolist() == [1, 0]
    assert found.reports.columns["reason"].tolist() == [2, 1]
    assert (found.reports.wave.tolist(), found.reports.revision.tolist()) == ([0, 0], [1, 1])


def test_arms_that_files_of_0_4_0_leave_empty_are_told_by_their_questions(tmp_path: Path) -> None:
    """That release left an arm empty beside a rare public answer, and so out of every comparison of the arms."""
    cheated, reason, _ = document()["questions"]
    asked = survey(questions=[cheated, {**reason, "arm": "treated"}], arms=[{"name": "control"}, {"name": "treated"}])
    text = "cheated,reason,arm\n1,2,1\n0,,0\n0,1,\n1,,\n"
    assert read_folder(place(tmp_path, text, asked)).reports.columns["arm"].tolist() == [1, 0, 1, 0]
    both = survey(questions=[cheated, reason], arms=[{"name": "control"}, {"name": "treated"}])
    found = read_folder(place(tmp_path, "cheated,reason,arm\n1,2,1\n0,1,\n", both)).reports
    assert found.columns["arm"].tolist() == [1, null(1)]


def test_question_that_was_not_asked_is_missing(tmp_path: Path) -> None:
    found = read_folder(place(tmp_path, "cheated,reason\n1,\n,2\n", survey(ask=1)))
    assert (found.reports.columns["cheated"].tolist(), found.reports.columns["reason"].tolist()) == ([1, 255], [255, 2])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n7,7\n", "line 1, column 1: no question of the survey has this name"),
        ("1,2\n0,1\n", "line 1, column 1: no question of the survey has this name"),
        ("cheated,reason,cheated\n1,2,1\n", "line 1, column 3: the column 'cheated' stands there twice"),
        ("cheated,year\n1,0\n", "line 1: the column of the question 'reason' is missing"),
        ("cheated;reason\n1;2\n", "line 1: the cells must be separated by commas"),
        ("cheated,reason\n", "there are no reports below the header"),
        ("", "line 1: the column of the question 'cheated' is missing"),
        ("cheated,reason\n1,2\n1,7\n", "line 3, column 'reason': is out of range"),
        ("cheated,reason,year\n1,2,7\n", "line 2, column 'year': must be 0 to 1"),
        ("cheated,reason\n1,0.7\n", "line 2, column 'reason': must be a whole number"),
        ("cheated,reason\n1,-7\n", "line 2, column 'reason': must be a whole number"),
        ("cheated,reason\n1,7e1\n", "line 2, column 'reason': must be a whole number"),
        ("cheated,reason\n1,77777777777777777777\n", "line 2, column 'reason': must be a whole number"),
        ("cheated,reason\n1,yes7\n", "line 2, column 'reason': must be a whole number"),
        ("cheated,reason\n1, 7\n", "line 2, column 'reason': must be a whole number"),
        ("cheated,reason\n1,٧\n", "line 2, column 'reason': must be a whole number"),
        ("cheated,reason\n1,NA\n", "or empty where not asked"),
        ("cheated,reason\n1,2\n1,\n", "line 3: must have a value for 2 of the 2 private questions"),
        ("cheated,reason\n1,2\n1,2,7\n", "line 3: 3 cells where the header has 2"),
        ("cheated,reason\n\n1,2\n", "line 2: is empty"),
        ("cheated,reason,wave\n1,2,7\n", "line 2, column 'wave': must be 0 to 0"),
        ("cheated,reason,wave\n1,2,\n", "line 2, column 'wave': must be 0 to 0"),
        ("cheated,reason,revision\n1,2,7\n", "line 2, column 'revision': the folder has no such revision"),
        ('cheated,reason\n1,2\n1,"2"7\n', "line 3: cannot be read as CSV"),
        ("cheated,reason\n1,\0\n", "line 2: cannot be read as CSV"),
        (b"cheated,reason\n1,2\n1,\xff7\n", "line 3, column 'reason': is not UTF-8"),
        ("cheated,reason\n1," + "7" * 70_000 + "\n", "line 2: is longer than 65,535 bytes"),
        (f"# digest {'7' * 64}\ncheated,reason\n1,2\n", "line 1: these are reports of another survey"),
    ],
)
def test_file_with_a_fault_is_refused_with_its_place(tmp_path: Path, text: str | bytes, said: str) -> None:
    """And what stands there is not repeated: it may be an answer."""
    with pytest.raises(SpecError) as refused:
        read_folder(place(tmp_path, text))
    assert f"reports.csv{', ' if said.startswith('line') else ''}" in str(refused.value)
    assert said in str(refused.value)
    assert "7" not in str(refused.value)


def test_place_is_right_beyond_the_first_chunk(tmp_path: Path) -> None:
    """Files of gigabytes are read in chunks."""
    rows = ["1,2\n"] * 70_000
    rows[65_000] = "1,9\n"
    with pytest.raises(SpecError, match="line 65002, column 'reason'"):
        read_folder(place(tmp_path, "cheated,reason\n" + "".join(rows)))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT 1.5 AS cheated, 2 AS reason", "row 1, column 'cheated': must be a whole number"),
        ("SELECT 1 AS cheated, 7 AS reason", "row 1, column 'reason': is out of range"),
        ("SELECT 1 AS cheated, -7 AS reason", "row 1, column 'reason': must be a whole number"),
        (
            "SELECT 1 AS cheated, 18446744073709551615::UBIGINT AS reason",
            "row 1, column 'reason': must be a whole number",
        ),
        ("SELECT 1 AS cheated, 2 AS reason, 7 AS other", "column 3: no question of the survey has this name"),
        ("SELECT 1 AS cheated, 2 AS reason LIMIT 0", "there are no reports"),
    ],
)
def test_parquet_with_a_fault_is_refused_with_its_place(tmp_path: Path, query: str, said: str) -> None:
    (tmp_path / "survey.json").write_bytes(survey().canonical)
    with duckdb.connect() as connection:
        connection.sql(f"COPY ({query}) TO '{tmp_path / 'reports.parquet'}' (FORMAT parquet)")
    with pytest.raises(SpecError, match=said):
        read_folder(tmp_path)


def test_parquet_of_another_survey_is_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "reports.parquet", tmp_path)
    (tmp_path / "survey.json").write_bytes(survey().canonical)
    with pytest.raises(SpecError, match="these are reports of another survey"):
        read_folder(tmp_path)
    (tmp_path / "reports.parquet").write_bytes(b"PAR1 no such thing")
    with pytest.raises(SpecError, match=r"reports\.parquet cannot be read as Parquet"):
        read_folder(tmp_path)


def test_folder_without_its_files_says_which(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="there is no such folder"):
        read_folder(tmp_path / "nowhere")
    with pytest.raises(SpecError, match=r"neither survey\.json nor survey\.yaml"):
        read_folder(tmp_path)
    (tmp_path / "survey.json").write_bytes(survey(waves=months(2)).canonical)
    with pytest.raises(SpecError, match=r"neither reports\.csv nor reports\.parquet"):
        read_folder(tmp_path)
    (tmp_path / "reports.csv").write_text("cheated,reason\n1,2\n")
    with pytest.raises(SpecError, match="the column 'wave' is missing"):
        read_folder(tmp_path)
    (tmp_path / "survey-5.json").write_bytes(survey().canonical)
    with pytest.raises(SpecError, match=r"survey-5\.json is not an earlier revision"):
        read_folder(tmp_path)
    (tmp_path / "survey.yaml").write_bytes(survey().canonical)
    with pytest.raises(SpecError, match="two different surveys"):
        read_folder(tmp_path)


def test_try_out_is_read_with_its_first_line(tmp_path: Path) -> None:
    asked = survey(trial=True)
    found = read_folder(place(tmp_path, f"# TRIAL; digest {asked.digest}\ncheated,reason\n1,2\n", asked))
    assert found.reports.columns["reason"].tolist() == [2]
    with pytest.raises(SpecError, match="line 3, column 'reason': is out of range"):
        read_folder(place(tmp_path, "# TRIAL\ncheated,reason\n1,9\n", asked))


def test_numbers_are_in_their_own_unit_and_former_files_are_still_read(tmp_path: Path) -> None:
    """An age of 40 is written 40; files that call a column wave or revision have steps above the least value."""
    coin, number = document()["questions"][0], {"label": {"en": "?"}, "public": True}
    asked = survey(questions=[
        coin,
        {**number, "type": "integer", "name": "age", "min": "18", "max": "99"},
        {**number, "type": "decimal", "name": "height", "min": "0.5", "max": "2.5", "step": "0.01"},
        {**number, "type": "date", "name": "since", "min": "2026-01-01", "max": "2026-12-31"},
    ])  # fmt: skip
    kinds = ("csv", "parquet", "sav", "dta")
    files_of(tmp_path, (asked, [(1, 22, 130, 31)] * 6), names=[f"reports-with-public.{kind}" for kind in kinds])
    table, former = (tmp_path / "reports-with-public.csv").read_text(), "cheated,age,height,since,wave\n1,22,130,31,0\n"
    assert table.splitlines()[:2] == ["cheated,age,height,since,_wave,_revision", "1,40,1.8,2026-02-01,0,1"]
    for kind, read in (("sav", pyreadstat.read_sav), ("dta", pyreadstat.read_dta)):
        row = read(tmp_path / f"reports-with-public.{kind}")[0].iloc[0]
        assert (row["age"], row["height"], str(row["since"])[:10]) == (40, 1.8, "2026-02-01")

    (tmp_path / "survey.json").write_bytes(asked.canonical)
    for text in (table, former, "cheated,age,height,since\n1,40,1.80,2026-02-01\n"):
        (tmp_path / "reports-with-public.csv").write_text(text)
        columns = read_folder(tmp_path).reports.columns
        assert [columns[name][0] for name in ("age", "height", "since")] == [22, 130, 31]
    (tmp_path / "reports-with-public.csv").unlink()
    columns = read_folder(tmp_path).reports.columns
    assert [set(columns[name].tolist()) for name in ("age", "height", "since")] == [{22}, {130}, {31}]


@pytest.mark.parametrize("age", ["17", "40.5", "forty", "1e1", "1" * 30])
def test_number_off_its_grid_is_refused_without_being_repeated(tmp_path: Path, age: str) -> None:
    age_of = {"type": "integer", "name": "age", "label": {"en": "?"}, "min": "18", "max": "99", "public": True}
    asked = survey(questions=[document()["questions"][0], age_of])
    with pytest.raises(SpecError, match="line 3, column 'age'") as refused:
        read_folder(place(tmp_path, f"cheated,age\n1,40\n0,{age}\n", asked))
    assert age not in str(refused.value)


COUNTS = (3, 20, 129)
"""People of each answer; the rarest is left out, and with it the next, so that nobody is alone."""

COIN, _, _ = document()["questions"]
SHOWN = {"label": {"en": "?"}, "public": True, "in_files": True}
ASKED = survey(
    questions=[
        COIN,
        {**SHOWN, "type": "select_one", "name": "year", "choices": names(3)},
        {**SHOWN, "type": "decimal", "name": "hours", "min": "0", "max": "50", "step": "0.5"},
        {**SHOWN, "type": "date", "name": "born", "min": "2000-01-01", "max": "2000-12-31"},
        {**SHOWN, "type": "boolean", "name": "often"},
    ]
)
STATISTICS = ("reports.sav", "reports.dta")


@pytest.fixture(scope="module")
def few_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files of people with these answers; of hours, days and often as well one answer is rare."""
    years = chain.from_iterable(repeat(year, people) for year, people in enumerate(COUNTS))
    rows = [(number % 2, year, 10 if number < 2 else 11, 1 if number < 2 else 2, number > 1)
            for number, year in enumerate(years)]  # fmt: skip
    return files_of(tmp_path_factory.mktemp("few"), (ASKED, rows))


def test_word_stands_for_rare_answers_and_no_cell_is_empty(few_files: Path) -> None:
    with (few_files / "reports.csv").open(encoding="utf-8") as file:
        rows = list(DictReader(file))
    duckdb = needed("duckdb")
    parquet = Counter(duckdb.read_parquet(str(few_files / "reports.parquet")).project("year").fetchnumpy()["year"])

    assert Counter(row["year"] for row in rows) == parquet == {"2": 129, "few": 23}
    assert {name: {row[name] for row in rows} for name in ("hours", "born", "often")} == {
        "hours": {"few", "5.5"}, "born": {"few", "2000-01-03"}, "often": {"few", "1"},
    }  # fmt: skip
    assert all(row.values() for row in rows)


@pytest.mark.parametrize("name", STATISTICS)
def test_labelled_code_stands_for_rare_answers_and_is_missing_of_numbers_only(few_files: Path, name: str) -> None:
    """So that SPSS, Stata and R have 129 of 152, 84.9 %, and a mean without a code below the least value."""
    pyreadstat = needed("pyreadstat")
    read = pyreadstat.read_sav if name.endswith("sav") else pyreadstat.read_dta
    frame, about = read(str(few_files / name))
    whole, told = read(str(few_files / name), user_missing=True)
    labels, declared = about.variable_value_labels, {**told.missing_ranges, **told.missing_user_values}

    assert frame["year"].value_counts(normalize=True)[2] == pytest.approx(129 / 152)
    assert (labels["year"][-1], labels["often"][-1]) == ("few", "few")
    assert not frame[["year", "often"]].isna().any().any()
    assert {*frame["hours"].dropna()} == {5.5}
    assert {f"{day:%Y-%m-%d}" for day in frame["born"].dropna()} == {"2000-01-03"}
    assert declared.keys() == {"hours", "born"}
    assert [*labels["hours"].values()] == [*labels["born"].values()] == ["few"]
    assert not whole.isna().any().any()
    for column in (read_table(few_files / name).columns[each] for each in ("hours", "born")):
        assert Counter(column.values[code] for code in column.rows)["few"] == frame["hours"].isna().sum() > 0


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_share_of_an_answer_in_a_file_is_that_of_the_pages(few_files: Path, kind: str, tmp_path: Path) -> None:
    """129 of 152, and few beside it; of what is left out there is no share, of numbers with it no mean."""
    for name in ("survey.json", f"reports.{kind}"):
        (tmp_path / name).write_bytes((few_files / name).read_bytes())
    results = {each.question.name: each for each in results_of_archive(read_folder(tmp_path)).questions}
    pages = {each["name"]: each for each in json.loads((few_files / "export.json").read_text())["questions"]}
    shown = {each["option"]: each for each in pages["year"]["estimates"]}

    assert {each.option: each.raw for each in results["year"].estimates} == pytest.approx(
        {"c2": 129 / 152, "few": 23 / 152}
    )
    own = next(each for each in results["year"].estimates if each.option == "c2")
    assert (own.raw, own.low, own.high) == (shown["c2"]["raw"], shown["c2"]["low"], shown["c2"]["high"])
    assert results["year"].n == pages["year"]["n"] == 152
    assert (results["hours"].n, results["hours"].estimates[0].raw) == (0, None)


def test_answer_that_is_left_out_somewhere_has_no_share(tmp_path: Path) -> None:
    """Of two groups: what one leaves out and the other shows is few of both, so that the rest is that of the pages."""
    asked = survey(
        questions=[COIN, *({**SHOWN, "type": "select_one", "name": name, "choices": names(3)} for name in ("a", "b"))]
    )
    files_of(
        tmp_path,
        (asked, [(0, 0, b) for b, n in enumerate((50, 40, 3)) for _ in range(n)]),
        (asked, [(0, 1, b) for b, n in enumerate((60, 0, 30)) for _ in range(n)]),
    )
    (result,) = (each for each in results_of_archive(read_folder(tmp_path / "files")).questions
                 if each.question.name == "b")  # fmt: skip

    assert {each.option: each.raw for each in result.estimates} == pytest.approx({"c0": 110 / 183, "few": 73 / 183})


def test_tables_of_a_file_have_few_as_an_answer_and_models_refuse_it(few_files: Path) -> None:
    """Unless the reports are left out on request; an answer that is left out has no share of its own, not 0 %."""
    results = open_results(few_files)
    table = results.crosstab("cheated", "year")
    refused: list[tuple[str, dict[str, Any]]] = [
        ("regression", {"formula": "cheated ~ year"}), ("regression", {"formula": "hours ~ cheated"}),
        ("compare", {"outcome": "hours", "groups": "cheated"}), ("test", {"question": "year"}),
        ("crosstab", {"rows": "cheated", "columns": "year", "where": "often = yes"}),
        ("crosstab", {"rows": "cheated", "columns": "year", "margins": {"year": {"c2": 1}}}),
    ]  # fmt: skip

    assert table.document["column_categories"] == ["c2", "few"]
    assert results.compare("year", "cheated", "c2").document["n"] == 152
    assert results.compare("year", "cheated").document["category"] == "c2"
    assert results.pairs().document["reports"] == 152
    for kind, options in refused:
        with pytest.raises(EstimateError, match=r"leaves out rare answers of [0-9]+ reports as few.*say --drop-few"):
            FolderReports(few_files).answer(kind, options)
    assert results.compare("hours", "cheated", drop_few=True).document["n"] == 129
    assert results.crosstab("cheated", "year", drop_few=True).document["n"] == 129


def _read_back(folder: Path, asked: Survey, reports: list[tuple[int, ...]]) -> tuple[StoredReports, FolderReports]:
    storage = published(folder, asked)
    send(storage, asked, reports)
    storage.close_survey(asked.name, TODAY)
    (folder / "files").mkdir()
    write_folder(source(storage, asked), folder / "files")
    return StoredReports(storage, asked.name, now), FolderReports(folder / "files")


@pytest.mark.parametrize("shown_to", [["c2"], ["c0"], ["c0", "c1"]])
def test_who_was_asked_is_not_guessed_from_rare_answers(tmp_path: Path, shown_to: list[str]) -> None:
    """What it tells of who was asked is that of the pages, or refused. The file has c2, and c0 or c1 as few."""
    hidden = {**COIN, "name": "y", "visible_if": {"year": shown_to}, "when_absent": "no"}
    asked = survey(questions=[{**SHOWN, "type": "select_one", "name": "year", "choices": names(3)}, COIN, hidden])
    rows = [(year, n % 2, n % 3 % 2) for year, people in enumerate((3, 40, 120)) for n in range(people)]
    stored, read = _read_back(tmp_path, asked, rows)
    for groups in ("cheated", "year"):
        options = {"outcome": "y", "groups": groups}
        if shown_to == ["c0"]:
            with pytest.raises(EstimateError, match="leaves out rare answers to 'year' as few, and they tell who was"):
                read.answer("compare", options)
            assert read.answer("compare", {**options, "among": "all"})["n"] == len(rows)
            continue
        page, file = (each.answer("compare", options) for each in (stored, read))
        # The pages leave the three out as a group; in the file, they are part of one.
        left = 3 if groups == "year" and shown_to == ["c0", "c1"] else 0
        assert (page["n"] + left, page.get("people")) == (file["n"], file.get("people"))
        assert left or page["values"][-1]["raw"] == file["values"][-1]["raw"]


def test_answer_that_a_file_leaves_out_is_not_compared(tmp_path: Path) -> None:
    """By default the last answer is, here one of the rare; another one is as on the pages, among what both show."""
    year = {**SHOWN, "type": "select_one", "name": "year", "choices": names(4)}
    rows = [(answer, n % 2) for answer, people in enumerate((90, 30, 3, 4)) for n in range(people)]
    stored, read = _read_back(tmp_path, survey(questions=[year, COIN]), rows)
    options = {"outcome": "year", "groups": "cheated"}
    with pytest.raises(EstimateError, match=r"leaves out the answer 'c3' as few, .*; choose one of: c0, c1, few"):
        read.answer("compare", options)
    page, file = (
        [[row["raw"] for row in each.answer("compare", {**options, "category": one})["values"]] for one in ("c0", "c1")]
        for each in (stored, read)
    )
    # The pages leave out the people of rare answers; the file does not tell whose answer is which of them.
    assert [sum(group) for group in zip(*page, strict=True)] == pytest.approx([1, 1])
    assert page[1] == pytest.approx([c1 / (c0 + c1) for c0, c1 in zip(*file, strict=True)])


@pytest.mark.parametrize("silent", [0, 3, 30])
def test_those_who_answered_have_no_share_where_the_silent_are_few(tmp_path: Path, silent: int) -> None:
    """The rest would be a share of others than on the pages; that of all people is the same."""
    openly = {**SHOWN, "type": "boolean", "name": "openly", "absent_category": True}
    rows = [(answer, n % 2) for answer, people in enumerate((90, 3, silent)) for n in range(people)]
    _, read = _read_back(tmp_path, survey(questions=[openly, COIN]), rows)
    with pytest.raises(EstimateError, match="some of the people who gave no answer as few"):
        read.answer("compare", {"outcome": "openly", "groups": "cheated"})


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("pairs", {}, "associations and weights do not go together"),
        ("test", {"question": "cheated", "shares": {"yes": 0.3}}, "test and weights do not go together"),
        ("compare", {"outcome": "cheated", "groups": "year", "margins": {"year": {"c2": 1}}}, "margins do not go tog"),
    ],
)
def test_weights_are_never_left_aside(few_files: Path, kind: str, options: dict[str, Any], words: str) -> None:
    """An analysis that takes none, or makes its own, says so."""
    with pytest.raises(EstimateError, match=words):
        FolderReports(few_files).answer(kind, options, [1.0] * 152)


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_file_read_as_data_has_few_as_an_answer(few_files: Path, name: str, tmp_path: Path) -> None:
    """Its shares take it in, its models refuse it; a file of somebody else may have an answer of that name."""
    (tmp_path / name).write_bytes((few_files / name).read_bytes())
    data = open_data(tmp_path / name)
    (tmp_path / "other.csv").write_text("often,age\n" + "few,30\nmany,40\n" * 20, encoding="utf-8")

    assert {row["option"]: row["shown"] for row in data.shares("year").rows} == pytest.approx(
        {"C2": 129 / 152, "few": 23 / 152}
    )
    with pytest.raises(EstimateError, match="leaves out rare answers of 23 reports as few"):
        data.regress("often", ["year"])
    with pytest.raises(EstimateError, match="leaves out rare answers of 23 reports as few"):
        data.compare("cheated", "often", where="year = C2")
    assert open_data(tmp_path / "other.csv").regress("age", ["often"]).document["n"] == 40


def test_offline_folder_of_counted_rows_has_few_as_an_answer(tmp_path: Path) -> None:
    """The cohort is the only public column there."""
    asked = survey(questions=[COIN, {**SHOWN, "type": "select_one", "name": "year", "choices": names(3),
                                     "cohort": True}])  # fmt: skip
    storage = published(tmp_path, asked)
    send(storage, asked, [(0, year) for year, people in enumerate(COUNTS) for _ in range(people)])
    storage.close_survey(asked.name, TODAY)
    (tmp_path / "out").mkdir()
    write_reports(source(storage, asked), tmp_path / "out")
    storage.close()

    assert FolderReports(tmp_path / "out").answer("compare", {"outcome": "cheated", "groups": "year"})["n"] == 152
    assert int(FolderReports(tmp_path / "out").columns.few["year"].sum()) == 23


def test_codebooks_say_how_many_are_left_out(few_files: Path) -> None:
    words = "few (-1 in SPSS and Stata): an answer that is left out"
    for name in ("codebook.html", "ddi.xml"):
        text = (few_files / name).read_text(encoding="utf-8")
        assert words in text
        assert "few (missing: 1999-12-31 in SPSS, .a in Stata): " in text
        assert "Shares take it in the denominator" in text
    assert f"23 reports: {words}" in (few_files / "codebook.html").read_text(encoding="utf-8")


def test_report_of_a_randomized_question_is_never_few(few_files: Path, tmp_path: Path) -> None:
    """A file that says so was damaged."""
    (tmp_path / "survey.json").write_bytes((few_files / "survey.json").read_bytes())
    lines = (few_files / "reports.csv").read_text(encoding="utf-8").splitlines()
    lines[1] = f"few,{lines[1].partition(',')[2]}"
    (tmp_path / "reports.csv").write_text("\n".join(lines), encoding="utf-8")

    with pytest.raises(SpecError, match="column 'cheated': only public answers are left out"):
        read_folder(tmp_path)
