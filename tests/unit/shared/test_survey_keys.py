"""The table of the survey's keys says what the schema says, so that a key is in both or in neither."""

from collections.abc import Mapping
from typing import Any

import pytest
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.survey_keys import ITEM, MARK, OF_MATRICES, OF_NOTES, REQUIRED, SURVEY, TEXTS, SurveyKey

from tests.survey_reference import SCHEMA
from tests.surveys import document

QUESTION, NOTE, MATRIX = (SCHEMA["$defs"][kind] for kind in ("question", "note", "matrix"))


def held(schema: Mapping[str, Any]) -> dict[str, str]:
    """What each key that may be left out holds by the schema, as the table says it."""
    rules = {key: rule for key, rule in schema["properties"].items() if key not in {"type", *schema["required"]}}
    return {
        key: MARK if rule.get("const") is True else TEXTS if rule.get("$ref") == "#/$defs/texts" else ""
        for key, rule in rules.items()
    }


def test_table_has_the_keys_of_the_schema_and_what_they_hold() -> None:
    """Those of a survey, a question, a note and a matrix; an anchor is true like a mark and has rules of its own."""
    assert {key: row.holds for key, row in SURVEY.items() if key not in REQUIRED} == held(SCHEMA)
    assert set(SCHEMA["required"]) == REQUIRED
    assert {**{key: row.holds for key, row in ITEM.items()}, "anchor": MARK} == held(QUESTION)
    assert ({*held(NOTE)}, {*held(MATRIX)}) == (OF_NOTES, OF_MATRICES)


def test_row_is_all_that_a_key_without_rules_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """True or left out, or a text in the survey's language; it is written where it is given."""
    monkeypatch.setitem(SURVEY, "loud", SurveyKey(MARK))
    monkeypatch.setitem(SURVEY, "motto", SurveyKey(TEXTS))

    def parsed(**more: object) -> dict[str, object]:
        return {key: parse_survey(document(**more)).document.get(key) for key in ("loud", "motto")}

    assert parsed() == {"loud": None, "motto": None}
    assert parsed(loud=True, motto={"en": "On"}) == {"loud": True, "motto": {"en": "On"}}
    for wrong in ({"loud": False}, {"motto": {"fr": "Oui"}}):
        with pytest.raises(SpecError):
            parse_survey(document(**wrong))


def test_keys_that_only_public_questions_have_are_those_of_the_schema() -> None:
    """Each says why."""
    needed = QUESTION["dependentRequired"].items()
    assert {key for key, row in ITEM.items() if row.only_public} == {key for key, keys in needed if "public" in keys}
