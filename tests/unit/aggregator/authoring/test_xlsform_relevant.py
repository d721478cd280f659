"""Conditions of forms, as far as a survey file can say them."""

from decimal import Decimal
from typing import Any

import pytest
from sottovoce.aggregator.authoring.xlsform_relevant import ReferencedQuestion, UnsupportedConditionError, conditions

ABC = {"a": "a", "B": "b", "3": "c"}
EARLIER = {
    "One": ReferencedQuestion("one", ABC),
    "two": ReferencedQuestion("two", ABC),
    "many": ReferencedQuestion("many", ABC, several=True),
    "age": ReferencedQuestion("age", {}, step=Decimal(1)),
    "share": ReferencedQuestion("share", {}, step=Decimal("0.1")),
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("${One} = 'a'", {"visible_if": {"one": ["a"]}}),
        ('"a"=${One}', {"visible_if": {"one": ["a"]}}),
        ("${One} != 'a'", {"visible_if": {"one": ["b", "c"]}}),
        ("${One} = 3", {"visible_if": {"one": ["c"]}}),
        ("selected(${many}, 'B')", {"visible_if": {"many": ["b"]}}),
        ("selected(${One}, 'B') or ${One}='a'", {"visible_if": {"one": ["a", "b"]}}),
        ("selected(${many}, 'a') or selected(${many}, 'B')", {"visible_if": {"many": ["a", "b"]}}),
        ("${age} > 17 and ${age} <= 65", {"visible_if": {"age": {"min": "18", "max": "65"}}}),
        ("18 <= ${age}", {"visible_if": {"age": {"min": "18"}}}),
        ("${share} < 0.5", {"visible_if": {"share": {"max": "0.4"}}}),
        ("${One}='a' or ${two}='B'", {"any_of": {"one": ["a"], "two": ["b"]}}),
        ("${age}>=18 and (${One}='a' or ${two}='B')", {
            "visible_if": {"age": {"min": "18"}}, "any_of": {"one": ["a"], "two": ["b"]}}),
        ("not(${One}='a' or ${two}='B')", {"visible_if": {"one": ["b", "c"], "two": ["a", "c"]}}),
        ("not(not(${age} < 18))", {"visible_if": {"age": {"max": "17"}}}),
        ("((${One}='a'))", {"visible_if": {"one": ["a"]}}),
    ],
)  # fmt: skip
def test_condition_is_said(text: str, said: dict[str, Any]) -> None:
    """With every "not" carried down."""
    assert conditions([text], EARLIER) == said


def test_conditions_of_groups_hold_together() -> None:
    """The group's and the question's own."""
    assert conditions(["${One} != 'a'", "${One} != 'B'", "${age} = 20"], EARLIER) == {
        "visible_if": {"one": ["c"], "age": {"min": "20", "max": "20"}}
    }


@pytest.mark.parametrize(
    "text",
    [
        "${gone} = 'a'", "${One} = 'z'", "${One} > 'a'", "${One} = ${two}", "'a' = 'a'", "${One}", "", "${One} =",
        "today() > 5", "${age} != 5", "${age} + 1 = 5", "${age} < 18 or ${age} > 65", "not(selected(${many}, 'a'))",
        "selected(${many}, 'a') and selected(${many}, 'B')", "(${One}='a'", "${One}='a')", "${One}='a' ${two}='a'",
        "(${One}='a' and ${two}='a') or ${age}=5", "(${One}='a' or ${two}='a') and (${One}='B' or ${age}=5)",
        "${One}='a' and ${One}='B'", "regex(${One}, '.*')", "(" * 60 + "${One}='a'" + ")" * 60, "${many} = 'a'",
    ],
)  # fmt: skip
def test_condition_that_cannot_be_said_is_refused(text: str) -> None:
    """In words, without repeating it."""
    with pytest.raises(UnsupportedConditionError) as refused:
        conditions([text], EARLIER)
    assert "$" not in str(refused.value)
