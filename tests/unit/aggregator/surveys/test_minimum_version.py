"""Which release can answer a survey, and that the table's releases are those of the changelog."""

import re
from pathlib import Path

import pytest
from sottovoce.aggregator.planning.lint import SINCE, describe, oldest_release
from sottovoce.shared.mechanisms import MECHANISMS
from sottovoce.shared.survey_keys import ITEM, SURVEY
from sottovoce.shared.types import TYPES

from tests.documents import names
from tests.surveys import document, survey

CHANGELOG = (Path(__file__).parents[4] / "CHANGELOG.md").read_text(encoding="utf-8")
COIN, REASON, YEAR = document()["questions"]
DAY = {"type": "date", "name": "day", "label": {"en": "?"}, "min": "2026-01-01", "max": "2026-01-31", "public": True}
ROWS = {"type": "matrix", "name": "m", "label": {"en": "?"}, "rows": names(2, "r")}
UNARY = {"type": "rating", "choices": names(3), "mechanism": {"name": "optimal_unary", "odds": "3"}}
FIRST = {
    *("binary_rr", "kary_rr", "memoized_rr", "subset_selection", "hadamard_response", "sampled_option", "bitwise_rr"),
    *("rounding_rr", "level_table", "square_wave", "geometric", "sampled_coordinate"),
    *("boolean", "select_one", "rating", "select_multiple", "integer", "decimal", "vector"),
}
"""The mechanisms and question types that the first release read."""
ANY = {"type": "note", "name": "n", "label": {"en": "?"}, "any_of": {"year": ["first"]}}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"questions": [COIN, {**YEAR, "name": "date"}]}, None),
        ({"questions": [COIN, DAY]}, ("0.2.0", ["date"])),
        ({"questions": [COIN, {**ROWS, "of": UNARY}]}, ("0.2.0", ["optimal_unary"])),
        ({"questions": [COIN, YEAR, ANY]}, ("0.3.0", ["any_of"])),
        ({"questions": [COIN, DAY], "after": {"text": {"en": "Thanks"}}}, ("0.3.0", ["after"])),
        ({"retention": {"delete_on": "2030-01-01"}, "notice": {"en": "N"}}, ("0.3.0", ["notice", "delete_on"])),
        ({"trial": True, "revision": 2, "replaces": "0" * 64}, ("0.3.0", ["replaces", "trial"])),
    ],
    ids=str,
)
def test_oldest_release_is_that_of_the_youngest_word(changes, expected):
    """A key, a type or a mechanism; a question may have any name. Lint says so, and says nothing where all can."""
    asked = survey(**changes)

    assert oldest_release(asked) == expected
    assert any("or later" in line for line in describe(asked)) is (expected is not None)


def test_every_mechanism_and_type_has_its_release():
    """One that is added later needs its word in the table: an older program cannot answer a survey that names it."""
    assert {*MECHANISMS, *TYPES} - FIRST - {word for words in SINCE.values() for word in words} == set()


def test_every_row_of_the_table_of_keys_has_a_known_release():
    """One of another number would be said of no survey."""
    assert {row.since for rows in (SURVEY, ITEM) for row in rows.values()} - {"", *SINCE} == set()


@pytest.mark.parametrize("release", SINCE)
def test_changelog_tells_each_word_under_its_release(release):
    """A release of another number than expected, and its words would be told of one that never was."""
    sections = dict(re.findall(r"^## ([\w.]+)[^\n]*\n(.*?)(?=^## |\Z)", CHANGELOG, re.DOTALL | re.MULTILINE))
    told = sections.get(release) or sections["Unreleased"]

    assert [word for word in SINCE[release] if word not in told] == []
