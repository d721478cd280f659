"""A declaration is read strictly; every cell has a place, whatever stands in it."""

import json
from fractions import Fraction
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from sottovoce.aggregator.curator.declaration import (
    Categories,
    Declaration,
    MarkColumn,
    NumberColumn,
    parse_declaration,
)
from sottovoce.shared.errors import SpecError

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
SCHEMA = json.loads(files("sottovoce.shared").joinpath("schema/data.schema.json").read_text(encoding="utf-8"))


def declared(**columns: Any) -> Declaration:
    return parse_declaration({**DOCUMENT, "columns": columns})


def test_declaration_names_each_column() -> None:
    """Categories, marks, a grid, and what is not read; numbers as text or whole."""
    found = parse_declaration(DOCUMENT)

    assert found.columns == {
        "year": Categories(("first", "second")),
        "habits": MarkColumn(("copied", "phone")),
        "age": NumberColumn(Fraction(16), Fraction("18.5"), Fraction("0.5"), Fraction(17)),
    }
    assert found.unused == ("id",)
    assert Draft202012Validator(SCHEMA).is_valid(DOCUMENT)


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
    """The pointer leads to it; the schema refuses what is of a wrong form."""
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
    """Who one record is must be said, and some column must be used."""
    with pytest.raises(SpecError) as caught:
        parse_declaration(document)

    assert pointer in {problem.pointer for problem in caught.value.problems}


def test_cell_that_is_not_declared_is_other() -> None:
    """The last cell, unless ``other`` was declared; then it fits there."""
    assert [Categories(("a", "b")).place(text) for text in ("b", "c", "other")] == [(1, True), (2, False), (2, False)]
    assert Categories(("other", "b")).cells == ("other", "b")
    assert Categories(("other", "b")).place("c") == (0, False)


def test_cell_of_marks_is_a_mask() -> None:
    """In any order, with spaces, twice; what is not declared is left out."""
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
    """The nearest one, after clipping; the declared centre for what is no number."""
    number = declared(age=AGE).columns["age"]
    assert number.place(text) == (value, fits)
