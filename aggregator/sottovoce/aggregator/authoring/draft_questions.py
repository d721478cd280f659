"""Parse questions of a draft's cards one by one, or one block at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import takewhile
from typing import Any

from sottovoce.aggregator.authoring.draft import DraftItem, SurveyDraft
from sottovoce.aggregator.authoring.to_survey import survey_document
from sottovoce.shared import canonical
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Question
from sottovoce.shared.types import TYPES

_TEXT = {"en": "–"}
_WITHOUT_EFFECT = ("visible_if", "any_of", "arm", "hint", "cohort")
"""Keys that affect no figure of the question itself."""


def rows_of(card: DraftItem) -> int:
    """Return the number of questions of a card: the rows of a matrix, else 1."""
    return len(card.asked.get("rows", ())) if card.type == "matrix" else 1


def question_of(draft: SurveyDraft, card: DraftItem) -> Question | None:
    """Return the question of a card, or the first row of a matrix; None for a note and for an incomplete card."""
    if card.type not in (*TYPES, "matrix"):
        return None
    together = [each for each in draft.cards if card.block and each.block == card.block] or [card]
    before = sum(map(rows_of, takewhile(lambda each: each is not card, together)))
    questions = _questions(_canonical_questions(draft, together))
    return questions[before] if before < len(questions) else None


def _canonical_questions(draft: SurveyDraft, cards: Sequence[DraftItem]) -> bytes:
    """Return the canonical survey of one question, or of a block, without texts and conditions, which affect no figure.

    It is the key of the cache of ``_questions``, so that editing a text does not recompute the mechanism.
    """
    alone = SurveyDraft(
        {"title": _TEXT, "revision": 1},
        tuple(replace(card, asked=_neutral(card, f"q{place}")) for place, card in enumerate(cards)),
        tags=("en",),
        declining=draft.declining,
        blocks={card.block: draft.blocks[card.block] for card in cards if card.block},
    )
    return canonical.dump(survey_document(alone, "q"))


def _neutral(card: DraftItem, name: str) -> dict[str, Any]:
    asked = {key: value for key, value in card.asked.items() if key not in _WITHOUT_EFFECT}
    asked |= _neutral_names(asked)
    if isinstance(asked.get("of"), dict):
        of = {key: value for key, value in asked["of"].items() if key != "when_absent"}
        asked["of"] = of | _neutral_names(of)
    # ``when_absent`` names an option, whose name is gone, and affects no figure either.
    asked.pop("when_absent", None)
    return {**asked, "name": name, "label": _TEXT}


def _neutral_names(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the lists of a question's document with the same lengths and with neutral names."""
    return {
        key: [{"name": f"o{place}", "label": _TEXT} for place in range(len(asked[key]))]
        for key in ("choices", "coordinates", "rows")
        if key in asked
    }


@lru_cache(maxsize=4096)
def _questions(document: bytes) -> Sequence[Question]:
    try:
        return parse_survey(canonical.load(document)).questions
    except SpecError:
        return ()
