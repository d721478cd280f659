"""Blocks of drafts: what they cost and save for the templates, as the documentation has it."""

import math
import re
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from pathlib import Path

import pytest
from sottovoce.aggregator.authoring.cost_and_precision import DraftFigures
from sottovoce.aggregator.authoring.draft import DraftSample, SurveyDraft
from sottovoce.aggregator.authoring.draft_blocks import compared_selection, joinable_cards, refitted, suggested
from sottovoce.aggregator.authoring.edit_commands import change
from sottovoce.aggregator.authoring.templates import all_templates
from sottovoce.aggregator.authoring.to_survey import draft_of, survey_document
from sottovoce.aggregator.authoring.validation import survey_of_draft
from sottovoce.shared.arms.arms import share_asked

from tests.blocks import block, blocks, in_block
from tests.documents import question, survey
from tests.random_surveys import random_survey

PAGE = Path(__file__).parents[4] / "docs" / "how_to" / "plan_and_test.md"


def rows() -> list[str]:
    """The table's lines: people, epsilon and worst-case odds, one by one and together."""
    found = []
    for template in all_templates():
        draft = draft_of(template.document)
        made = compared_selection(draft, joinable_cards(draft))
        if made is not None:
            found.append(
                f"| {template.name} | {made.questions} | {made.people_apart:,}, {made.epsilon_apart:.2f}, "
                f"{made.odds_apart:.1f}:1 | {made.people:,}, {made.epsilon:.2f}, {made.odds:.1f}:1 "
                f"({made.odds_alone:.1f}:1) |"
            )
    return found


def test_table_of_the_templates_is_true() -> None:
    """Every template with two questions or more that can be in one block has its row."""
    found = rows()
    shown = re.findall(r"^\| [a-z_]+ \| \d+ \|.*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert shown == found
    assert len(found) == len(all_templates()) - 2


@pytest.mark.parametrize("template", all_templates(), ids=lambda template: template.name)
def test_what_is_suggested_needs_fewer_people_and_costs_no_more(template: object) -> None:
    """And never leaves out what it costs: the odds about one answer, which are higher."""
    found = suggested(draft_of(template.document))  # type: ignore[attr-defined]
    if found is not None:
        assert found.people <= 0.8 * found.people_apart
        assert found.epsilon <= found.epsilon_apart
        assert found.odds_apart < found.odds <= 9
        assert found.odds_alone < found.odds


def test_question_that_names_a_block_itself_can_be_taken_out_of_it() -> None:
    """For good: the stored draft has neither the question in its block nor the block's name in the question."""
    asked = question({"name": "coin_flip"})
    draft = draft_of(survey({**asked, "block": "z"}))
    assert (draft.blocks, draft.cards[0].block) == ({"z": {}}, "z")
    apart = change(draft, "separate:z")
    assert SurveyDraft.read(apart.dumped) == apart
    assert survey_of_draft(apart, "t") == survey_of_draft(draft_of(survey(asked)), "t")


@pytest.mark.parametrize("first", range(0, 300, 60))
def test_random_surveys_are_joined_moved_and_separated(first: int) -> None:
    """Costs are the survey's; a block stays in one piece; separating gives each question its mechanism again."""
    for seed in range(first, first + 60):
        asked = random_survey(seed)
        draft = draft_of(asked.document)
        assert DraftFigures(draft).totals.epsilon == pytest.approx(asked.epsilon)
        firsts = [asked.questions.index(item.questions[0]) for item in asked.items if item.questions]
        sample = DraftSample(draft)
        places = [sample.rows.index(card) for card in draft.cards if card.type not in ("note", "acknowledge")]
        assert [share_asked(sample, place) for place in places] == [share_asked(asked, first) for first in firsts]
        before = {each.name: each.mechanism for each in survey_of_draft(draft, asked.name).questions}
        joined = change(draft, f"together:{'.'.join(map(str, joinable_cards(draft)[:4]))}")
        if joined != draft:
            survey = survey_of_draft(joined, asked.name)
            [new] = [block for block in survey.blocks if block.name not in draft.blocks]
            assert DraftFigures(joined).totals.epsilon == pytest.approx(survey.epsilon)
            apart = survey_of_draft(change(joined, f"separate:{new.name}"), asked.name)
            assert {each.name: each.mechanism for each in apart.questions} == before
        for step, word in enumerate(("down", "up", "copy", "delete", "down")):
            joined = change(joined, f"{word}:{(seed * (step + 1)) % max(len(joined.cards), 1)}")
            pieces = [name for name, _ in groupby(card.block for card in joined.cards) if name]
            assert sorted(pieces) == sorted(joined.blocks)


@pytest.mark.parametrize("ask", [-1, 0, 9, "two"])
def test_figures_of_a_draft_stand_beside_a_block_that_cannot_be_drawn(ask: object) -> None:
    """A file may ask for any number: the block has no figures then, and what is beside it has."""
    wrong = {**block(*map(in_block, "abc")), "ask": ask}
    draft = draft_of({**survey(wrong, question({"name": "coin_flip"})), "ask": ask})
    figures = DraftFigures(replace(draft, people=1000))
    assert [each is None for each in figures.of_items] == [True, True, True, False]
    assert figures.totals.epsilon == pytest.approx(math.log(3))


def test_draft_keeps_how_many_questions_of_a_block_are_asked() -> None:
    """From file to draft and back; while cards come and go as long as so many can be drawn, and in what it says."""
    drawn = blocks(block(*map(in_block, "abcd")) | {"ask": 3})
    draft = draft_of(drawn.document, 1)
    assert survey_document(draft, drawn.name)["questions"][0]["ask"] == 3
    assert share_asked(DraftSample(draft), 0) == Fraction(3, 4)
    fewer = refitted(replace(draft, cards=draft.cards[1:]), "intimate")
    assert "ask" not in survey_document(fewer, drawn.name)["questions"][0]
