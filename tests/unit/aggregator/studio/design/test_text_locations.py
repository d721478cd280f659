"""Where a text stands is said in words, in every language, for every text that a survey can have."""

import pytest
from sottovoce.aggregator.authoring.templates import all_templates
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.aggregator.studio.design.sentences import place_in_words, texts_in_words
from sottovoce.shared.languages import texts_of
from sottovoce.shared.parse_survey import parse_survey

from tests.surveys import document, every_type
from tests.unit.aggregator.analysis.innocuous_surveys import innocuous

TEXT = {"en": "A text."}
ROWS = {"type": "matrix", "name": "spending", "label": TEXT, "hint": TEXT, "rows": [{"name": "home", "label": TEXT}]}
RATING = {"type": "rating", "choices": [{"name": name, "label": TEXT} for name in ("low", "high")]}
COIN = {"name": "kary_rr", "epsilon": "1"}
EVERY_TEXT = {
    **document(title=TEXT, description=TEXT, consent=TEXT, notice=TEXT, neutral_title=TEXT),
    "after": {
        "text": TEXT,
        "screen_out": {"when": {"text": "no"}, "text": TEXT, "links": {"text": "https://h.example"}},
    },
    "researcher": {"name": TEXT, "institution": TEXT, "ethics": TEXT},
    "questions": [
        {"type": "note", "name": "hello", "label": TEXT},
        *every_type(),
        {**ROWS, "of": {**RATING, "mechanism": COIN}},
        {"type": "boolean", "name": "text", "label": TEXT, "public": True},
        {"type": "boolean", "name": "hidden", "label": TEXT, **innocuous(None)},
    ],
}
WITH_ARMS = {
    **document(),
    "questions": [
        {"type": "boolean", "name": name, "label": TEXT, "arm": name, **more}
        for name, more in (("text", {"public": True}), ("protected", {"mechanism": {"name": "coin_flip"}}))
    ],
    "arms": [{"name": name, "weight": 1} for name in ("text", "protected")],
    "after": {"by_arm": {"text": TEXT, "protected": TEXT}},
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_has_a_place_in_words(language: str) -> None:
    """Each its own but notes, and none with a sign of a pointer."""
    survey = parse_survey(EVERY_TEXT)
    places = {pointer: place_in_words(survey, pointer, Words(language)) for pointer in texts_of(survey)}

    assert len(places) > 30
    assert not [place for place in places.values() if "/" in place or "_" in place]
    of_questions = [place for pointer, place in places.items() if pointer != "/questions/0/label"]
    assert len(set(of_questions)) == len(of_questions)


def test_texts_of_arms_and_of_templates_have_a_place() -> None:
    """Publish and the ethics page list every text of a survey, whichever keys it has."""
    places = [place for place, _ in texts_in_words(parse_survey(WITH_ARMS), Words("en"))[0][1]]
    assert {"After sending: text", "After sending: protected"} <= set(places)
    assert all(texts_in_words(parse_survey(template.document), Words("de")) for template in all_templates())


def test_places_count_questions_as_people_see_them() -> None:
    survey = parse_survey(EVERY_TEXT)
    told = {pointer: place_in_words(survey, pointer, Words("en")) for pointer in texts_of(survey)}
    last = len(EVERY_TEXT["questions"]) - 3

    assert told["/questions/0/label"] == "Text between questions: text"
    assert told["/questions/1/label"] == "Question 1: text"
    assert told[f"/questions/{last}/hint"].endswith(": help text")
    assert told[f"/questions/{last}/rows/0/label"].endswith(": row 1")
    assert told[f"/questions/{last}/of/choices/1/label"].endswith(": answer 2")
    assert told["/researcher/name"] == "Researcher"
