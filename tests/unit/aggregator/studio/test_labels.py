from typing import Any

import pytest
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.studio.labels import SurveyVariables, title_of
from sottovoce.shared.parse_survey import parse_survey

from tests.surveys import document

ARMS = [{"name": "direct"}, {"name": "protected"}]


def asked(name: str, *arms: str) -> dict[str, Any]:
    coin = {"mechanism": {"name": "coin_flip"}}
    return {"type": "boolean", "name": name, "label": {"en": "Cheated?"}, **coin, **({"arm": [*arms]} if arms else {})}


@pytest.mark.parametrize(
    ("questions", "titles"),
    [
        ((asked("a"),), ["Cheated?"]),
        ((asked("a"), asked("b")), ["Cheated? (a)", "Cheated? (b)"]),
        ((asked("a", "direct"), asked("b", "protected")), ["Cheated? (direct)", "Cheated? (protected)"]),
        (
            (asked("a", "direct"), asked("b", "direct"), asked("c", "protected")),
            ["Cheated? (a)", "Cheated? (b)", "Cheated? (c)"],
        ),
        ((asked("a", "direct"), asked("b")), ["Cheated? (a)", "Cheated? (b)"]),
    ],
)
def test_questions_of_one_text_are_told_apart(questions: tuple[dict[str, Any], ...], titles: list[str]) -> None:
    arms = {"arms": ARMS} if any("arm" in each for each in questions) else {}
    survey = parse_survey({**document(), "questions": [*questions], **arms})
    names = SurveyVariables(survey, Words("en"))
    shown = survey.questions[: len(questions)]
    assert [title_of(survey, each, Words("en")) for each in shown] == titles
    assert [names.label(each.name) for each in shown] == titles
    assert {names.text(each.name) for each in shown} == {"Cheated?"}


def test_texts_are_in_the_nearest_language_and_options_in_that_of_their_question() -> None:
    """Canonical surveys list English first, whatever their default language is."""
    texts = {"en": "Often?", "zh": "经常？"}
    choices = [{"name": name, "label": texts} for name in "ab"]
    item = {"type": "select_one", "name": "q", "label": texts, "choices": choices, "public": True}

    for default, language in (("en", "zh-Hans"), ("zh", "hi")):
        made = parse_survey({**document(title=texts), "default_language": default, "questions": [item]})
        known = SurveyVariables(made, Words(language))
        assert (known.label("q"), known.category("q", "a")) == (texts["zh"], texts["zh"])
