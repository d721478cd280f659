"""Groups of an XLSForm that have a mechanism become blocks."""

import pytest
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.authoring.validation import survey_of_draft
from sottovoce.aggregator.authoring.xlsform import Imported
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.unit.aggregator.authoring.test_xlsform import CHOICES, YES_NO, _form
from tests.unit.aggregator.authoring.workbooks import Table

HEAD = ("type", "name", "label", "mechanism", "relevant", "constraint")
MANY = tuple(("many", f"o{number}", f"Option {number}") for number in range(60))


def group(*rows: tuple[str, ...], level: str = "clearly", name: str = "intimate", label: str = "") -> Table:
    """A form with these rows in one group."""
    return (HEAD, ("begin group", name, label, level), *rows, ("end group",))


def asks(*names: str, mechanism: str = "", relevant: str = "") -> list[tuple[str, ...]]:
    """Rows of yes/no questions."""
    return [("select_one yn", name, name.upper(), mechanism, relevant) for name in names]


def read(table: Table) -> tuple[Imported, Survey]:
    """What is imported, and its survey."""
    form = _form(table, (CHOICES, *YES_NO, *MANY))
    return form, parse_survey(form.document)


@pytest.mark.parametrize(("level", "odds"), [("clearly", 9), ("badly", 4), ("2.1973", 9), ("1.0987", 3), ("0.6932", 2)])
def test_group_with_a_mechanism_is_a_block(level: str, odds: int) -> None:
    """At the sum of the levels, or at the epsilon; a draft of it is the same survey."""
    form, survey = read(group(*asks("a", "b"), level=level, label="Between us"))
    [made] = survey.blocks
    assert (made.mechanism.odds, [question.name for question in survey.questions]) == (odds, ["a", "b"])
    assert [item.type for item in survey.items] == ["note", "boolean", "boolean"]
    assert survey_of_draft(draft_of(form.document), survey.name).digest == survey.digest
    assert not form.left_out


def test_more_than_devices_allow_is_not_spent() -> None:
    """Five questions, a little each, would cost 10."""
    _, survey = read(group(*asks(*"abcde"), level="a little"))
    assert 2.9 < survey.epsilon <= 3


def test_what_cannot_be_in_a_block_is_asked_beside_it() -> None:
    """A number, with a note; an inner group adds to the block; what its questions name is noted."""
    number = ("integer", "days", "Days", "", "", ". >= 0 and . <= 30")
    inner = (("begin group", "inner", ""), *asks("b", mechanism="badly"), ("end group",))
    form, survey = read(group(*asks("a"), number, *inner, *asks("c")))
    assert [survey.questions[index].name for index in survey.blocks[0].questions] == ["a", "b", "c"]
    assert [question.name for question in survey.questions] == ["a", "b", "c", "days"]
    assert [one.row for one in form.left_out] == [4, 6]


def test_block_that_is_refused_is_taken_apart_with_a_note() -> None:
    """Too many answers, too many questions, or one question alone: each is then protected clearly by itself."""
    many = [("select_one many", name, name) for name in "abc"]
    form, survey = read(group(*many))
    assert (survey.blocks, len(survey.questions)) == ((), 3)
    assert "cannot be protected together" in str(form.left_out[0])
    _, survey = read(group(*asks(*"abcdefghijklm")))
    assert (survey.blocks, len(survey.questions)) == ((), 13)
    form, survey = read(group(*asks("a")))
    assert (survey.blocks, len(survey.questions), form.left_out) == ((), 1, ())


def test_public_condition_would_hide_a_question_of_a_block() -> None:
    """It is left out with a note, and the question is shown to everybody; one inside the block stays."""
    year = asks("year", mechanism="public")
    rows = group(*asks("a"), *asks("b", relevant="${year} = 'yes'"), *asks("c", relevant="${a} = 'yes'"))
    form, survey = read((HEAD, *year, *rows[1:]))
    assert [bool(item.conditions) for item in survey.items] == [False, False, False, True]
    assert len(survey.blocks[0].questions) == 3
    assert "shown to everybody" in str(form.left_out[0])


def test_unknown_level_protects_clearly() -> None:
    """And says so."""
    form, survey = read(group(*asks("a", "b"), level="secret"))
    assert survey.blocks[0].mechanism.odds == 9
    assert "not known" in str(form.left_out[0])
