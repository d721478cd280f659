"""Survey files with anything missing or of another kind: each page of a draft opens, or the import says why not."""

import copy
import io
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.authoring.draft import SurveyDraft
from sottovoce.aggregator.authoring.templates import all_templates
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.design.diff_view import differences_in_words
from sottovoce.shared import canonical

from tests.documents import names, survey as document_of
from tests.random_surveys import random_survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.studio.design.test_page import Researcher
from tests.unit.aggregator.studio.joint_pages import SITE
from tests.vectors.arms import COIN, asks

OTHERS: tuple[Any, ...] = (
    None,
    "",
    0,
    1,
    -1,
    [],
    {},
    "x",
    {"en": None},
    {"en": ""},
    {"en": 5},
    ["a"],
    [[]],
    [{}],
    True,
    {"x": 1},
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
    """The reply to the import of a survey file."""
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
