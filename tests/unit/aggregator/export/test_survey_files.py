"""The survey leaves as it was published, and what was settled beforehand beside it."""

import json
from dataclasses import replace
from pathlib import Path

from sottovoce.aggregator.export.catalogue import Source, preregistration, write_preregistration
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.surveys.survey_file import read_survey_file

from tests.blocks import block, blocks, in_block


def test_survey_read_again_has_the_same_digest(every: Source, folder: Path) -> None:
    """From YAML and from JSON: every text, every number, every default."""
    for name in ("survey.yaml", "survey.json"):
        assert read_survey_file(folder / name).digest == every.about.survey.digest


def test_preregistration_says_what_was_frozen(every: Source, folder: Path) -> None:
    """Questions with their channels, cost, window, and how figures are made."""
    document = json.loads((folder / "preregistration.json").read_text(encoding="utf-8"))
    survey = every.about.survey

    assert document["revisions"] == [{"revision": 1, "digest": survey.digest}]
    assert (document["opens"], document["closes"]) == ("2026-01-01T00:00:00Z", "2026-06-01T00:00:00Z")
    assert [each["name"] for each in document["questions"]] == [question.name for question in survey.questions]
    assert document["questions"][0]["mechanism"] == {"name": "binary_rr", "a": "2/3", "b": "1/3"}
    assert document["epsilon_total"] == survey.epsilon
    assert document["analysis"]["interval"] == "score-cc"
    assert "trial" not in document


def test_preregistration_says_for_how_many_people_it_was_planned(every: Source, tmp_path: Path) -> None:
    """Who wrote the survey said so before it was published; else it says that nobody did."""
    about, file = every.about, tmp_path / "preregistration.json"
    told = []
    for plan in (every.plan, PlannedSize(1500, 4000)):
        write_preregistration(file, every.revisions, about, plan)
        told.append(json.loads(file.read_text(encoding="utf-8"))["planned"])
    assert told == [{"people": None, "group": None}, {"people": 1500, "group": 4000}]


def test_preregistration_says_which_questions_of_a_block_are_asked(every: Source) -> None:
    """Nothing else in it tells that they are randomized together, or that people are asked some of them."""
    about = replace(every.about, survey=blocks(block(*map(in_block, "abc")) | {"ask": 2}))
    document = preregistration(every.revisions, about, every.plan)
    assert document["blocks"] == ["joint_rr odds=9 radius=0 k=2,2,2 ask=2 with=a,b,c"]
