"""Forms as ODK and Kobo have them become surveys; what cannot come over is told with its place."""

from typing import Any

import pytest
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.authoring.validation import survey_of_draft
from sottovoce.aggregator.authoring.xlsform import Imported, read_xlsform
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.unit.aggregator.authoring.workbooks import Table, workbook

SURVEY = ("type", "name", "label")
CHOICES = ("list_name", "name", "label")
YES_NO = (("yn", "yes", "Yes"), ("yn", "no", "No"))

HEAD = ("type", "name", "label", "mechanism", "relevant", "constraint")
MANY = tuple(("many", f"o{number}", f"Option {number}") for number in range(60))


def _form(survey: Table, choices: Table = (CHOICES, *YES_NO), **more: Table) -> Imported:
    """The form with ``required`` in each row, unless it has this heading itself."""
    if not any("required" in str(heading) for heading in survey[0]):
        survey = [(*row, *[""] * (len(survey[0]) - len(row)), "yes" if number else "required")
                  for number, row in enumerate(survey)]  # fmt: skip
    return read_xlsform(workbook(survey=survey, choices=choices, **more))


def _items(survey: Table, choices: Table = (CHOICES, *YES_NO)) -> dict[str, dict[str, Any]]:
    document = _form(survey, choices).document
    parse_survey(document)
    return {item["name"]: item for item in document["questions"]}


def _told(form: Imported) -> list[str]:
    return [str(one) for one in form.left_out]


def test_household_form_comes_over_and_the_rest_is_told_row_by_row() -> None:
    """As public examples are: metadata, text, a position, a repeated group of members, a calculation."""
    form = _form(
        (
            ("type", "name", "label", "hint", "relevant", "constraint", "calculation", "appearance"),
            ("start", "start"),
            ("begin group", "household", "The household", "", "", "", "", "field-list"),
            ("text", "head", "Name of the head"),
            ("integer", "Members", "How many live here?", "Count children.", "", ". >= 1 and . <= 20"),
            ("select_one yn", "owns", "Do you own this home?"),
            ("geopoint", "where", "Where is it?"),
            ("end group",),
            ("begin repeat", "member", "A member"),
            ("integer", "age", "How old?", "", "", ". >= 0 and . <= 120"),
            ("end repeat",),
            ("calculate", "total", "", "", "", "", "${members} * 2"),
            ("acknowledge", "done", "All is said."),
        ),
        settings=(("form_title", "form_id"), ("Household survey", "HH-2026")),
    )
    survey = parse_survey(form.document)

    assert (survey.name, survey.title) == ("hh_2026", {"en": "Household survey"})
    assert [item.name for item in survey.items] == ["household", "members", "owns", "done"]
    assert [question.type for question in survey.questions] == ["integer", "boolean"]
    assert survey.items[1].hint == {"en": "Count children."}
    assert [(one.sheet, one.row) for one in form.left_out] == [
        ("survey", 2), ("survey", 4), ("survey", 7), ("survey", 9), ("survey", 10), ("survey", 12)]  # fmt: skip
    assert "free text identifies people" in _told(form)[1]
    assert "a position on the map" in _told(form)[2]


def test_every_type_that_can_come_over_does() -> None:
    found = _items(
        (
            ("type", "name", "label", "constraint", "parameters", "appearance"),
            ("select_one color", "liked", "Which?"),
            ("select_multiple color", "seen", "Which ones?"),
            ("select_one color", "felt", "How much?", "", "", "likert"),
            ("integer", "days", "Days?", ". > 0 and . < 31"),
            ("decimal", "share", "Share?", "(. >= 0) and (. <= 1)"),
            ("range", "score", "Score?", "", "start=0 end=20 step=2"),
            ("date", "last", "When?", ".>=date('2026-01-01') and .<=date('2026-12-31')"),
            ("note", "thanks", "Thank you."),
        ),
        (CHOICES, ("color", 1, "Red"), ("color", "Dark Blue", "Blue"), ("color", "green", "Green")),
    )

    assert [item["type"] for item in found.values()] == [
        "select_one", "select_multiple", "rating", "integer", "decimal", "integer", "date", "note"]  # fmt: skip
    assert [choice["name"] for choice in found["liked"]["choices"]] == ["1", "dark_blue", "green"]
    assert (found["days"]["min"], found["days"]["max"]) == (1, 30)
    assert (found["score"]["max"], found["score"]["step"]) == (20, 2)
    assert found["last"]["max"] == "2026-12-31"


def test_matrix_comes_over_one_by_one() -> None:
    found = _items(
        (
            ("type", "name", "label", "appearance"),
            ("begin_group", "trust", "How much do you trust ...", "table-list"),
            ("select_one level", "police", "the police"),
            ("select_one level", "courts", "the courts"),
            ("end_group",),
        ),
        (CHOICES, ("level", "none", "Not at all"), ("level", "some", "Some"), ("level", "full", "Fully")),
    )

    assert [item["type"] for item in found.values()] == ["note", "select_one", "select_one"]
    assert found["police"]["choices"] == found["courts"]["choices"]


def test_texts_come_over_in_their_languages() -> None:
    form = _form(
        (
            ("type", "name", "label::English (en)", "label::Français", "hint::Français", "label::Klingon"),
            ("select_one yn", "ill", "Are you ill?", "Êtes-vous malade ?", "Aujourd’hui.", "bIropqu'?"),
            ("note", "end", "", "Merci."),
        ),
        (("list_name", "name", "label::English (en)"), *YES_NO),
        settings=(("form_title", "default_language"), ("Health", "English (en)")),
    )
    survey = parse_survey(form.document)

    assert survey.default_language == "en"
    assert survey.items[0].label == {"en": "Are you ill?", "fr": "Êtes-vous malade ?"}
    assert survey.items[0].hint == {"fr": "Aujourd’hui.", "en": "Aujourd’hui."}
    assert survey.items[1].label == {"fr": "Merci.", "en": "Merci."}
    assert any(one.startswith("survey, row 1, column label: the language is not known") for one in _told(form))


def test_conditions_chain_through_groups() -> None:
    found = _items(
        (
            ("type", "name", "label", "relevant", "constraint"),
            ("select_one yn", "smokes", "Do you smoke?"),
            ("integer", "age", "How old?", "", ". >= 0 and . <= 120"),
            ("begin_group", "g", "", "${smokes} = 'yes'"),
            ("select_one yn", "daily", "Every day?", "${age} >= 18"),
            ("select_multiple yn", "where", "Where?", "selected(${daily}, 'yes')"),
            ("end_group",),
            ("note", "bye", "Bye.", "not(${smokes} = 'yes' and ${age} < 30)"),
        )
    )

    assert found["daily"]["visible_if"] == {"smokes": ["yes"], "age": {"min": "18"}}
    assert found["daily"]["absent_category"] is True
    assert found["where"]["visible_if"] == {"smokes": ["yes"], "daily": ["yes"]}
    assert found["where"]["when_absent"] == []
    assert found["bye"]["any_of"] == {"smokes": ["no"], "age": {"min": "30"}}


def test_every_kind_of_hidden_question_has_something_to_send() -> None:
    found = _items(
        (
            ("type", "name", "label", "relevant", "constraint", "appearance"),
            ("select_one yn", "a", "A?"),
            ("integer", "n", "N?", "${a} = 'yes'", ". >= 2 and . <= 9"),
            ("decimal", "d", "D?", "${a} = 'yes'", ". >= 0.5 and . <= 2"),
            ("date", "t", "T?", "${a} = 'yes'", ". >= date('2026-01-01') and . <= date('2026-12-31')"),
            ("select_one yn", "b", "B?", "${a} = 'yes'"),
            ("select_multiple yn", "m", "M?", "${a} = 'yes'"),
        )
    )

    sent = [item.get("when_absent", item.get("absent_category")) for item in found.values()]
    assert sent == [None, "2", "0.5", "2026-01-01", True, []]
    assert all("visible_if" in found[name] for name in ("n", "d", "t", "b", "m"))


def test_form_of_too_many_items_is_refused_with_the_row() -> None:
    with pytest.raises(SpecError, match="survey, row 202: a survey has at most 200 items"):
        _form((SURVEY, *(("note", f"n{index}", "Hello") for index in range(300)), ("select_one yn", "a", "A?")))


def test_condition_that_cannot_be_said_is_told_and_its_question_shown_to_everybody() -> None:
    form = _form(
        (
            ("type", "name", "label", "relevant"),
            ("select_one yn", "a", "A?"),
            ("select_one yn", "b", "B?", "count-selected(${a}) > 1"),
            ("select_one yn", "c", "C?", "${later} = 'yes'"),
        )
    )

    assert "visible_if" not in form.document["questions"][1]
    assert [(one.row, one.column) for one in form.left_out] == [(3, "relevant"), (4, "relevant")]
    assert all("shown to everybody" in one and "count-selected" not in one for one in _told(form))


def test_cascading_select_is_left_out() -> None:
    """Its choices hang on an earlier answer."""
    form = _form(
        (
            ("type", "name", "label", "choice_filter"),
            ("select_one yn", "ok", "OK?"),
            ("select_one county", "county", "County?", "state=${state}"),
        ),
        (CHOICES, *YES_NO, ("county", "king", "King"), ("county", "pierce", "Pierce")),
    )

    assert [item["name"] for item in form.document["questions"]] == ["ok"]
    assert "choices that depend on an earlier answer" in _told(form)[0]


def test_mechanism_column_says_how_much_an_answer_could_hurt() -> None:
    rows = [("select_one yn", f"q{index}", "?", told) for index, told in enumerate(
        ("public", "A little", "", "badly", "1.5", "warner-ish"))]  # fmt: skip
    form = _form((("type", "name", "label", "mechanism"), *rows))

    assert [item.get("mechanism") for item in form.document["questions"]] == [
        None, {"epsilon": "2"}, {"name": "coin_flip"}, {"epsilon": "0.6931"}, {"epsilon": "1.5"}, {"epsilon": "1.0986"}
    ]  # fmt: skip
    assert form.document["questions"][0]["public"] is True
    assert _told(form)[0].startswith("survey, row 7, column mechanism: not known")


def test_public_question_that_depends_on_a_private_one_loses_its_condition() -> None:
    """It would give that answer away."""
    form = _form(
        (
            ("type", "name", "label", "relevant", "mechanism"),
            ("select_one yn", "a", "A?", "", ""),
            ("select_one yn", "b", "B?", "${a} = 'yes'", "public"),
        )
    )

    assert "visible_if" not in form.document["questions"][1]
    assert "would give that answer away" in _told(form)[0]


def test_names_used_twice_and_questions_without_label_or_ends_are_told() -> None:
    form = _form(
        (
            ("type", "name", "label", "default"),
            ("select_one yn", "a", "A?", "yes"),
            ("select_one yn", "a", "Again?"),
            ("select_one yn", "b", ""),
            ("integer", "n", "How many?"),
            ("select_one gone", "d", "D?"),
            ("select_one twice", "e", "E?"),
            ("hologram", "f", "F?"),
        ),
        (CHOICES, *YES_NO, ("twice", "x", "X"), ("twice", "x", "Also X"), ("twice", "y", "Y")),
    )

    assert [item["name"] for item in form.document["questions"]] == ["a"]
    assert [one.row for one in form.left_out] == [2, 3, 4, 5, 6, 7, 8]


def test_long_texts_and_control_characters_are_told_with_their_cell() -> None:
    """No text of a survey has 10,000 letters."""
    form = _form((SURVEY, ("select_one yn", "a", "A?"), ("note", "b", "x" * 10_000), ("note", "c", "bell \x07 rings")))

    assert [item["name"] for item in form.document["questions"]] == ["a"]
    assert "survey, row 3, column label: more than 4,000 letters" in _told(form)[0]
    assert "survey, row 4, column label: control characters" in "; ".join(_told(form))


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        ({"choices": (CHOICES, *YES_NO)}, "no sheet named survey"),
        ({"survey": (("type", "label"), ("note", "Hello"))}, "survey, row 1: there is no column name"),
        ({"survey": (("type", "name", "name"), ("note", "a", "b"))}, "two columns have the same heading"),
        ({"survey": (SURVEY, ("text", "a", "Say something"))}, "no question that can be asked"),
        ({"survey": (SURVEY,)}, "no question that can be asked"),
    ],
)
def test_form_without_what_every_form_has_is_refused(sheets: dict[str, Table], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        read_xlsform(workbook(**sheets))


def group(*rows: tuple[str, ...], level: str = "clearly", name: str = "intimate", label: str = "") -> Table:
    return (HEAD, ("begin group", name, label, level), *rows, ("end group",))


def asks(*names: str, mechanism: str = "", relevant: str = "") -> list[tuple[str, ...]]:
    return [("select_one yn", name, name.upper(), mechanism, relevant) for name in names]


def read(table: Table) -> tuple[Imported, Survey]:
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
    number = ("integer", "days", "Days", "", "", ". >= 0 and . <= 30")
    inner = (("begin group", "inner", ""), *asks("b", mechanism="badly"), ("end group",))
    form, survey = read(group(*asks("a"), number, *inner, *asks("c")))
    assert [survey.questions[index].name for index in survey.blocks[0].questions] == ["a", "b", "c"]
    assert [question.name for question in survey.questions] == ["a", "b", "c", "days"]
    assert [one.row for one in form.left_out] == [4, 6]


def test_block_that_is_refused_is_taken_apart_with_a_note() -> None:
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
    form, survey = read(group(*asks("a", "b"), level="secret"))
    assert survey.blocks[0].mechanism.odds == 9
    assert "not known" in str(form.left_out[0])
