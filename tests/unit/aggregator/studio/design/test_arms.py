"""Random arms on the page Design: a draft opens, shows and keeps them, and each card has a field for its arm."""

import io
import re

import pytest
from sottovoce.aggregator.authoring.draft import read_arms, written_arms
from sottovoce.aggregator.authoring.to_survey import draft_of, survey_document
from sottovoce.aggregator.authoring.validation import survey_of_draft
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared import canonical
from sottovoce.shared.parse_survey import parse_survey

from tests.unit.aggregator.studio.design.test_page import Researcher, newest
from tests.vectors.arms import two_arms


def selected(page: str, field: str) -> str:
    """The selected option of a card's field; "" for the first one."""
    options = page.partition(f'name="{field}"')[2].partition("</select>")[0]
    found = re.search(r"<option selected>([^<]*)<", options)
    return found[1] if found else ""


def test_draft_with_arms_opens_shows_and_keeps_them(ann: Researcher, storage: SQLiteStorage) -> None:
    """From a file, and after a save of something else."""
    file = io.BytesIO(canonical.dump(parse_survey(two_arms()).document))
    ann.post("new", **{"from": "file", "file": (file, "exam.json")})
    name = "vector"
    page = ann.get(f"surveys/{name}/design")

    assert 'value="direct: 1, protected: 1"' in page
    assert [selected(page, f"q{card}.arm") for card in range(3)] == ["", "direct", "protected"]
    ann.post(f"surveys/{name}/design", version="1", **{"title.en": "Exams"}, do="save")
    draft = newest(storage, name)
    assert draft.title == "Exams"
    assert survey_document(draft, name)["arms"] == two_arms()["arms"]
    assert [card.asked.get("arm") for card in draft.cards] == [None, ["direct"], ["protected"]]


def test_arms_are_made_on_the_page(ann: Researcher, storage: SQLiteStorage) -> None:
    """Names with weights; a card is then moved to an arm, and back to all."""
    ann.post("new", **{"from": "empty", "title": "Life"})
    design = "surveys/life/design"
    ann.post(design, version="1", do="add:boolean")
    ann.post(design, version="2", **{"q0.label.en": "Ever?", "arms": "direct, protected : 2"}, do="save")
    ann.post(design, version="3", **{"q0.arm": "protected"}, do="save")
    assert newest(storage, "life").cards[0].asked["arm"] == ["protected"]
    assert "has no question" in ann.get(design)

    ann.post(design, version="4", **{"q0.arm": ""}, do="save")
    draft = newest(storage, "life")
    assert "arm" not in draft.cards[0].asked
    assert [(arm.name, arm.weight) for arm in survey_of_draft(draft, "life").arms] == [("direct", 1), ("protected", 2)]
    ann.post(design, version="5", **{"arms": ""}, do="save")
    assert survey_of_draft(newest(storage, "life"), "life").arms == ()


@pytest.mark.parametrize("text", ["one, two", "one: 3, two: 1", " one:1 ,two : 2,", ""])
def test_field_of_arms_is_read_as_it_is_written(text: str) -> None:
    """Spaces and weights of 1 make no difference."""
    draft = draft_of({**two_arms(), "arms": read_arms(text) or []})
    assert read_arms(written_arms(draft)) == read_arms(text)


def test_weight_that_is_none_leads_to_its_field(ann: Researcher) -> None:
    """It is kept as text until it is mended."""
    assert read_arms("one: many, two") == [{"name": "one", "weight": "many"}, {"name": "two", "weight": 1}]
    ann.post("new", **{"from": "empty", "title": "Life"})
    ann.post("surveys/life/design", version="1", **{"arms": "one"}, do="add:boolean")
    assert 'href="#arms"' in ann.get("surveys/life/design")


def test_half_is_asked_directly_by_one_choice_and_undone_by_it(ann: Researcher, storage: SQLiteStorage) -> None:
    """The page shows each question once and says so on its card; its fields for arms make room for the choice."""
    ann.post("new", **{"from": "empty", "title": "Life"})
    design = "surveys/life/design"
    ann.post(design, version="1", do="add:boolean")
    assert 'name="arms"' in ann.get(design)
    ann.post(design, version="2", **{"q0.label.en": "Ever?", "arms": "", "direct_half": "1"}, do="save")
    page, draft = ann.get(design), newest(storage, "life")

    assert [(each.name, each.arms) for each in survey_of_draft(draft, "life").items] == [
        ("ever", ("protected",)),
        ("ever_direct", ("direct",)),
    ]
    assert "Half of the people are asked this directly." in page
    assert all("are asked directly: what they admit is sent in clear (questions 2)" in ann.get(f"surveys/life/{where}")
               for where in ("publish", "privacy", "privacy/account.html"))  # fmt: skip
    assert ('name="arms"' in page, 'name="q0.arm"' in page, 'id="q1"' in page) == (False, False, False)
    ann.post(design, version="3", **{"direct_half": ""}, do="save")
    assert survey_of_draft(newest(storage, "life"), "life").arms == ()
    assert "How are sensitive questions asked?" in ann.get(design)
    ann.post(design, version="4", do="version:3")
    assert newest(storage, "life").direct_half
