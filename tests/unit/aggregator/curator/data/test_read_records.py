"""A declaration is read strictly, and a curator's file as it was declared; no message repeats what it holds."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from sottovoce.aggregator.curator.data.read_records import digest_of, read_declaration, read_records
from sottovoce.aggregator.curator.declaration import (
    Categories,
    DataRecords,
    Declaration,
    MarkColumn,
    NumberColumn,
    parse_declaration,
)
from sottovoce.shared.errors import SpecError

from tests.unit.shared.test_schema import validator

AGE = {"minimum": 16, "maximum": "18.5", "step": "0.5", "centre": 17}
DOCUMENT: dict[str, Any] = {
    "format": "sottovoce-data/1",
    "record": "one student, once",
    "columns": {
        "year": {"categories": ["first", "second"]},
        "habits": {"marks": ["copied", "phone"]},
        "age": AGE,
        "id": {"unused": True},
    },
}

DECLARATION = parse_declaration(DOCUMENT)
GOOD = "id,year,habits,age\n1,first,copied,16\n2,SECRET,phone;x,99\n3,second,,SECRET\n"


def read(folder: Path, text: str | bytes, names: Sequence[str] | None = None) -> DataRecords:
    (folder / "data.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_records(folder / "data.csv", DECLARATION, names)


def plain(found: DataRecords) -> dict[str, Any]:
    return {name: values.tolist() for name, values in found.columns.items()}


@pytest.mark.parametrize(
    "text",
    [GOOD, "\ufeff" + GOOD, GOOD.replace("\n", "\r\n"), GOOD.rstrip("\n"), GOOD.replace("first", '"first"')],
    ids=["plain", "byte order mark", "CR LF", "no last line end", "quoted"],
)
def test_csv_is_read_as_declared(tmp_path: Path, text: str) -> None:
    """With other, clipped, and the centre for what does not fit, each counted for the curator."""
    found = read(tmp_path, text)

    assert plain(found) == {"year": [0, 2, 1], "habits": [1, 2, 0], "age": [0, 5, 2]}
    assert found.misfits == {"year": 1, "habits": 1, "age": 2}
    assert found.count == 3


def test_parquet_is_read_as_the_same_csv(tmp_path: Path) -> None:
    texts = read(tmp_path, GOOD + "4,,,18.5\n")
    rows = "(1,'first','copied',16.0),(2,'SECRET','phone;x',99),(3,'second',NULL,'NaN'::DOUBLE),(4,NULL,'',18.5)"
    duckdb.sql(f"COPY (FROM (VALUES {rows}) AS t(id, year, habits, age)) TO '{tmp_path}/data.parquet'")
    found = read_records(tmp_path / "data.parquet", DECLARATION)

    assert sorted(zip(*plain(found).values(), strict=True)) == sorted(zip(*plain(texts).values(), strict=True))
    assert found.misfits == texts.misfits


def test_only_the_named_columns_are_read(tmp_path: Path) -> None:
    assert list(read(tmp_path, GOOD, ["age"]).columns) == ["age"]
    with pytest.raises(SpecError, match="is not declared"):
        read(tmp_path, GOOD, ["SECRET"])


def test_text_is_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(f"{n},first,phone,{n % 7 + 14}\n" for n in range(50))
    whole = plain(read(tmp_path, "id,year,habits,age\n" + rows))
    monkeypatch.setattr("sottovoce.aggregator.file_formats.csv_lines.CHUNK", 7)
    monkeypatch.setattr("sottovoce.aggregator.curator.data.read_records._MOST_REMEMBERED", 2)
    assert plain(read(tmp_path, "id,year,habits,age\n" + rows)) == whole


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no header; its first line must name the columns"),
        ("year,habits,age\n", "there are no records"),
        ("year,habits\nSECRET,\n", "line 1: the declared column 'age' is missing"),
        ("year,habits,age,SECRET\n", "line 1, column 4: has a name that is not declared"),
        ("year,habits,age,age\n", "line 1, column 4: the column 'age' stands there twice"),
        ("year;habits;age\n", "the cells must be separated by commas"),
        (GOOD + "4,first\n", "line 5: 2 cells where the header has 4"),
        (GOOD + "\n", "line 5: is empty"),
        (GOOD + '4,"SECRET"x,,\n', "line 5: cannot be read as CSV"),
        (GOOD.encode() + b"4,\xff,,\n", "line 5, column 'year': is not UTF-8"),
        (GOOD + "4,\0,,\n", "line 5: cannot be read as CSV"),
        (",".join(map(str, range(1_000_000))), "line 1: is longer than 65,535 bytes"),
        (",".join(map(str, range(1_001))), "has 1,001 columns; at most 1,000 are read"),
    ],
)
def test_fault_of_form_is_told_with_its_place(tmp_path: Path, text: str | bytes, told: str) -> None:
    with pytest.raises(SpecError) as caught:
        read(tmp_path, text)

    assert told in str(caught.value)
    assert "SECRET" not in str(caught.value)


def test_no_value_of_parquet_raises_an_error(tmp_path: Path) -> None:
    """A list is several marks, as in Python; bytes, times, nested and endless values have their fixed places."""
    file = tmp_path / "data.parquet"
    rows = (
        "SELECT 'first'::BLOB AS year, ['phone', 'copied'] AS habits, 'Infinity'::DOUBLE AS age, {'a': 1} AS id "
        "UNION ALL SELECT '\\xFF'::BLOB, NULL, 18.5, NULL UNION ALL SELECT NULL, ['x'], NULL, {'a': 2}"
    )
    duckdb.sql(rows).write_parquet(str(file))
    found = read_records(file, DECLARATION)

    assert sorted(zip(*plain(found).values(), strict=True)) == [(0, 3, 2), (2, 0, 2), (2, 0, 5)]
    assert found.misfits == {"year": 2, "habits": 1, "age": 2}
    for kind in ("TIME '10:00'", "uuid()", "INTERVAL 3 MONTH", "TIMESTAMPTZ '2026-01-01'", "true", "1e30::HUGEINT"):
        duckdb.sql(f"SELECT {kind} AS year, {kind} AS habits, {kind} AS age").write_parquet(str(file))
        assert read_records(file, DECLARATION).count == 1


def test_damaged_parquet_is_told(tmp_path: Path) -> None:
    file = tmp_path / "data.parquet"
    duckdb.sql(f"COPY (SELECT 'a' AS year, '' AS habits, 16 AS age FROM range(1000)) TO '{file}'")  # noqa: S608
    whole = file.read_bytes()
    for content, told in [(whole[:-9], "cut off"), (whole[:99] + whole[-99:], "damaged"), (b"year\n", "cannot be")]:
        file.write_bytes(content)
        with pytest.raises(SpecError, match=told):
            read_records(file, DECLARATION)
    file.unlink()
    with pytest.raises(SpecError, match="cannot be read"):
        read_records(file, DECLARATION)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"\.csv or \.parquet"):
        read_records(tmp_path / "data.xlsx", DECLARATION)
    for absent in (lambda path: read_records(path, DECLARATION), digest_of, read_declaration):
        with pytest.raises(SpecError, match=r"was not found|cannot be read"):
            absent(tmp_path / "data.csv")


def test_declaration_is_read_from_yaml(tmp_path: Path) -> None:
    path = tmp_path / "data.yaml"
    text = (
        "format: sottovoce-data/1\nrecord: one student\ncolumns:\n  age: {minimum: 9, maximum: 3, step: 1, centre: 3}\n"
    )
    path.write_text(text)
    with pytest.raises(SpecError) as caught:
        read_declaration(path)
    [(pointer, _)] = caught.value.problems
    assert caught.value.places[pointer] == "columns, age, maximum, line 4"

    path.write_text(text.replace("minimum: 9", "minimum: 1"))
    assert read_declaration(path).columns["age"].place("2").value == 1
    assert np.array_equal([len(digest_of(path))], [64])


def declared(**columns: Any) -> Declaration:
    return parse_declaration({**DOCUMENT, "columns": columns})


def test_declaration_names_each_column() -> None:
    found = parse_declaration(DOCUMENT)

    assert found.columns == {
        "year": Categories(("first", "second")),
        "habits": MarkColumn(("copied", "phone")),
        "age": NumberColumn(Fraction(16), Fraction("18.5"), Fraction("0.5"), Fraction(17)),
    }
    assert found.unused == ("id",)
    assert validator("data").is_valid(DOCUMENT)


def test_digest_is_of_what_is_meant() -> None:
    """16 and "16" are one bound; another centre is another declaration."""
    texts = {key: str(value) for key, value in AGE.items()}
    assert declared(age=AGE).digest == declared(age=texts).digest
    assert declared(age=AGE).digest != declared(age={**AGE, "centre": "17.5"}).digest


@pytest.mark.parametrize(
    ("column", "pointer", "told"),
    [
        ({"minimum": 1, "maximum": 2, "step": 1}, "centre", "is missing"),
        ({**AGE, "maximum": 16}, "maximum", "larger than the minimum"),
        ({**AGE, "maximum": 10}, "maximum", "larger than the minimum"),
        ({**AGE, "minimum": "young"}, "minimum", "must be a whole number, or a decimal"),
        ({**AGE, "minimum": 16.5}, "minimum", "must be a whole number, or a decimal"),
        ({**AGE, "step": 0}, "step", "larger than 0"),
        ({**AGE, "step": "0.3"}, "step", "whole steps"),
        ({**AGE, "step": "0.000000001", "maximum": 10000}, "step", "at most 2^32"),
        ({**AGE, "centre": 20}, "centre", "between minimum and maximum"),
        ({**AGE, "centre": "17.2"}, "centre", "a point of the grid"),
        ({**AGE, "colour": 1}, "colour", "is not a known key"),
        ({"categories": []}, "categories", "a list of 1 to"),
        ({"categories": ["a", "a"]}, "categories/1", "is there twice"),
        ({"categories": [1]}, "categories/0", "must be text"),
        ({"marks": ["a;b"]}, "marks", "no ; and no space"),
        ({"marks": [f"m{n}" for n in range(100_001)]}, "marks", "1 to 100"),
        ({"text": 0}, "text", "1 to 200"),
        ({"text": "long"}, "text", "1 to 200"),
        ({"unused": False}, "", "must have categories, or marks"),
        ({"categories": ["a"], "marks": ["a"]}, "", "must have categories, or marks"),
        ("first", "", "must have categories, or marks"),
    ],
)
def test_fault_in_a_column_is_told_with_its_place(column: object, pointer: str, told: str) -> None:
    with pytest.raises(SpecError) as caught:
        declared(answer=column)

    [problem] = caught.value.problems
    assert problem.pointer == "/columns/answer" + (f"/{pointer}" if pointer else "")
    assert told in problem.message


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({**DOCUMENT, "format": "sottovoce-survey/1"}, "/format"),
        ({**DOCUMENT, "record": ""}, "/record"),
        ({**DOCUMENT, "columns": {}}, "/columns"),
        ({**DOCUMENT, "columns": {"id": {"unused": True}}}, "/columns"),
        ({**DOCUMENT, "columns": {1: {"marks": ["a"]}}}, "/columns/1"),
        ({**DOCUMENT, "owner": "ann"}, "/owner"),
        ([], ""),
    ],
)
def test_fault_in_the_whole_is_told_with_its_place(document: object, pointer: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_declaration(document)

    assert pointer in {problem.pointer for problem in caught.value.problems}


def test_cell_that_is_not_declared_is_other() -> None:
    assert [Categories(("a", "b")).place(text) for text in ("b", "c", "other")] == [(1, True), (2, False), (2, False)]
    assert Categories(("other", "b")).cells == ("other", "b")
    assert Categories(("other", "b")).place("c") == (0, False)


def test_cell_of_marks_is_a_mask() -> None:
    marks = MarkColumn(("copied", "phone"))
    assert [marks.place(text) for text in ("phone; copied;copied", "", "x;phone")] == [(3, True), (0, True), (2, False)]


@pytest.mark.parametrize(
    ("text", "value", "fits"),
    [
        ("16", 0, True),
        (" 17 ", 2, True),
        ("17.25", 2, True),
        ("17.26", 3, True),
        ("1.7e1", 2, True),
        ("-3", 0, False),
        ("1e99", 5, False),
        ("", 2, False),
        ("nan", 2, False),
        ("17,5", 2, False),
        ("9" * 400, 2, False),
    ],
)
def test_cell_of_a_number_is_a_point_of_the_grid(text: str, value: int, fits: bool) -> None:
    number = declared(age=AGE).columns["age"]
    assert number.place(text) == (value, fits)
