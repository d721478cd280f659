"""Two versions of a draft are told apart in the words of the form, without keys, codes and documents."""

import io
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.authoring.draft import SurveyDraft
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.design.diff_view import differences_in_words
from sottovoce.aggregator.studio.design.page import posted_draft
from sottovoce.shared import canonical
from sottovoce.shared.parse_survey import parse_survey

from tests.conftest import FakeClock
from tests.surveys import document, every_type, months
from tests.unit.aggregator.studio.design.test_page import SITE, Researcher, newest
from tests.vectors.arms import drawn_arms, three_arms, two_arms

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


class Fields(HTMLParser):
    """What a browser sends of a page's fields, as they stand."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._select = self._text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read a field, or begin one whose value follows."""
        given = {key: value or "" for key, value in attrs}
        name = given.get("name", "")
        if tag == "input" and (given.get("type") not in ("checkbox", "radio") or "checked" in given):
            self.found[name] = given.get("value", "")
        self._select = name if tag == "select" else self._select
        self._text = name if tag == "textarea" else ""
        if tag == "option" and (self._select not in self.found or "selected" in given):
            self.found[self._select] = given.get("value", "")
            self._text = "" if "value" in given else self._select

    def handle_data(self, data: str) -> None:
        """Take the text of a field, or of an option without a value."""
        if self._text:
            self.found[self._text] = data.strip()

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - what the parser calls
        """What follows is no field's."""
        self._text = ""


WAVES = {"waves": months(3), "description": {"en": "About\nlife"}, "privacy": {"release_batch": 20}}


@pytest.mark.parametrize(
    "asked",
    [document(questions=every_type()), {**document(), **WAVES}, two_arms(), three_arms(), drawn_arms()],
    ids=["every type", "waves", "two arms", "three arms", "drawn arms"],
)
def test_form_that_is_sent_as_it_stands_changes_nothing(
    storage: SQLiteStorage, clock: FakeClock, asked: dict[str, Any]
) -> None:
    """A correction names only what its author changed, not what publishing had filled in."""
    ann, published = Researcher(create_app(Settings(public_url=SITE), storage, clock, {})), parse_survey(asked)
    file = io.BytesIO(canonical.dump(published.document))
    design = ann.post("new", **{"from": "file", "file": (file, "survey.json")}).location.partition("/dashboard/")[2]
    before, page = newest(storage, design.split("/")[1]), ann.get(design)
    fields = Fields(page.partition('id="design"')[2].partition("</form>")[0]).found

    assert differences_in_words(posted_draft(fields, before), before, Words("en")) == []
