"""The table of the survey's keys says what the schema says, so that a key is in both or in neither."""

from collections.abc import Mapping
from typing import Any

from sottovoce.shared.survey_keys import ITEM, MARK, OF_MATRICES, OF_NOTES, REQUIRED, SURVEY, TEXTS

from tests.survey_reference import SCHEMA

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


def test_keys_that_only_public_questions_have_are_those_of_the_schema() -> None:
    """Each says why."""
    needed = QUESTION["dependentRequired"].items()
    assert {key for key, row in ITEM.items() if row.only_public} == {key for key, keys in needed if "public" in keys}
