"""Part "Questions protected together" of the page Design."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sottovoce.aggregator.authoring.draft import SurveyDraft
from sottovoce.aggregator.authoring.draft_blocks import (
    ProtectedTogether,
    compared,
    compared_selection,
    drawable,
    joinable_cards,
    suggested,
)
from sottovoce.aggregator.authoring.draft_questions import rows_of


class BlockView(NamedTuple):
    """A block of the draft.

    Attributes:
        name: of the block.
        numbers: numbers of its cards.
        found: its people and odds; None if it is incomplete.
        ask: number of its questions that each person is asked; None for all.
        drawable: numbers to choose from instead of all.
        questions: number of its questions.
    """

    name: str
    numbers: Sequence[int]
    found: ProtectedTogether | None
    ask: int | None
    drawable: Sequence[int]
    questions: int


class TogetherView(NamedTuple):
    """Blocks of the draft, and the cards to choose for a new one.

    Attributes:
        blocks: blocks of the draft.
        joinable: numbers of the cards to choose from.
        selected: numbers of the chosen ones.
        found: people and odds of the chosen ones in one block; None if they cannot be in one.
    """

    blocks: Sequence[BlockView]
    joinable: Sequence[int]
    selected: Sequence[int]
    found: ProtectedTogether | None


def together_view(draft: SurveyDraft, form: Mapping[str, str]) -> TogetherView:
    """Return the view of a draft.

    Args:
        draft: the draft.
        form: the posted form; without one the page chooses the cards that a block would help.
    """
    blocks = [_block_view(draft, name) for name in draft.blocks]
    joinable = joinable_cards(draft)
    if not form:
        found = suggested(draft)
        return TogetherView(blocks, joinable, [] if found is None else found.numbers, found)
    chosen = selected_cards(form)
    selected = [number for number in joinable if number in chosen]
    return TogetherView(blocks, joinable, selected, compared_selection(draft, selected))


def _block_view(draft: SurveyDraft, name: str) -> BlockView:
    numbers = [number for number, card in enumerate(draft.cards) if card.block == name]
    questions = sum(rows_of(draft.cards[number]) for number in numbers)
    return BlockView(name, numbers, compared(draft, name), draft.ask_of(name), drawable(draft, name), questions)


def selected_cards(form: Mapping[str, str]) -> list[int]:
    """Return the numbers of the cards that are ticked in the posted form."""
    fields = (key.removeprefix("together.") for key in form if key.startswith("together."))
    return [int(number) for number in fields if number.isascii() and number.isdigit() and len(number) <= 4]
