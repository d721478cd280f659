import re
import shlex
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import pyreadstat
import pytest
import xlsxwriter
from sottovoce.aggregator.analysis.availability import FEW
from sottovoce.aggregator.analysis.data_file.file_analysis import SHARES, FileAnalysis, UploadedFile
from sottovoce.aggregator.analysis.data_file.read_table import MOST_BYTES, FileTable, read_table
from sottovoce.aggregator.export.results_client.open_data import open_data
from sottovoce.cli.results.run_analysis import open_file
from sottovoce.shared.errors import EstimateError, SpecError

from tests.commands import done, run
from tests.unit.test_imports import ROOT

ROWS = [("yes", 31, 2.5), ("no", None, 2.5), ("yes", 40, None)]
EXPECTED = {"cheated": ["yes", "no", "yes"], "age": ["31", "", "40"], "hours": ["2.5", "2.5", ""]}


ODS = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
    '<table:table table:name="data">{body}</table:table></office:spreadsheet></office:body></office:document-content>'
)
"""A spreadsheet of OpenDocument around its rows."""


def _cell(cell: object) -> str:
    if isinstance(cell, str | None):
        return f'<table:table-cell office:value-type="string"><text:p>{cell or ""}</text:p></table:table-cell>'
    return f'<table:table-cell office:value-type="float" office:value="{cell}"/>'


def texts(table: FileTable) -> dict[str, list[str]]:
    return {
        name: [column.values[code] if code >= 0 else "" for code in column.rows]
        for name, column in table.columns.items()
    }


def written(folder: Path, kind: str) -> Path:
    path = folder / f"data{kind}"
    frame = pandas.DataFrame(ROWS, columns=list(EXPECTED))
    if kind == ".xlsx":
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet()
            sheet.write_row(0, 0, EXPECTED)
            for number, row in enumerate(ROWS, 1):
                sheet.write_row(number, 0, row)
    elif kind == ".ods":
        rows = "".join(f"<table:table-row>{''.join(map(_cell, row))}</table:table-row>" for row in [EXPECTED, *ROWS])
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
            archive.writestr("META-INF/manifest.xml", "<manifest/>")
            archive.writestr("content.xml", ODS.format(body=rows))
    elif kind == ".parquet":
        duckdb.from_df(frame).write_parquet(str(path))
    elif kind in {".sav", ".dta"}:
        coded = frame.assign(cheated=[1.0, 0.0, 1.0])
        write = pyreadstat.write_sav if kind == ".sav" else pyreadstat.write_dta
        write(coded, str(path), variable_value_labels={"cheated": {0: "no", 1: "yes"}})
    elif kind in {".por", ".xpt"}:
        {".por": pyreadstat.write_por, ".xpt": pyreadstat.write_xport}[kind](frame, str(path))
    else:
        frame.to_csv(path, index=False, sep="\t" if kind == ".tsv" else ",", float_format="%g")
    return path


def read(folder: Path, data: bytes | str) -> FileTable:
    (folder / "data.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_table(folder / "data.csv")


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".xlsx", ".ods", ".parquet", ".sav", ".dta", ".por", ".xpt"])
def test_every_kind_of_file_reads_alike(tmp_path: Path, kind: str) -> None:
    found = texts(read_table(written(tmp_path, kind)))
    assert {name.lower() if kind == ".por" else name: cells for name, cells in found.items()} == EXPECTED


@pytest.mark.parametrize("kind", [".sav", ".zsav", ".dta"])
def test_codes_with_one_label_stay_apart(tmp_path: Path, kind: str) -> None:
    """Three codes are labelled alike, and one label is the number of a code without one."""
    path = tmp_path / f"data{kind}"
    frame = pandas.DataFrame({"often": [1.0, 2, 3, 4, None], "step": [1.0, 2, 2, 1, 1]})
    labels = {"often": {1: "Often", 2: "Often", 3: "Often", 4: "Never"}, "step": {1: "2"}}
    write = pyreadstat.write_dta if kind == ".dta" else pyreadstat.write_sav
    more = {"compress": True} if kind == ".zsav" else {}
    write(frame, str(path), variable_value_labels=labels, **more)

    assert texts(read_table(path)) == {
        "often": ["Often (1)", "Often (2)", "Often (3)", "Never", ""],
        "step": ["2 (1)", "2 (2)", "2 (2)", "2 (1)", "2 (1)"],
    }


@pytest.mark.parametrize("kind", [".sav", ".zsav"])
def test_weight_of_an_spss_file_is_named(tmp_path: Path, kind: str) -> None:
    """The number in the header counts eight letters of a long text as one place."""
    path = tmp_path / f"data{kind}"
    frame = pandas.DataFrame({"town": ["a" * 300, "b"], "cheated": [1.0, 0.0], "people": [2.0, 3.0]})
    labels = {"cheated": "Ever cheated in an exam?"}
    pyreadstat.write_sav(frame, str(path), column_labels=labels, missing_ranges={"cheated": [8, 9]},
                         compress=kind == ".zsav")  # fmt: skip
    assert read_table(path).notes == []
    places = 2 + sum(-(-min(255, 300 - part) // 8) for part in range(0, 300, 252))
    data = bytearray(path.read_bytes())
    data[76:80] = places.to_bytes(4, "little")
    path.write_bytes(data)

    assert [str(note) for note in read_table(path).notes] == [
        f"data{kind} is weighted by people. Figures here are not, unless you ask for weights"
        " (in the terminal: --weights people)."
    ]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            "* FROM (VALUES (TIMESTAMPTZ '2026-11-28 12:00:00+00', 1.00), (NULL, 0.50)) AS rows (day, share)",
            {"day": ["2026-11-28", ""], "share": ["1", "0.5"]},
        ),
        # A float has no number after 2^53; zeros at the end of its text say nothing.
        (
            "9007199254740993.50::DECIMAL(30, 2) AS amount, 9007199254740990::DECIMAL(20, 0) AS number",
            {"amount": ["9007199254740993.5"], "number": ["9007199254740990"]},
        ),
    ],
)
def test_parquet_has_times_of_zones_and_decimals(tmp_path: Path, rows: str, expected: dict[str, list[str]]) -> None:
    """1.00 is the number 1, and a moment is its day."""
    path = tmp_path / "data.parquet"
    duckdb.sql(f"SELECT {rows}").write_parquet(str(path))

    assert texts(read_table(path)) == expected


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfcheated,age,hours\r\nyes,31,2.5\r\nno,NA,2.5\r\nyes,40,\r\n\r\n",
        b"cheated;age;hours\nyes;31;2,5\nno;;2,5\nyes;40;\n",
        b"# made by a program\ncheated\tage\thours\nyes\t31\t2.5\nno\t\t2.5\nyes\t40\t\n",
        b"sep=;\r\ncheated;age;hours\r\nyes;31;2,5\r\nno;;2,5\r\nyes;40;\r\n",
        b"cheated,age,hours\ryes,31,2.5\rno,NA,2.5\ryes,40,\r",
        b"cheated,age,hours\nyes,31.0,2.50\nno,,2.5\nyes,40.0,\n",
    ],
)
def test_separators_and_line_ends_do_not_matter(tmp_path: Path, data: bytes) -> None:
    assert texts(read(tmp_path, data)) == EXPECTED


def test_names_of_rows_written_by_r_and_pandas_are_a_column(tmp_path: Path) -> None:
    text = pandas.DataFrame(ROWS, columns=list(EXPECTED)).to_csv(float_format="%g")
    assert texts(read(tmp_path, text)) == {"row": ["0", "1", "2"], **EXPECTED}
    for header in (",,a", ",row,a"):
        with pytest.raises(SpecError, match=r"column [12] has no name"):
            read(tmp_path, f"{header}\n1,2,3\n")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "data.csv: the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"a,b\n", "there are no rows below"),
        (b"a,b,a\n1,2,3\n", "line 1: columns 1 and 3 are both named 'a'"),
        (b"a,,c\n1,2,3\n", "line 1: column 2 has no name"),
        (b"a,b\n1,2\n3\n", "line 3: 1 cells where the header has 2"),
        (b'a,b\n1,"2\n', "line 2: cannot be read as CSV"),
        (b"a,b\n1,\0\n", "line 2: cannot be read as CSV"),
        (b"a,b\nx,\xc3\xa9\ny,\xe9\n", "line 3, column 'b': is not UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "line 1: the file is in UTF-16"),
        (b"a,b\n1," + b"x" * 70_000, "line 2: is longer than"),
    ],
)
def test_bad_file_is_refused_with_its_place(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(SpecError) as raised:
        read(tmp_path, data)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,2", "2", "1,10", "3"], ["1,2", "2", "1,10", "3"]),
        (["1,2", "3,5", "-1,0"], ["1.2", "3.5", "-1"]),
        (["1,2", "3,55", "4"], ["1,2", "3,55", "4"]),
        (["1,2", "0,75", "4"], ["1.2", "0.75", "4"]),
        (["1,2", "3,05", "-99"], ["1.2", "3.05", "-99"]),
        (["1,2", "-3,55", "4"], ["1.2", "-3.55", "4"]),
        (["1,2", "10,20", "-99"], ["1,2", "10,20", "-99"]),
        (["1,2,3", "1,2", "4"], ["1,2,3", "1,2", "4"]),
        (["1,5", "1.5", "a"], ["1,5", "1.5", "a"]),
    ],
)
def test_comma_is_a_decimal_comma_only_where_it_must_be(tmp_path: Path, cells: list[str], expected: list[str]) -> None:
    """Of one column by equally many decimals, or by 0,5 or -1,2; codes such as 1,2 stay as they are, with a note."""
    table = read(tmp_path, "id;x\n" + "".join(f"{place};{cell}\n" for place, cell in enumerate(cells)))

    assert texts(table)["x"] == expected
    numbers = all(re.fullmatch(r"-?\d+(,\d+)?", cell) for cell in cells)
    assert [str(note).split(" has ")[0] for note in table.notes] == ["data.csv: x"] * (numbers and cells == expected)
    assert texts(read(tmp_path, "x;y\n1,25;3\n2;4,5\n")) == {"x": ["1.25", "2"], "y": ["3", "4.5"]}


@pytest.mark.parametrize("kind", [".sav", ".dta", ".parquet"])
def test_date_beyond_the_year_9999_does_not_stop_the_file(tmp_path: Path, kind: str) -> None:
    path, far = tmp_path / f"data{kind}", {".sav": 13e9 + 86400 * 365.25 * 8500, ".dta": 3e6}
    if kind == ".parquet":
        duckdb.sql("SELECT 'yes' AS a, DATE '10000-01-01' AS day").write_parquet(str(path))
    else:
        frame = pandas.DataFrame({"a": ["yes", "no"], "day": [far[kind], 20.0]})
        write, code = (pyreadstat.write_sav, "DATE11") if kind == ".sav" else (pyreadstat.write_dta, "%td")
        write(frame, str(path), variable_format={"day": code})
    table = read_table(path)

    assert texts(table)["a"][0] == "yes"
    assert ["after the year 9999" in str(note) for note in table.notes] == [True] * (kind != ".parquet")


def test_blanks_of_a_column_that_stata_made_whole_stay_blank(tmp_path: Path) -> None:
    """Our export has doubles; of a column that Stata compressed, a library gives blanks after .a as numbers."""
    frame = pandas.DataFrame({"hours": pandas.Series([40, "a", None, 20, None], dtype=object)})
    labels = {"variable_value_labels": {"hours": {"a": FEW}}, "missing_user_values": {"hours": ["a"]}}
    pyreadstat.write_dta(frame, str(tmp_path / "data.dta"), **labels)

    assert texts(read_table(tmp_path / "data.dta")) == {"hours": ["40", FEW, "", "20", ""]}


@pytest.mark.parametrize("kind", [".sav", ".zsav", ".xpt", ".xlsx", ".parquet"])
def test_hours_beyond_a_day_are_not_those_of_the_next_day(tmp_path: Path, kind: str) -> None:
    """A week's work of 25 hours is not 1 hour, and an hour too little is not 23 hours."""
    path = tmp_path / f"data{kind}"
    shown = {3600.0: "01:00:00", 90000.0: "25:00:00", None: "", 86400.5: "24:00:00.5", -3600.0: "-01:00:00"}
    if kind == ".parquet":
        del shown[-3600.0]  # it has none below zero
    seconds = [*shown]
    if kind == ".xlsx":
        with xlsxwriter.Workbook(path) as book:
            days = [each and each / 86400 for each in seconds]
            book.add_worksheet().write_column(0, 0, ["work", *days], book.add_format({"num_format": "[h]:mm:ss"}))
    elif kind == ".parquet":
        duckdb.sql("SELECT unnest(?) * INTERVAL 1 SECOND AS work", params=[seconds]).write_parquet(str(path))
    else:
        write = pyreadstat.write_xport if kind == ".xpt" else pyreadstat.write_sav
        write(pandas.DataFrame({"work": seconds}), str(path), variable_format={"work": "TIME8"})

    assert texts(read_table(path)) == {"work": [text for text in shown.values() if text or kind != ".xlsx"]}


SAS_DAYS = ("DATE9", "JULIAN7", "WORDDATE18", "WORDDATX18", "WEEKDATE29", "DDMMYYP10", "E8601DA10", "NLDATE20", "DAY2")
SAS_MOMENTS = ("DATETIME19", "DTDATE9", "B8601DN8", "NLDATM20", "E8601DT19")


@pytest.mark.parametrize(
    ("kind", "form", "codes", "expected"),
    [
        (".sav", "MOYR8", [13989283200, 13983926400], ["2026m02", "2025m12"]),
        (".zsav", "QYR8", [13994380800, 13978656000 + 86400], ["2026q2", "2025q4"]),
        (".por", "WKYR10", [13986604800, 13986604800 + 7 * 86400], ["2026w01", "2026w02"]),
        (".xpt", "MONYY7", [24107, 24196], ["2026m01", "2026m03"]),
        (".xpt", "YYQ6", [24107, -1], ["2026q1", "1959q4"]),
        *((".xpt", form, [24107, -1], ["2026-01-01", "1959-12-31"]) for form in SAS_DAYS),
        (".xpt", "DATE9", [24107, 3_000_000], ["2026-01-01", "10173-09-20"]),
        (".xpt", "YEAR4", [24107, -1], ["2026", "1959"]),
        *((".xpt", form, [24107 * 86400 + 3661.5, -1], ["2026-01-01", "1959-12-31"]) for form in SAS_MOMENTS),
        (".xpt", "DTMONYY7", [24107 * 86400, -1], ["2026m01", "1959m12"]),
        *((".xpt", form, [3661, 0.5], ["01:01:01", "00:00:00.5"]) for form in ("HHMM5", "MMSS5", "TIME8", "HOUR2")),
        (".xpt", "TOD8", [24107 * 86400 + 3661, 60], ["01:01:01", "00:01:00"]),
        (".dta", "%tm", [795, -1], ["2026m04", "1959m12"]),
        (".dta", "%tw", [3444, 0], ["2026w13", "1960w01"]),
        (".dta", "%th", [131, 132], ["2025h2", "2026h1"]),
    ],
)
def test_months_and_quarters_have_their_names(
    tmp_path: Path, kind: str, form: str, codes: list[float], expected: list[str]
) -> None:
    """A library gives them as seconds, days or months since a year that differs by program."""
    writers = {".por": pyreadstat.write_por, ".xpt": pyreadstat.write_xport, ".dta": pyreadstat.write_dta}
    write = writers.get(kind, partial(pyreadstat.write_sav, compress=kind == ".zsav"))
    write(pandas.DataFrame({"WAVE": [*codes, None]}), str(tmp_path / f"data{kind}"), variable_format={"WAVE": form})

    assert texts(read_table(tmp_path / f"data{kind}")) == {"WAVE": [*expected, ""]}


def test_period_with_a_label_keeps_it_and_spaces_around_texts_do_not_count(tmp_path: Path) -> None:
    path, frame = tmp_path / "data.sav", pandas.DataFrame({"wave": [13994380800.0, 0], "sex": ["f", " f "]})
    labels = {"wave": {0: "declined"}}
    pyreadstat.write_sav(frame, str(path), variable_format={"wave": "QYR8"}, variable_value_labels=labels)

    assert texts(read_table(path)) == {"wave": ["2026q2", "declined"], "sex": ["f", "f"]}


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        ([*range(20, 45), -99], "data.csv: age has -99 far from its other numbers"),
        ([*range(20, 45), 999, -9], "data.csv: age has -9, 999 far from"),
        ([*range(20, 45), "unknown"], "data.csv, line 27, column 'age': is a text in a column of numbers"),
        ([*range(20, 100)], ""),
        ([*range(-20, 20)], ""),
    ],
)
def test_columns_that_may_be_meant_otherwise_have_a_note(tmp_path: Path, cells: list[object], note: str) -> None:
    (tmp_path / "data.csv").write_text("a,age\n" + "".join(f"yes,{cell}\n" for cell in cells))
    opened = open_data(tmp_path / "data.csv", {"a": "coin_flip"})
    assert [str(each)[: len(note)] for each in opened.notes] == [note] * bool(note)


def test_codes_with_leading_zeros_stay_apart_however_many_there_are(tmp_path: Path) -> None:
    """A place with the code 017 is not the one with 17; a note says how they become numbers, also where left out."""
    codes = ["017", "00", *map(str, range(10, 25))] * 3
    (tmp_path / "data.csv").write_text("a,place\n" + "".join(f"yes,{code}\n" for code in codes))
    opened = {kind: open_data(tmp_path / "data.csv", {"a": "coin_flip", **told})
              for kind, told in (("codes", {}), ("numbers", {"place": "number"}))}  # fmt: skip
    found = {kind: each.columns.survey.questions[1] for kind, each in opened.items()}
    assert set(found["codes"].options) == {*codes}
    assert found["numbers"].domain.size == 16
    assert ["are read as codes" in note for note in opened["codes"].notes] == [True]
    assert opened["numbers"].notes == ()

    (tmp_path / "data.csv").write_text("a,age\n" + "".join(f"yes,{age:02}\n" for age in range(40)))
    few = open_data(tmp_path / "data.csv", {"a": "coin_flip"})
    assert few.columns.survey.names == {"a"}
    assert ["give it the channel number" in note for note in few.notes] == [True]


def test_line_of_a_row_counts_lines_within_quotes(tmp_path: Path) -> None:
    assert read(tmp_path, 'a,b\n"two\nlines",1\nx,2\n').lines.tolist() == [2, 4]


def test_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """A file of zeros, which takes no room on the disk."""
    with (tmp_path / "data.csv").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(SpecError, match="larger than 2 GB"):
        read_table(tmp_path / "data.csv")


@pytest.mark.parametrize("name", ["none.csv", "data.docx", "data.xlsx", "data.sav", "data.parquet"])
def test_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    if name != "none.csv":
        (tmp_path / name).write_bytes(b"no such thing")
    with pytest.raises(SpecError, match=r"cannot be read|must end in"):
        read_table(tmp_path / name)


def test_workbook_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    """A cell in the last row and column, for which a reader makes room for 17 billion."""
    with xlsxwriter.Workbook(tmp_path / "data.xlsx", {"constant_memory": True}) as book:
        sheet = book.add_worksheet()
        for row, column in ((0, 0), (1, 0), (1_048_575, 16_383)):
            sheet.write(row, column, "a")
    with pytest.raises(SpecError, match="a sheet reaches too far"):
        read_table(tmp_path / "data.xlsx")


def test_column_of_few_values_is_small() -> None:
    table = FileTable("d", {})
    assert table.lines.itemsize == np.dtype(np.int32).itemsize


PAGE = (ROOT / "docs" / "how_to" / "from_your_platform.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## (.+)\n\n(?:.+\n)+\n```csv\n([^`]*)```\n\n```sh\n(.+)\n```", re.MULTILINE)
EXPORTS = {name: (text, command) for name, text, command in SECTION.findall(PAGE)}
FORCED = {"SurveyMonkey", "Google Forms"}
"""Half of their people are made to say yes, so that two of four are nobody."""


def _channels(words: list[str]) -> list[str]:
    return [words[place + 1] for place, word in enumerate(words) if word == "--channel"]


def _share(document: Any) -> tuple[int, float]:
    [found] = [each for each in document["questions"] if each["channel"]]
    return found["n"], found["estimates"][-1]["clipped"]


def test_page_has_an_export_of_each_platform() -> None:
    platforms = {
        "Qualtrics",
        "SurveyMonkey",
        "LimeSurvey",
        "REDCap",
        "Kobo",
        "Google Forms",
        "oTree",
        "jsPsych",
        "formr",
    }
    assert {*EXPORTS} >= platforms


@pytest.mark.parametrize("platform", EXPORTS)
def test_export_gives_its_share_in_terminal_and_studio(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, command = EXPORTS[platform]
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(text, encoding="utf-8")
    words = shlex.split(command)
    assert "4" in done(run(*words[1:])).stdout

    share = 0 if platform in FORCED else 0.5
    document = open_file(Path("data.csv"), _channels(words)).shares().document
    given = dict(
        each.rsplit("=", 1) if each.count("=") == 1 else re.split(r"=(?=\w+ )", each) for each in _channels(words)
    )
    uploaded = FileAnalysis(SHARES, {}).document(UploadedFile("data.csv", text.encode(), given))["shares"]
    for found in (document, uploaded):
        assert _share(found) == (4, pytest.approx(share))


def test_lines_that_are_skipped_are_named(tmp_path: Path) -> None:
    """Of Qualtrics two; of SurveyMonkey one, whose options are then in brackets; lines are counted as in the file."""
    tables = []
    for platform in ("Qualtrics", "SurveyMonkey"):
        (tmp_path / "data.csv").write_text(EXPORTS[platform][0], encoding="utf-8")
        tables.append(read_table(tmp_path / "data.csv"))
    qualtrics, monkey = tables
    assert "the two lines below the names" in str(qualtrics.notes[0])
    assert qualtrics.lines.tolist() == [4, 5, 6, 7]
    assert "names are in two lines" in str(monkey.notes[0])
    assert monkey.lines.tolist() == [3, 4, 5, 6]
    assert [*monkey.columns][2:] == [
        "Which have you taken? [Aspirin]",
        "Which have you taken? [Ibuprofen]",
        "Heads: say yes. Tails: have you ever cheated?",
    ]


@pytest.mark.parametrize("name", ["x[{}]", "x [{}]", "x_{}", "x.{}.", "__js_x_{}", "Ever cheated? [{}]"])
def test_columns_of_one_question_are_found_however_they_are_called(tmp_path: Path, name: str) -> None:
    """A column called like the value's own name stays as it is."""
    heads = ",".join(name.format(each) for each in ("value", "channel", "once", "state"))
    (tmp_path / "data.csv").write_text(
        f"price_value,{heads}\n1,yes,coin_flip,device,answered\n2,no,coin_flip,no,answered\n"
    )
    opened = open_file(tmp_path / "data.csv", [])
    assert [each["name"] for each in opened.shares().document["questions"]] == [
        "price_value", "Ever cheated?" if "Ever" in name else "x"]  # fmt: skip


def test_column_of_channels_is_used_for_the_one_before_it(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("id,Q5,Q6\n1,yes,coin_flip\n2,no,coin_flip\n")
    opened = open_file(path, [])
    assert _share(opened.shares().document) == (2, pytest.approx(0.5))
    assert "every value of Q6 is a channel, and is used for the answers in Q5" in str(opened.notes)
    for text in ("Q6,Q5\ncoin_flip,yes\n", "x,x_channel,y\nyes,coin_flip,coin_flip\n"):
        path.write_text(text)
        with pytest.raises(SpecError, match=r"column '(Q6|y)': holds channels"):
            open_file(path, [])


BAD_UPLOADS = [
    b"", b"\n", b"a,b\n[/x],1\n", b'"a\r\n', b"a\rb\r", b"sep=\n", b"Respondent ID\n\n",
    b'a\n"{""ImportId"":1}"\n', b"\xff\xfe\x00", b"a,b\r1,2\r\n3,4\n", b"a,b\n" + b"9999999999-12-31,-99\n" * 20,
]  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "ods", "por", "xpt", "sas7bdat"])
def test_bad_upload_is_an_error_in_words(ending: str) -> None:
    for data in BAD_UPLOADS:
        rows, told = [], ""
        try:
            rows = FileAnalysis(SHARES, {}).document(UploadedFile(f"data.{ending}", data, {}))["rows"]
        except EstimateError as error:
            told = str(error)
        assert rows or f"data.{ending}" in told, data


def test_ids_and_times_of_an_export_are_no_shares(tmp_path: Path) -> None:
    """A page of them would hide the figure that is asked for; few texts, and numbers with a text, stay."""
    rows = [f"2026-11-01 10:{one:02d}:00,R_{one},{20 + one},{'ab'[one % 2]},yes\n" for one in range(40)]
    (tmp_path / "data.csv").write_text("StartDate,ResponseId,age,group,cheated\n" + "".join(rows))
    opened = open_file(tmp_path / "data.csv", ["cheated=coin_flip"])
    assert opened.questions == ("age", "group", "cheated")
