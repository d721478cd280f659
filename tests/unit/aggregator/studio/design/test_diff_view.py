"""Two versions of a draft are told apart in the words of the form, without keys, codes and documents."""

from dataclasses import replace

import pytest
from sottovoce.aggregator.authoring.draft import SurveyDraft
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.aggregator.studio.design.diff_view import differences_in_words
from sottovoce.aggregator.studio.design.page import posted_draft

from tests.surveys import document, every_type

TYPED = {
    "people": "1500",
    "declining": "own",
    "access": "blind",
    "researcher.contact": "a@example.org",
    "opens": "2027-01-01T09:00",
    "delete_on": "2027-06-01",
    "send_within_hours": "24",
    "wave0.opens": "2027-01-01T00:00",
    "ask": "1",
    "title.en": "Mine",
    "q0.harm": "badly",
    "q1.options.en": "Fun\nTime",
    "q1.if0": "cheated",
    "q2.type": "boolean",
    "cohort": "",
}


def told(typed: dict[str, str], language: str = "en", base: SurveyDraft | None = None) -> dict[str, tuple[str, str]]:
    """What was typed, and what stood there, by its place."""
    before = base or draft_of(document())
    found = differences_in_words(posted_draft(typed, before), before, Words(language))
    return {each.place: (each.mine, each.theirs) for each in found}


def test_fields_and_choices_are_those_of_the_form() -> None:
    """Dates as days, codes as their sentences, conditions as the answers that they look at."""
    found = told(TYPED)
    assert found["The survey: How many will answer?"] == ("1,500", "")
    assert found["The survey: Who can answer"][0].startswith("Anyone with a personal link, which cannot be matched")
    assert found["The survey: Day on which everything is deleted"] == ("June 1, 2027", "")
    assert found["The survey: Opens (UTC)"][0].startswith("January 1, 2027")
    assert found["The survey: Wave 0 opens (UTC)"][0].startswith("January 1, 2027")
    assert found["The survey: Title (English)"] == ("Mine", "Exams")
    assert found["Question 1: If this answer became known, how much could it hurt someone?"] == ("Badly.", "Clearly.")
    assert found["Question 2: Shown"] == ("If question 1 is answered: Yes", "")
    assert found["Question 3: Answer"] == ("Yes or no", "One of several options")
    assert found["Question 3: Groups by"] == ("", "Yes")


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_shown_as_the_program_writes_it(language: str) -> None:
    """No brace, quote or word of a list, whatever a survey is made of; but for a channel, which is told exactly."""
    whole = draft_of(document(questions=every_type()))
    cards = tuple(replace(card, harm="other", mechanism={"epsilon": "0.5"}, use="explain") for card in whole.cards)
    found = {**told(TYPED, language), **told({}, language, whole)}
    for one, other in ((replace(whole, cards=cards), whole), (whole, draft_of(document()))):
        found |= {each.place: (each.mine, each.theirs) for each in differences_in_words(one, other, Words(language))}
    shown = " ".join(text for place, pair in found.items() for text in (place, *pair))
    exactly = f": {Words(language).translate('design_how')}"
    inexactly = " ".join(text for place, pair in found.items() if not place.endswith(exactly) for text in pair)

    assert not set("{}[]") & set(shown)
    codes = ("select_", "_rr", "visible_if", "delete_on", "badly", "2027-")
    assert [code for code in codes if code in inexactly] == []
