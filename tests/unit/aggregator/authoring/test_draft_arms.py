"""Figures of a draft with random arms: the dearest arm counts, and a question has the people of its arms."""

import pytest
from sottovoce.aggregator.authoring.cost_and_precision import DraftFigures
from sottovoce.aggregator.authoring.draft import arms_of
from sottovoce.aggregator.authoring.draft_blocks import protect_together
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.authoring.validation import survey_of_draft

from tests.blocks import in_block
from tests.documents import Document, survey

COIN = {"mechanism": {"name": "coin_flip"}}
ARMS = [{"name": "short", "weight": 1}, {"name": "long", "weight": 3}]


def test_draft_costs_what_its_dearest_arm_costs() -> None:
    """As the survey itself; a question of one arm needs more people, and a block has those of one arm."""
    asked = [
        in_block("a", **COIN, arm="short"), in_block("b", **COIN, arm="long"),
        in_block("c", **COIN, arm=["long"]), in_block("d", **COIN, arm="long"), in_block("e", **COIN),
    ]  # fmt: skip
    draft = draft_of(survey(*asked, arms=ARMS))
    figures = DraftFigures(draft)
    assert figures.totals.epsilon == pytest.approx(survey_of_draft(draft, "exam").epsilon)
    assert figures.totals.epsilon == pytest.approx(4 * 1.0986123)
    needed = [each.needed for each in figures.of_items if each and each.needed]
    assert [round(each / needed[4], 2) for each in needed] == [4, 1.33, 1.33, 1.33, 1]


def test_cards_of_one_arm_are_protected_together() -> None:
    """The block has their arm; cards of another one stay as they are, and a file gives the same draft again."""
    asked = [in_block("a", **COIN, arm="short"), *(in_block(name, **COIN, arm="long") for name in "bcd")]
    draft = draft_of(survey(*asked, arms=ARMS))
    assert protect_together(draft, [0, 1]) == draft
    joined = survey_of_draft(protect_together(draft, [1, 2, 3]), "exam")
    [block] = joined.blocks
    assert (block.questions, [item.arms for item in joined.items]) == ((1, 2, 3), [("short",), *[("long",)] * 3])
    assert survey_of_draft(draft_of(joined.document), "exam").questions == joined.questions


@pytest.mark.parametrize(
    "wrong", ["short", 5, None, [5], [{"name": 5}], [{"weight": "2"}], [{"name": "a", "weight": 0}]]
)
def test_what_is_no_arm_is_left_to_the_checks_of_the_survey(wrong: Document) -> None:
    """Nothing in a file makes the figures fail."""
    draft = draft_of(survey(in_block("a", **COIN, arm=wrong), arms=wrong))
    alone = DraftFigures(draft_of(survey(in_block("a", **COIN)))).of_items[0]
    assert DraftFigures(draft).of_items[0] == alone is not None
    assert all(weight == 1 for weight in arms_of(draft).values())
    assert DraftFigures(draft).totals.epsilon >= 0


def test_empty_draft_costs_nothing() -> None:
    """With arms and without."""
    assert [DraftFigures(draft_of(survey(**more))).totals.epsilon for more in ({}, {"arms": ARMS})] == [0, 0]
