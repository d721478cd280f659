"""Apply edit commands of the page Design: add, delete and move cards, protect them together, and fix problems."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count, groupby
from operator import attrgetter
from typing import Any

from sottovoce.aggregator.authoring.draft import (
    DraftItem,
    SurveyDraft,
    free_name,
    is_given,
    least_of,
    whole_number,
    with_part,
)
from sottovoce.aggregator.authoring.draft_blocks import protect_together, refitted, separate
from sottovoce.aggregator.authoring.sensitivity_levels import NEW
from sottovoce.aggregator.authoring.to_survey import in_halves
from sottovoce.shared.parse_item import CONDITIONS
from sottovoce.shared.types import TYPES

DIRECTIONS = dict.fromkeys(map(ord, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"))
"""Invisible Unicode characters that change the direction of text, for removal with ``str.translate``."""


def change(draft: SurveyDraft, word: str) -> SurveyDraft:
    """Apply the command of a button, such as ``add:boolean``, ``up:2`` or ``step:0:badly``.

    An unknown command, or one for a missing card, returns the draft unchanged. Where half of the people are asked
    directly, the arms follow the questions.
    """
    return in_halves(_changed(draft, word))


def _changed(draft: SurveyDraft, word: str) -> SurveyDraft:
    name, _, given = word.partition(":")
    number, _, value = given.partition(":")
    if name in _OF_DRAFT:
        return _OF_DRAFT[name](draft, given)
    place = whole_number(number)
    if place is None or place >= len(draft.cards):
        return draft
    if name in _OF_ONE:
        changed = _OF_ONE[name](draft.cards[place], draft.tags, value)
        return replace(draft, cards=(*draft.cards[:place], changed, *draft.cards[place + 1 :]))
    return _OF_CARDS[name](draft, place, value) if name in _OF_CARDS else draft


def _add(draft: SurveyDraft, kind: str) -> SurveyDraft:
    name = _default_name(draft.cards)
    known = (*TYPES, "note", "acknowledge", "matrix")
    asked: dict[str, Any] = {"type": kind if kind in known else "boolean", "name": name}
    if kind == "scale":
        asked |= {"type": "rating", "choices": NEW.choices(draft.tags)}
    if kind == "matrix":
        asked |= {"rows": [], "of": {"type": "select_one", "choices": []}}
    harm = "public" if asked["type"] in ("note", "acknowledge") else "clearly"
    return replace(draft, cards=(*draft.cards, DraftItem({**asked, "label": {}}, harm)))


def _default_name(cards: Sequence[DraftItem]) -> str:
    """Return a free ``q`` and a number: any other form would count as chosen, and no longer follow the text."""
    taken = {card.name for card in cards}
    return next(name for number in count(len(cards) + 1) if (name := f"q{number}") not in taken)


def _language(draft: SurveyDraft, tag: str) -> SurveyDraft:
    known = re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}", tag, re.ASCII)
    return replace(draft, tags=(*draft.tags, tag)) if known and tag not in draft.tags else draft


def _ask(draft: SurveyDraft, number: str) -> SurveyDraft:
    return replace(draft, head={**draft.head, "ask": int(number[:6])}) if number.isdecimal() else draft


def _wait(draft: SurveyDraft, hours: str) -> SurveyDraft:
    head, wait = with_part(draft.head, "privacy.send_at_seconds", None), "privacy.send_within_hours"
    return replace(draft, head=with_part(head, wait, int(hours[:3]))) if hours.isdecimal() else draft


def _move(draft: SurveyDraft, number: int, by: int) -> SurveyDraft:
    """Move a card within its block; at the block's end the whole block, and past a block any card in one step."""
    cards, other = list(draft.cards), number + by
    if not 0 <= other < len(cards):
        return draft
    if cards[number].block == cards[other].block:
        cards[number], cards[other] = cards[other], cards[number]
        return replace(draft, cards=tuple(cards))
    blocks = groupby(draft.cards, key=attrgetter("block"))
    groups = [part for name, group in blocks for part in ([[*group]] if name else [[card] for card in group])]
    first = next(place for place, group in enumerate(groups) if group[-1] is cards[min(number, other)])
    groups[first], groups[first + 1] = groups[first + 1], groups[first]
    return replace(draft, cards=tuple(card for group in groups for card in group))


def _move_to(draft: SurveyDraft, number: int, place: str) -> SurveyDraft:
    """Move a card step by step towards the place of another, as far as blocks let it."""
    card, goal, here = draft.cards[number], whole_number(place), number
    goal = number if goal is None else goal
    while here != goal:
        moved = _move(draft, here, 1 if goal > here else -1)
        there = next(at for at, each in enumerate(moved.cards) if each is card)
        if abs(goal - there) >= abs(goal - here):
            break
        draft, here = moved, there
    return draft


def _copy(draft: SurveyDraft, number: int, _value: str) -> SurveyDraft:
    card, cards = draft.cards[number], list(draft.cards)
    name = free_name(card.name, [each.name for each in cards]) if is_given(card.name) else _default_name(cards)
    asked = {key: value for key, value in card.asked.items() if key != "cohort"}
    cards.insert(number + 1, replace(card, asked={**asked, "name": name}))
    return refitted(replace(draft, cards=tuple(cards)), card.block)


def _delete(draft: SurveyDraft, number: int, _value: str) -> SurveyDraft:
    rest = replace(draft, cards=(*draft.cards[:number], *draft.cards[number + 1 :]))
    return refitted(rest, draft.cards[number].block)


def _without_condition(card: DraftItem, _tags: Sequence[str], _value: str) -> DraftItem:
    return replace(card, asked={key: value for key, value in card.asked.items() if key not in CONDITIONS})


def _rescaled(card: DraftItem, tags: Sequence[str], way: str) -> DraftItem:
    """Make a card a rating on a scale; with ``off`` let each option be written by itself."""
    off = [{**choice, "name": f"o{choice['name']}"} for choice in card.treated.get("choices", ())]
    scale = {"choices": off} if way == "off" else {"type": "rating", "choices": NEW.choices(tags)}
    kept = {key: value for key, value in card.treated.items() if key != "ends"}
    return card.with_treated({**kept, **scale})


def _straight(value: Any) -> Any:  # noqa: ANN401 - any part of a document
    if isinstance(value, Mapping):
        return {key: _straight(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_straight(each) for each in value]
    return value.translate(DIRECTIONS) if isinstance(value, str) else value


_OF_DRAFT: Mapping[str, Callable[[SurveyDraft, str], SurveyDraft]] = {
    "add": _add,
    "language": _language,
    "ask": _ask,
    "together": lambda draft, numbers: protect_together(draft, set(map(int, re.findall("[0-9]{1,4}", numbers)))),
    "separate": separate,
    "wait": _wait,
    "straighten_all": lambda draft, _: replace(draft, head=_straight(draft.head)),
}
_OF_CARDS: Mapping[str, Callable[[SurveyDraft, int, str], SurveyDraft]] = {
    "up": lambda draft, number, _: _move(draft, number, -1),
    "down": lambda draft, number, _: _move(draft, number, 1),
    "to": _move_to,
    "copy": _copy,
    "delete": _delete,
}
_OF_ONE: Mapping[str, Callable[[DraftItem, Sequence[str], str], DraftItem]] = {
    "uncondition": _without_condition,
    "step": lambda card, _tags, harm: replace(card, harm=harm, mechanism=None),
    "scale": _rescaled,
    "absent": lambda card, *_: card.with_treated({**card.treated, "when_absent": least_of(card)}),
    "straighten": lambda card, *_: replace(card, asked=_straight(card.asked)),
}
"""Commands that change one card and no other; the second argument are the draft's languages."""
