"""Small surveys that tests ask."""

from typing import Any

from sottovoce.shared.parsing import parse_survey
from sottovoce.shared.spec import Survey


def document(**changes: Any) -> dict[str, Any]:
    """A survey file with one question of each kind, some top-level keys changed; None removes a key."""
    result: dict[str, Any] = {
        "format": "sottovoce-survey/1",
        "name": "exam",
        "revision": 1,
        "default_language": "en",
        "title": {"en": "Exams"},
        "questions": [
            {
                "type": "boolean",
                "name": "cheated",
                "label": {"en": "Cheated?"},
                "mechanism": {"name": "coin_flip"},
            },
            {
                "type": "select_one",
                "name": "reason",
                "label": {"en": "Why?"},
                "choices": [{"name": name, "label": {"en": name.title()}} for name in ("time", "fear", "fun")],
                "mechanism": {"name": "kary_rr", "odds": "3"},
            },
            {
                "type": "select_one",
                "name": "year",
                "label": {"en": "Year?"},
                "choices": [{"name": name, "label": {"en": name.title()}} for name in ("first", "second")],
                "public": True,
                "cohort": True,
            },
        ],
    }
    result.update(changes)
    return {key: value for key, value in result.items() if value is not None}


def survey(**changes: Any) -> Survey:
    """The same, parsed."""
    return parse_survey(document(**changes))


ANSWERS = {"cheated": "yes", "reason": "fear", "year": "second"}
"""One respondent's answers to it."""
