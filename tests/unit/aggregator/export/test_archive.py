"""All files in one folder or zip, with sums that hold, read back as written; what is wrong is told with its place."""

import hashlib
import shutil
import subprocess
import zipfile
from pathlib import Path

import duckdb
import numpy as np
import pyreadstat
import pytest
from sottovoce.aggregator.export.archive import FAILED, SUMS, write_folder, write_zip
from sottovoce.aggregator.export.catalogue import AT_ANY_TIME, OF_REPORTS, SINGLE, Source
from sottovoce.aggregator.export.read_archive import read_folder
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Survey

from tests.exported import TODAY, published, send, source
from tests.surveys import document, months, survey

GOOD = "cheated,reason,year,wave,revision\n1,2,0,0,1\n0,,1,0,1\n"


def place(folder: Path, text: str | bytes, asked: Survey | None = None) -> Path:
    (folder / "survey.json").write_bytes((asked or survey()).canonical)
    (folder / "reports.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def test_folder_holds_every_file_but_the_public_answers(folder: Path) -> None:
    """Every row of the list, and the sums."""
    assert {path.name for path in folder.iterdir()} == {*AT_ANY_TIME, *OF_REPORTS, SUMS}


def test_sums_are_those_of_the_files(folder: Path) -> None:
    """As the usual program checks them."""
    ended = subprocess.run(
        ["sha256sum", "--strict", "-c", SUMS], cwd=folder, capture_output=True, text=True, check=True
    )
    assert ended.stdout.count(": OK") == len([*folder.iterdir()]) - 1


def test_zip_holds_the_same_with_sums_that_hold(every: Source, folder: Path, tmp_path: Path) -> None:
    """In one folder of the survey's name, dated on no day; nothing is left beside it."""
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
    """The list of failures has sums too, and repeats nothing of the data."""

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
    """The survey by its digest, and the same reports, of narrow types, from either pair of files."""
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
    """Before the file without them."""
    shutil.copy(folder / "survey.json", tmp_path)
    shutil.copy(folder / "reports.csv", tmp_path)
    SINGLE[name](every, tmp_path / name)
    assert sorted(read_folder(tmp_path).reports.columns["age"]) == sorted(every.reports_with_public.columns["age"])


def test_waves_and_revisions_are_read_back(tmp_path: Path) -> None:
    """Each row is checked by its own revision, whose channel may report other values."""
    first, questions = survey(waves=months(2)), document()["questions"]
    questions[1]["mechanism"] = {"name": "subset_selection", "odds": "3", "size": 1}
    second = survey(waves=months(2), questions=questions, revision=2, replaces=first.digest)
    storage = published(tmp_path, first, second)
    send(storage, first, [(1, 0, 0)] * 6, wave=1)
    send(storage, second, [(0, 4, 1)] * 7)
    storage.close_survey("exam", TODAY)
    (tmp_path / "all").mkdir()
    write_folder(source(storage, second), tmp_path / "all")
    storage.close()
    found = read_folder(tmp_path / "all")

    rows = sorted(
        zip(
            found.reports.revision.tolist(),
            found.reports.wave.tolist(),
            found.reports.columns["reason"].tolist(),
            strict=True,
        )
    )
    assert rows == [(1, 1, 0)] * 6 + [(2, 0, 4)] * 7
    (tmp_path / "all" / "survey-1.json").unlink()
    with pytest.raises(SpecError, match="column 'revision': the folder has no such revision"):
        read_folder(tmp_path / "all")


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
    """A byte order mark, CR LF, quotes, another order of columns, none for wave, revision and public answers."""
    found = read_folder(place(tmp_path, text))

    assert found.reports.columns["cheated"].tolist() == [1, 0]
    assert found.reports.columns["reason"].tolist() == [2, 1]
    assert (found.reports.wave.tolist(), found.reports.revision.tolist()) == ([0, 0], [1, 1])


def test_question_that_was_not_asked_is_missing(tmp_path: Path) -> None:
    """All bits set, as in the database."""
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
    """The same checks, by rows."""
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
    """No folder, no survey, two surveys, no reports, a strange earlier revision, columns that several waves need."""
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
    """The line that says so stands above the header."""
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
    storage = published(tmp_path, asked)
    send(storage, asked, [(1, 22, 130, 31)] * 6)
    storage.close_survey("exam", TODAY)
    for kind in ("csv", "parquet", "sav", "dta"):
        SINGLE[f"reports-with-public.{kind}"](source(storage, asked), tmp_path / f"reports-with-public.{kind}")
    storage.close()
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
    """By line and column, with what may stand there."""
    age_of = {"type": "integer", "name": "age", "label": {"en": "?"}, "min": "18", "max": "99", "public": True}
    asked = survey(questions=[document()["questions"][0], age_of])
    with pytest.raises(SpecError, match="line 3, column 'age'") as refused:
        read_folder(place(tmp_path, f"cheated,age\n1,40\n0,{age}\n", asked))
    assert age not in str(refused.value)
