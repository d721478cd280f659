"""Forms and conditions mean here what they mean to pyxform 4.5 and ODK's engine, or a note names the row."""

from decimal import Decimal
from typing import Any

import pytest
import xlsxwriter
from sottovoce.aggregator.authoring.xlsform import Imported, read_xlsform
from sottovoce.aggregator.authoring.xlsform_relevant import (
    ReferencedQuestion,
    UnsupportedConditionError,
    conditions,
    shown_where_blank,
)
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.visibility import Condition, is_shown

from tests.unit.aggregator.authoring.test_xlsform import CHOICES, SURVEY, YES_NO, _form, _items, _told
from tests.unit.aggregator.authoring.workbooks import Table
from tests.unit.test_imports import ROOT

ABC = tuple(("k", name, name.upper()) for name in "abc")
ASKED = (("select_one yn", "s", "S?"), ("select_one k", "kind", "Kind?"))


def _question(form: Imported, name: str) -> dict[str, Any]:
    parse_survey(form.document)
    return next(item for item in form.document["questions"] if item.get("name") == name)


@pytest.mark.parametrize(
    ("yes", "no", "heading", "kind"),
    [
        ("Yes", "No", "label", "boolean"),
        ("ja", "Nein", "label::Deutsch", "boolean"),
        ("Sim", "Não", "label::Português (pt-BR)", "boolean"),
        ("Oui", "Non", "label::FR", "boolean"),
        ("Enter date", "I do not know", "label", "select_one"),
        ("Ja", "Nein", "label", "select_one"),
        ("Yee", "Nedda", "label::Luganda (lg)", "select_one"),
    ],
)
def test_choice_is_yes_or_no_only_by_our_own_words(yes: str, no: str, heading: str, kind: str) -> None:
    """Any other label of two options named yes and no is kept."""
    survey = (("type", "name", heading), ("select_one d", "a", "A?"))
    form = _form(survey, (("list_name", "name", heading), ("d", "yes", yes), ("d", "no", no)))
    asked = _question(form, "a")

    assert asked["type"] == kind
    assert kind == "boolean" or [next(iter(each["label"].values())) for each in asked["choices"]] == [yes, no]


def test_head_of_a_table_of_questions_asks_nothing() -> None:
    """ODK shows its text and the columns' labels: a question would cost each person an answer without a meaning."""
    form = _form((
        ("type", "name", "label", "appearance", "relevant"),
        ("begin group", "rows", "", "field-list"),
        ("select_one k", "head", "How often?", "w4 label"),
        ("select_one k", "beer", "Beer", "list-nolabel"),
        ("select_one k", "wine", "Wine", "list-nolabel", "${beer} = 'a'"),
        ("end group", "", ""),
    ), (CHOICES, *ABC))  # fmt: skip

    assert _question(form, "head") == {"type": "note", "name": "head", "label": {"en": "How often?"}}
    assert [question.name for question in parse_survey(form.document).questions] == ["beer", "wine"]
    assert _question(form, "wine")["visible_if"] == {"beer": ["a"]}
    assert _told(form) == []


@pytest.mark.parametrize(
    ("condition", "noted"),
    [
        ("${kind} != 'a'", True),
        ("not(${n} > 3)", True),
        ("not(selected(${kind}, 'a'))", True),
        ("not(${kind} != 'a')", False),
        ("${n} <= 3", False),
        ("${s} != 'yes'", False),
        ("${s} = 'yes' and not(${kind} = 'a')", True),
    ],
)
def test_not_on_a_question_that_may_be_hidden_is_noted(condition: str, noted: bool) -> None:
    """The form shows the row where that question is blank, and a survey never does."""
    form = _form((
        ("type", "name", "label", "relevant", "constraint"),
        ("select_one yn", "s", "S?"),
        ("select_one k", "kind", "Kind?", "${s} = 'yes'"),
        ("integer", "n", "N?", "${s} = 'yes'", ". >= 0 and . <= 9"),
        ("select_one yn", "b", "B?", condition),
    ), (CHOICES, *YES_NO, *ABC))  # fmt: skip

    assert _question(form, "b")["visible_if"]
    assert any(one.startswith("survey, row 5") and "has no answer" in one for one in _told(form)) == noted


def test_page_says_which_conditions_hold_for_an_absent_answer() -> None:
    """Each of its six lines is what a survey does, and a note is made just where ODK shows the question."""
    page = (ROOT / "docs" / "how_to" / "write_a_survey.md").read_text(encoding="utf-8")
    table = page.partition("| condition on an absent answer")[2].partition("\n\n")[0].splitlines()[2:]
    asked = {
        "n": ReferencedQuestion("n", {}, step=Decimal(1), absent=True),
        "kind": ReferencedQuestion("kind", {name: name for name in "abc"}, absent=True),
    }
    assert len(table) == 6
    for line in table:
        rule, here, odk, _ = (cell.strip(" `") for cell in line.strip("|").split("|"))
        name = "${kind}" if "'a'" in rule else "${n}"
        whole = rule.replace("..", name) if ".." in rule else f"{name} {rule}"
        assert here == "hides"
        assert shown_where_blank([whole], asked) == ([name[2:-1]] if "shows" in odk else [])
        assert is_shown([Condition(name[2:-1], span=(0, 9))], [], {}) is False


def test_other_headings_are_read_or_named() -> None:
    form = _form((
        ("command", "tag", "caption", "bind::constraint", "bind::required", "Constraint Message", "guidance_hint",
         "bind::jr:noAppErrorString", "My remarks", "readonly"),
        ("integer", "n", "N?", ". >= 0 and . <= 9", "yes", "0 to 9", "Think.", "", "check", "yes"),
    ))  # fmt: skip

    assert (_question(form, "n")["min"], _question(form, "n")["max"]) == (0, 9)
    assert [(one.row, one.column) for one in form.left_out] == [
        (1, "constraint_message"), (1, "guidance_hint"), (2, "readonly")]  # fmt: skip


@pytest.mark.parametrize(
    ("heading", "rows"),
    [
        *(
            (heading, [("select_one yn", "b", "B?", "${s} = 'yes'")])
            for heading in ("relevance", "bind::relevant", "bind:relevant", "Bind : relevant", "Relevant")
        ),
        # The condition of a group is the one of its questions.
        *(
            ("relevant", [(begin, "g", "", "${s} = 'yes'"), ("select_one yn", "b", "B?"), ("end group",)])
            for begin in ("begin  group", "begin group", "Begin Group", "begin_group")
        ),
    ],
)
def test_condition_is_read_however_its_heading_and_its_group_are_written(heading: str, rows: list[Any]) -> None:
    found = _items((("type", "name", "label", heading), ASKED[0], *rows))
    assert found["b"]["visible_if"] == {"s": ["yes"]}


@pytest.mark.parametrize("name", ["repeat", "lgroup", "looped group", "loop over yn", "loop"])
def test_repeated_group_is_left_out_however_it_is_written(name: str) -> None:
    form = _form((SURVEY, (f"begin {name}", "g", "G"), ("select_one yn", "b", "B?"),
                  (f"end {name.partition(' over')[0]}",), ("select_one yn", "c", "C?")))  # fmt: skip
    assert [item["name"] for item in form.document["questions"]] == ["c"]
    assert [one.row for one in form.left_out] == [2, 3]


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("select one from k", "select_one"), ("select1 k", "select_one"), ("Select_One k", "select_one"),
        ("select all that apply from k", "select_multiple"), ("select  multiple k", "select_multiple"),
        ("add select one prompt using k", "select_one"), ("select_one k or specify other", "select_one"),
        ("q int", "integer"), ("add integer prompt", "integer"), ("q note", "note"),
    ],
)  # fmt: skip
def test_type_is_read_however_it_is_written(written: str, kind: str) -> None:
    """Older names too, as pyxform still does."""
    survey = (("type", "name", "label", "constraint"), (written, "n", "N?", ". >= 0 and . <= 9"), ASKED[0])
    assert _items(survey, (CHOICES, *YES_NO, *ABC))["n"]["type"] == kind


@pytest.mark.parametrize(
    ("kind", "constraint", "ends"),
    [
        ("integer", ". >= 17.5 and . < 99.5", (18, 99)),
        ("integer", ". > 17.5 and . <= 99.9", (18, 99)),
        ("integer", ". >= 18 and . >= 0 and . <= 99", (18, 99)),
        ("integer", ". < 9 and . > -3 and . < 7", (-2, 6)),
        ("decimal", ". > 0 and . <= 1", ("0.1", "1")),
        ("date", ". > date(‘2025-12-31’) and . < date('2027-01-01')", ("2026-01-01", "2026-12-31")),
    ],
)
def test_ends_are_the_last_values_that_a_constraint_allows(kind: str, constraint: str, ends: tuple[Any, Any]) -> None:
    found = _items((("type", "name", "label", "constraint"), (kind, "n", "N?", constraint)))["n"]
    assert (found["min"], found["max"]) == ends


@pytest.mark.parametrize("constraint", [". >= date('2026-13-45') and . < date('2027-02-30')", ". >= 1e5", "." * 200])
def test_constraint_that_is_none_is_named(constraint: str) -> None:
    form = _form((("type", "name", "label", "constraint"), ("date", "d", "D?", constraint), ASKED[0]))
    assert "survey, row 2" in _told(form)[0]


def test_question_that_may_stay_empty_is_noted_once() -> None:
    """With the number of such questions; those that offer declining are none."""
    form = _form((
        ("type", "name", "label", "required", "relevant"),
        ("select_one yn", "s", "S?", True),
        ("select_one yn", "a", "A?", ""),
        ("select_one yn", "b", "B?", "no"),
        ("select_one yn", "c", "C?", "", "${s} = 'yes'"),
    ))  # fmt: skip

    assert [(one.row, one.column) for one in form.left_out] == [(3, "required")]
    assert "may stay empty in the form: 2; here they need an answer" in _told(form)[0]


@pytest.mark.parametrize("condition", ["${kind} = 'a' or ${kind} = 'b'", "selected(${m}, 'a') or ${s} = 'yes'"])
def test_label_of_a_group_is_shown_with_its_questions(condition: str) -> None:
    form = _form((
        ("type", "name", "label", "relevant"), *ASKED, ("select_multiple k", "m", "M?"),
        ("begin group", "g", "Of these", condition), ("select_one yn", "b", "B?"), ("end group",),
    ), (CHOICES, *YES_NO, *ABC))  # fmt: skip
    note, asked = (_question(form, name) for name in "gb")

    assert {key: note.get(key) for key in ("visible_if", "any_of")} == {
        key: asked.get(key) for key in ("visible_if", "any_of")
    }
    assert "visible_if" in note or "any_of" in note
    assert form.left_out == ()


def test_what_a_survey_cannot_say_of_choices_is_named() -> None:
    form = _form((
        ("type", "name", "label", "constraint", "parameters", "disabled"),
        ("select_multiple k", "m", "M?", "not(selected(., 'a') and count-selected(.) > 1)", "randomize=true"),
        ("select_one yn", "off", "Off?", "", "", "yes"),
    ), (("list_name", "name", "label", "image"), *YES_NO, ("k", "a", "A", "a.png"),
        ("k", "b", "B of ${m}")))  # fmt: skip

    assert [item["name"] for item in form.document["questions"]] == ["m"]
    assert [(one.sheet, one.row, one.column) for one in form.left_out] == [
        ("survey", 2, "constraint"), ("survey", 2, "parameters"), ("survey", 3, ""),
        ("choices", 4, "media"), ("choices", 5, "label")]  # fmt: skip


def test_labels_are_what_the_spreadsheet_shows(tmp_path: Any) -> None:
    """5 %, 10% and 2.00 are numbers in the file; names and other numbers are as they were."""
    rows = [
        ("k", 5, 0.05, "0 %"),
        ("k", 10, 0.1, "0%"),
        ("k", 2, 2, "0.00"),
        ("k", 1, 1234.5, "#,##0.00"),
        ("k", 3, 3, ""),
    ]
    with xlsxwriter.Workbook(tmp_path / "form.xlsx") as book:
        survey, choices = book.add_worksheet("survey"), book.add_worksheet("choices")
        for number, row in enumerate((SURVEY, ("select_one k", "a", "A?"))):
            survey.write_row(number, 0, row)
        choices.write_row(0, 0, CHOICES)
        for number, (listed, name, label, code) in enumerate(rows, 1):
            choices.write_row(number, 0, [listed, name])
            choices.write_number(number, 2, label, book.add_format({"num_format": code}) if code else None)
    found = read_xlsform((tmp_path / "form.xlsx").read_bytes()).document["questions"][0]["choices"]

    assert [each["label"]["en"] for each in found] == ["5 %", "10%", "2.00", "1,234.50", "3"]
    assert [each["name"] for each in found] == ["5", "10", "2", "1", "3"]


def test_options_that_differ_stay_different() -> None:
    names = ("-1", "1", "-99", "1.5", "1-5", "Да", "Нет", "a", "A")
    found = _items((SURVEY, ("select_one m", "m", "M?")), (CHOICES, *(("m", name, name) for name in names)))["m"]
    assert [each["name"] for each in found["choices"]] == [
        "minus_1", "1", "minus_99", "1_5", "1_5_2", "option", "option_2", "a", "a_2"]  # fmt: skip


def test_list_with_a_name_twice_is_refused_with_its_question() -> None:
    """Yes, No, and again no, called Never: pyxform refuses it, too."""
    form = _form((SURVEY, ("select_one t", "t", "T?"), ASKED[0]), (CHOICES, *YES_NO, ("t", "yes", "Yes"),
                  ("t", "no", "No"), ("t", "no", "Never")))  # fmt: skip
    assert _told(form) == ["survey, row 2: choices: is used twice"]


def test_condition_with_the_quotes_of_a_spreadsheet_is_read() -> None:
    choices: Table = (CHOICES, *YES_NO, ("t", True, "True"), ("t", False, "False"))
    found = _items((("type", "name", "label", "relevant"), ASKED[0], ("select_one t", "t", "T?"),
                    ("note", "x", "X", "${s} = ‘yes’"), ("note", "y", "Y", "${t} = “TRUE”")), choices)  # fmt: skip
    assert (found["x"]["visible_if"], found["y"]["visible_if"]) == ({"s": ["yes"]}, {"t": ["true"]})


def test_one_name_in_two_groups_is_named_apart() -> None:
    form = _form((
        ("type", "name", "label", "relevant"),
        ("begin group", "g"), ("select_one yn", "a", "A?"), ("end group",),
        ("begin group", "h"), ("select_one yn", "a", "And A?"), ("end group",),
        ("note", "n", "N", "${a} = 'yes'"),
    ))  # fmt: skip

    assert [item["name"] for item in form.document["questions"]] == ["a", "a_2", "n"]
    assert [(one.row, one.column) for one in form.left_out] == [(6, "name"), (8, "relevant")]
    assert "here it is a_2" in _told(form)[0]


def test_number_with_a_condition_says_what_stands_for_it() -> None:
    days = ". >= date('2000-01-01') and . <= date('2026-12-31')"
    asked = ("date", "t", "T?", "${s} = 'yes'", days)
    form = _form((("type", "name", "label", "relevant", "constraint"), ASKED[0], asked))
    assert _told(form) == [
        "survey, row 3, column relevant: people who do not see it report 2000-01-01, which counts in a mean"
    ]


@pytest.mark.parametrize("step", ["0", "-2", "2"])
def test_range_of_any_step_gives_no_traceback(step: str) -> None:
    form = _form((
        ("type", "name", "label", "parameters", "relevant"),
        ("range", "r", "R?", f"start=0 end=20 step={step}"), ASKED[0], ("note", "n", "N", "", "${r} > 3"),
    ))  # fmt: skip
    assert step != "2" or _question(form, "n")["visible_if"] == {"r": {"min": "4"}}


OPTIONS = {"a": "a", "B": "b", "3": "c"}
EARLIER = {
    "One": ReferencedQuestion("one", OPTIONS),
    "two": ReferencedQuestion("two", OPTIONS),
    "many": ReferencedQuestion("many", OPTIONS, several=True),
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
    assert conditions([text], EARLIER) == said


def test_conditions_of_groups_hold_together() -> None:
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
    with pytest.raises(UnsupportedConditionError) as refused:
        conditions([text], EARLIER)
    assert "$" not in str(refused.value)
