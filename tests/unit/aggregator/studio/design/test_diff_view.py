import copy
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from random import Random
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.authoring.draft import SurveyDraft
from sottovoce.aggregator.authoring.templates import all_templates
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.design.diff_view import differences_in_words
from sottovoce.aggregator.studio.design.page import posted_draft
from sottovoce.shared import canonical
from sottovoce.shared.parse_survey import parse_survey

from tests.conftest import FakeClock
from tests.documents import names, survey as document_of
from tests.random_surveys import random_survey
from tests.surveys import document, every_type, months
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.studio.design.test_page import SITE, Researcher, newest
from tests.vectors.arms import COIN, asks, drawn_arms, three_arms, two_arms

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
        if self._text:
            self.found[self._text] = data.strip()

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - what the parser calls
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


OTHERS: list[Any] = json.loads(
    '[null, "", 0, 1, -1, [], {}, "x", {"en": null}, {"en": ""}, {"en": 5}, ["a"], [[]], [{}], true, {"x": 1}]'
)
KEYS = ("label", "items", "name", "type", "visible_if", "arm", "block", "ask", "of", "rows", "choices", "min", "hint")
PAGES = ("design", "preview", "publish", "rehearse", "privacy", "team")


def places(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from places(value, (*path, key))


def mutated(document: Any, draw: Random) -> Any:
    """The document with one to three parts left out, of another kind, or put where they do not belong."""
    changed = json.loads(canonical.dump(document))
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        *way, last = draw.choice([*places(changed)])
        at = changed
        for key in way:
            at = at[key]
        how = draw.random()
        if how < 0.5:
            del at[last]
        else:
            key = draw.choice(KEYS) if how > 0.9 and isinstance(at, dict) else last
            at[key] = copy.deepcopy(draw.choice(OTHERS))
    return changed


def imported(ann: Researcher, document: Any) -> Any:
    return ann.post("new", **{"from": "file", "file": (io.BytesIO(json.dumps(document).encode()), "a.json")})


@pytest.mark.parametrize("seed", range(4))
def test_pages_of_a_mutated_file_open_or_its_import_says_why_not(ann: Researcher, app: Flask, seed: int) -> None:
    client = log_in(app)[0]
    draw = Random(seed)  # noqa: S311 - the same files in each run
    bases = [*(each.document for each in all_templates()), *(random_survey(number).document for number in range(9))]
    drafts = 0
    for _ in range(12):
        reply = imported(ann, mutated(draw.choice(bases), draw))
        assert reply.status_code in {303, 422}
        for page in PAGES if reply.status_code == 303 else ():
            path = reply.location.replace("/design", f"/{page}")
            assert client.get(path, base_url=SITE).status_code == 200, page
        drafts += reply.status_code == 303
    assert drafts


def test_options_and_rows_without_a_text_have_their_names(ann: Researcher) -> None:
    """One that says nothing at all is refused with its place."""
    bare = [{"name": "r1"}, {"name": "r2", "label": {"en": "Second row"}}]
    matrix = {
        "type": "matrix",
        "name": "m",
        "label": {"en": "All"},
        "rows": bare,
        "of": {"type": "boolean", "mechanism": COIN},
    }
    choice = asks("year", kind="select_one", public=True, choices=[{"name": "y1"}, *names(1)])
    page = ann.get(imported(ann, document_of(choice, matrix)).location.removeprefix("/dashboard/"))
    assert "r1\nSecond row</textarea>" in page
    assert "y1\n" in page

    reply = imported(ann, document_of({**matrix, "rows": [{"name": "r1", "label": 5}]}))
    assert (reply.status_code, "questions, 0, rows, 0, label: must be a map" in reply.text) == (422, True)


def test_options_without_a_name_get_one_when_they_are_saved(ann: Researcher, storage: SQLiteStorage) -> None:
    texts = [{"label": {"en": text}} for text in ("Never", "Once")]
    path = imported(ann, document_of(asks("q", kind="select_one", public=True, choices=texts))).location
    posted = ann.post(path.removeprefix("/dashboard/"), version="1", do="save", **{"q0.options.en": "Never\nTwice"})
    assert posted.status_code == 303
    [kept] = storage.drafts.drafts()
    assert [each["name"] for each in SurveyDraft.read(kept.document).cards[0].asked["choices"]] == ["never", "twice"]


def test_question_without_a_type_is_saved(ann: Researcher) -> None:
    inner = [
        {"type": None, "name": "q", "label": {"en": "Ever?"}},
        {"type": "boolean", "name": "r", "label": {"en": "Now?"}},
    ]
    block = {"block": "both", "items": inner, "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0}}
    path = imported(ann, document_of(block)).location
    typed = {"q0.label.en": "Ever before?"}
    assert ann.post(path.removeprefix("/dashboard/"), version="1", do="save", **typed).status_code == 303


@pytest.mark.parametrize("key", ["if", "panel", "version_of"])
def test_unknown_key_with_the_name_of_a_sentence_is_another_setting(key: str) -> None:
    """Among the changes of an earlier version; such sentences need a number of their own."""
    before, after = (draft_of({**document_of(asks("q", mechanism=COIN)), "after": {key: text}}) for text in "ab")
    found = differences_in_words(before, after, Words("en"))
    assert [each.place for each in found] == ["The survey: another setting"]


@pytest.mark.parametrize("other", [5, [5], {"en": "x"}])
def test_moment_day_and_links_of_another_kind_are_refused_with_their_place(ann: Researcher, other: Any) -> None:
    links = [] if isinstance(other, dict) else [("after", "links")]
    for key, *inner in [("opens",), ("closes",), ("retention", "delete_on"), *links]:
        part = {inner[0]: other} if inner else other
        reply = imported(ann, {**document_of(asks("q", mechanism=COIN)), key: part})
        assert (reply.status_code, f"{', '.join([key, *inner])}: must" in reply.text) == (422, True)


def test_own_fact_without_its_question_is_a_draft(ann: Researcher) -> None:
    asked = {"type": "boolean", "name": "q", "label": {"en": "Copied?"}, "procedure": "crosswise"}
    reply = imported(ann, document_of(asked))
    assert (reply.status_code, "Copied?" in ann.get(reply.location.removeprefix("/dashboard/"))) == (303, True)
