"""Which public questions files have: those with which few people are expected alone, unless a card says otherwise."""

from typing import Any

import pytest
from sottovoce.aggregator.authoring.file_columns import file_columns, with_file_columns

from tests.documents import names


def item(name: str, kind: str = "select_one", **more: Any) -> dict[str, Any]:
    """A public question."""
    return {"type": kind, "name": name, "label": {"en": name}, "public": True, **more}


SEX = item("sex", choices=names(3))
YEAR = item("year", choices=names(6))
AGE = item("age", "integer", min=18, max=90)
CITY = item("city", choices=names(12))
SECRET = {"type": "boolean", "name": "cheated", "label": {"en": "c"}, "mechanism": {"name": "coin_flip"}}


def test_questions_are_taken_in_order_while_at_most_five_percent_are_alone() -> None:
    """Of 640 people, 18 combinations fit, 18 times 73 ages or 12 cities do not, and 11 bands of these would."""
    sex, year, age, city = file_columns([SEX, SECRET, YEAR, AGE, CITY], 640, chooses=True)

    assert [(each.name, each.values, each.shown) for each in (sex, year, age, city)] == [
        ("sex", 3, True), ("year", 6, True), ("age", 73, False), ("city", 12, False)]  # fmt: skip
    assert year.alone == pytest.approx((17 / 18) ** 639)
    assert age.alone == pytest.approx((1 - 1 / (18 * 73)) ** 639)
    fitting, more = (next(file_columns([item("all", choices=names(size))], 640, chooses=True)) for size in (213, 214))
    assert fitting.alone <= 0.05 < more.alone
    assert (age.groups, city.groups, year.groups) == (213 // 18, 213 // 18, 0)


def test_what_a_card_says_counts_before_the_rule() -> None:
    """A question that is added is one, also for those after it; one that is left out costs nothing."""
    columns = file_columns([{**SEX, "in_files": False}, {**AGE, "in_files": True}, YEAR], 640, chooses=True)
    assert [(each.name, each.shown) for each in columns] == [("sex", False), ("age", True), ("year", False)]
    assert not any(each.shown for each in file_columns([SEX, YEAR], 640, chooses=False))
    assert next(file_columns([{**SEX, "cohort": True}], 640, chooses=False)).shown


def test_document_says_yes_explicitly_and_nothing_else() -> None:
    """Each question that files have says ``in_files: true``, others and the cohort do not; conditions play no part."""
    later = {**YEAR, "visible_if": {"sex": ["c0"]}}
    found = with_file_columns({"questions": [{**SEX, "cohort": True}, SECRET, later, {**AGE, "in_files": False}]}, 640)
    assert [each.get("in_files") for each in found["questions"]] == [None, None, True, None]
    unfinished = with_file_columns({"questions": [item("y", choices=[])]}, None)
    assert unfinished == {"questions": [item("y", choices=[])]}
