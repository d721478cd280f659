"""Publish: what is frozen is shown before, and what was planned stays in the file that says what was settled."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from sottovoce.aggregator.authoring.to_survey import draft_of, set_direct_half
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.surveys.lifecycle import survey_of

from tests.documents import names
from tests.exported import TODAY
from tests.surveys import document, survey
from tests.unit.aggregator.studio.design.test_page import PANEL, Researcher
from tests.unit.aggregator.studio.joint_pages import cells


def test_publishing_shows_whatever_it_freezes(ann: Researcher, storage: SQLiteStorage) -> None:
    written = document(title={"en": "Exams", "de": "Prüfungen"}, consent={"en": "I agree to this."})
    storage.drafts.add("exam", replace(draft_of(written | {"access": "token"}), people=1500).dumped)
    form = {"closes": "2027-05-12T00:00", "delete_on": "2027-06-01", "after.text.en": "Call a friend."}
    ann.post("surveys/exam/design", version="1", **form)
    page = ann.get("surveys/exam/publish")

    for text in ("I agree to this.", "Prüfungen", "Call a friend.", "May 12, 2027", "June 1, 2027", "a personal link",
                 "not in this language", "With 1,500 people, every share comes within", "A cell that holds 10 of 100",
                 "For 3 points you need about"):  # fmt: skip
        assert text in page, text

    ann.post("surveys/exam/publish", version="2")
    told = ann.get("surveys/exam/files/preregistration.json")
    assert json.loads(told)["planned"] == {"people": 1500, "group": None}
    ann.post("surveys/exam/design/correct")
    ann.post("surveys/exam/design", version="1", people="", closes="", **PANEL)
    panel = ann.get("surveys/exam/publish")
    assert "July 1, 2026" in panel
    assert "A respondent who answers in all 2 waves spends" in panel
    assert "Say how many will answer" in panel
    changes = re.sub(r"<[^>]+>", " ", panel.partition("What it changes</summary>")[2])
    assert re.search(r"The survey: Closes \(UTC\)\s+May 12, 2027, 12:00.AM UTC\s+–", changes)
    assert re.search(r"Wave 1 closes \(UTC\)\s+–\s+August 1, 2026", changes)


@pytest.mark.parametrize(
    ("change", "choice", "said", "closed"),
    [
        ({"title.en": "Better title"}, {}, "it stays closed", True),
        ({"title.en": "Better title"}, {"reopen": "1"}, "it stays closed", False),
        ({"q0.harm": "badly"}, {}, "Publishing opens it again", False),
    ],
)
def test_correction_of_texts_leaves_a_closed_survey_closed(
    ann: Researcher, storage: SQLiteStorage, change: dict[str, str], choice: dict[str, str], said: str, closed: bool
) -> None:
    """Any other opens it, and says so before; tables need all revisions to be closed."""
    storage.publish(survey())
    storage.close_survey("exam", TODAY)
    ann.post("surveys/exam/design/correct")
    ann.post("surveys/exam/design", version="1", **change)
    assert said in ann.get("surveys/exam/publish")

    ann.post("surveys/exam/publish", version="2", **choice)
    rows = storage.revisions("exam")
    assert [row.closed for row in rows] == [True, closed]
    assert closed is (rows[1].closed_on == TODAY)


def test_second_of_two_who_publish_at_once_is_told(
    ann: Researcher, storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.publish(survey())
    ann.post("surveys/exam/design/correct")
    ann.post("surveys/exam/design", version="1", **{"title.en": "Later"})
    publish = storage.publish

    def publish_second(*survey_and_more: Any, **options: Any) -> StoredSurvey:
        publish(survey(revision=2, title={"en": "First"}))
        return publish(*survey_and_more, **options)

    monkeypatch.setattr(storage, "publish", publish_second)
    reply = ann.post("surveys/exam/publish", version="2")

    assert reply.status_code == 422
    assert "Another revision was published first" in reply.text
    assert [row.revision for row in storage.revisions("exam")] == [1, 2]


@pytest.mark.parametrize("arms", [{}, {"arms": [{"name": "one"}, {"name": "two"}]}])
def test_rule_of_later_closes_is_told_before_reopening(
    ann: Researcher, storage: SQLiteStorage, arms: dict[str, Any]
) -> None:
    storage.publish(survey(**arms))
    storage.close_survey("exam", TODAY)
    for step in ("reopen", "close"):
        told = ann.get("surveys/exam/settings")
        assert "at least 25 more reports" in told
        assert ("no results are shown by arm" in told) is bool(arms)
        ann.post(f"surveys/exam/settings/{step}")


def test_earlier_revisions_are_retired_while_the_survey_is_open(ann: Researcher, storage: SQLiteStorage) -> None:
    """A closed survey accepts no answers under any link."""
    first = survey()
    storage.publish(first)
    storage.publish(survey(revision=2, replaces=first.digest))
    assert "Earlier revisions still accept answers" in ann.get("surveys/exam/settings")
    storage.close_survey("exam", TODAY)
    assert "Earlier revisions still accept answers" not in ann.get("surveys/exam/settings")


def test_publish_chooses_columns_of_files_for_new_drafts_and_shows_their_price(
    ann: Researcher, storage: SQLiteStorage
) -> None:
    """One press adds or leaves out; the survey says ``in_files: true`` explicitly, an old draft only if told so."""
    sex = {"type": "select_one", "name": "sex", "label": {"en": "Sex?"}, "public": True, "choices": names(3)}
    age = {"type": "integer", "name": "age", "label": {"en": "Age?"}, "public": True, "min": 18, "max": 90}
    written = replace(draft_of({**document(), "questions": [*document()["questions"], sex, age]}), people=640)
    storage.drafts.add("old", written.dumped)
    storage.drafts.add("new", replace(written, chooses_columns=True).dumped)

    def shown(name: str) -> list[list[str]]:
        part = ann.get(f"surveys/{name}/publish").partition('id="columns"')[2].partition("</section>")[0]
        return [line[1:4] for line in cells(part)]

    def published(name: str) -> list[str]:
        ann.post(f"surveys/{name}/publish", version=str(max(storage.drafts.versions(name))))
        return [
            each.name for each in survey_of(storage.revisions(name)[-1].document).questions if "in_files" in each.marks
        ]

    def column(name: str, question: str, wanted: str, version: int) -> str:
        return str(ann.post(f"surveys/{name}/publish/columns", question=question, shown=wanted, version=str(version)))

    assert [line[0] for line in shown("new")] == ["2", "3", "73"]
    sexes, ages = shown("new")[-2:]
    assert [sexes[2].split()[0], ages[2].split()[0]] == ["Yes", "No"]
    assert "It would fit with at most" in ann.get("surveys/new/publish")
    assert {line[2].split()[0] for line in shown("old")[-2:]} == {"No"}
    told = ["come first. Without your choice, a question is in the files if" in ann.get(f"surveys/{name}/publish")
            for name in ("old", "new")]  # fmt: skip
    assert told == [False, True]
    column("new", "age", "1", 1)
    column("new", "sex", "0", 2)
    assert [line[2].split()[0] for line in shown("new")[-2:]] == ["No", "Yes"]
    assert ann.get("surveys/new/publish").count("Files of reports have these answers") == 1
    assert published("new") == ["age"]
    column("old", "sex", "1", 1)
    column("old", "sex", "0", 2)
    assert published("old") == []
    assert b"in_files" not in storage.revisions("old")[-1].document


def test_question_that_decides_who_is_asked_comes_first_and_leaving_it_out_has_a_price(
    ann: Researcher, storage: SQLiteStorage
) -> None:
    """The line of a question that a sensitive one hangs on says what the files lack without it; no other says so."""
    sex, sat = (
        {"type": "select_one", "name": name, "label": {"en": name}, "public": True, "choices": names(3)}
        for name in ("sex", "sat")
    )
    secret = {"type": "boolean", "name": "secret", "label": {"en": "secret"}, "mechanism": {"epsilon": "1"}}
    hidden = {**secret, "absent_category": True, "visible_if": {"sat": ["c0"]}}
    draft = draft_of({**document(), "questions": [sex, sat, hidden]})
    storage.drafts.add("exam", replace(draft, people=640, chooses_columns=True).dumped)

    def lines() -> list[str]:
        part = ann.get("surveys/exam/publish").partition('id="columns"')[2].partition("</section>")[0]
        return [line for line in part.split("<tr>") if 'name="question"' in line]

    assert [line.partition('name="question" value="')[2].partition('"')[0] for line in lines()] == ["sat", "sex"]
    assert not any("decides who is asked" in line for line in lines())
    for version, name in enumerate(("sat", "sex"), start=1):
        ann.post("surveys/exam/publish/columns", question=name, shown="0", version=str(version))
    assert ["decides who is asked" in line for line in lines()] == [True, False]


def test_grid_that_decides_who_is_asked_has_its_price_and_says_why_files_lack_it(
    ann: Researcher, storage: SQLiteStorage
) -> None:
    """There is no button for what cannot be, and it says so once."""
    grid = {"type": "matrix", "name": "grid", "label": {"en": "Did you?"}, "rows": names(3),
            "of": {"type": "boolean", "public": True}}  # fmt: skip
    sensitive, *others = document()["questions"]
    gated = {**sensitive, "visible_if": {"grid_c1": ["yes"]}, "when_absent": "no"}
    written = draft_of(document(questions=[*others, grid, gated]))
    storage.drafts.add("exam", replace(written, people=640, chooses_columns=True).dumped)

    assert '<option value="grid_c1" selected' in ann.get("surveys/exam/design")
    part = ann.get("surveys/exam/publish").partition('id="columns"')[2].partition("</section>")[0]
    line = next(line for line in part.split("<tr>") if "Did you?" in line)
    assert part.index("Did you?") < part.index("Year?")
    assert ">8</td>" in line
    assert "It decides who is asked sensitive questions." in line
    assert "Files of reports do not have the answers to a grid." in line
    assert "button" not in line
    assert part.count("answers to a grid") == 1
    ann.post("surveys/exam/publish", version="1")
    (published,) = storage.revisions("exam")
    assert survey_of(published.document).items[-1].conditions[0].question == "grid_c1"


def test_direct_half_is_added_to_the_files_and_left_out_by_the_same_press(
    ann: Researcher, storage: SQLiteStorage
) -> None:
    """The line of a copy says that half of the people answer it directly, and its button changes what is published."""
    draft = replace(draft_of(document()), people=640, chooses_columns=True)
    storage.drafts.add("exam", set_direct_half(draft, wanted=True).dumped)

    def lines() -> list[str]:
        part = ann.get("surveys/exam/publish").partition('id="columns"')[2].partition("</section>")[0]
        return [line for line in part.split("<tr>") if "asked this directly" in line]

    copies = re.findall(r'name="question" value="(\w+_direct)"', "".join(lines()))
    assert copies
    assert len(copies) == len(lines())
    cannot = "R and other programs cannot compare the arms"
    assert cannot not in ann.get("surveys/exam/publish")
    for version, copy in enumerate(copies, start=1):
        assert f'value="{copy}"><button class="quiet" name="shown" value="0"' in "".join(lines())
        ann.post("surveys/exam/publish/columns", question=copy, shown="0", version=str(version))
    assert ann.get("surveys/exam/publish").count(cannot) == 1
    ann.post("surveys/exam/publish/columns", question=copies[0], shown="1", version=str(len(copies) + 1))
    ann.post("surveys/exam/publish", version=str(len(copies) + 2))
    asked = survey_of(storage.revisions("exam")[-1].document).questions
    assert [each.name for each in asked if "in_files" in each.marks and each.name in copies] == copies[:1]
