"""The table of the survey's keys is the schema's: what a key holds, and that a rule there is all that it needs."""

import pytest
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.survey_keys import (
    ITEM,
    MARK,
    MARKS,
    ONLY_PUBLIC,
    SURVEY,
    SURVEY_MARKS,
    SURVEY_TEXTS,
    TEXTS,
    SurveyKey,
)

from tests.survey_reference import SCHEMA
from tests.surveys import document


def test_keys_that_are_true_or_texts_are_found_in_the_schema() -> None:
    """An anchor is true like a mark, and has rules of its own: it needs a known share."""
    assert {"kiosk", "trial", "fresh_samples", "arms_per_wave"} <= {*SURVEY_MARKS} <= SURVEY.keys() - {"quick_exit"}
    assert {"title", "description", "consent", "notice", "neutral_title"} <= {*SURVEY_TEXTS}
    assert {"cohort", "in_files"} <= MARKS <= ITEM.keys() - {"anchor"}
    assert {"label", "hint"} <= {key for key, row in ITEM.items() if row.holds == TEXTS}


def test_row_is_all_that_a_key_without_rules_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """True or left out, or a text in the survey's language; it is written where it is given."""
    for key, holds, name, keys in (("loud", MARK, "MARKS", SURVEY_MARKS), ("motto", TEXTS, "TEXTS", SURVEY_TEXTS)):
        monkeypatch.setitem(SURVEY, key, SurveyKey(holds))
        monkeypatch.setattr(f"sottovoce.shared.parse_survey.SURVEY_{name}", [*keys, key])

    def parsed(**more: object) -> dict[str, object]:
        return {key: parse_survey(document(**more)).document.get(key) for key in ("loud", "motto")}

    assert parsed() == {"loud": None, "motto": None}
    assert parsed(loud=True, motto={"en": "On"}) == {"loud": True, "motto": {"en": "On"}}
    for wrong in ({"loud": False}, {"motto": {"fr": "Oui"}}):
        with pytest.raises(SpecError):
            parse_survey(document(**wrong))


def test_keys_that_only_public_questions_have_say_why() -> None:
    """Those that the schema lets nothing but a public question have."""
    needed = SCHEMA["$defs"]["question"]["dependentRequired"].items()
    assert ONLY_PUBLIC.keys() == {key for key, keys in needed if "public" in keys}
