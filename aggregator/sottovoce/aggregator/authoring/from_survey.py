"""Convert a survey's document into a draft: for a copy, a template, a file or a correction of a published survey."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sottovoce.aggregator.authoring.direct_half import folded
from sottovoce.aggregator.authoring.draft import DraftItem, SurveyDraft
from sottovoce.aggregator.authoring.sensitivity_levels import harm_of
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.languages import text_tags
from sottovoce.shared.types import TYPES

_OURS = ("format", "name", "questions", "replaces", "trial")
"""Keys that a draft does not have: publishing fills them in."""


def draft_of(document: Mapping[str, Any], revision: int = 1) -> SurveyDraft:
    """Convert a survey's document, which need not be valid, into a draft without a name."""
    head = {key: value for key, value in document.items() if key not in _OURS} | {"revision": revision}
    blocks: dict[str, Mapping[str, Any]] = {}
    cards: list[DraftItem] = []
    for entry in document.get("questions", ()):
        name, items = str(entry.get("block", "")), entry.get("items", [entry])
        if name and items:
            # With the mechanism the draft keeps how many of the questions are asked.
            made = entry.get("mechanism", {})
            blocks[name] = {**made, "ask": entry["ask"]} if "ask" in entry and isinstance(made, Mapping) else made
        arm = {ARM: entry[ARM]} if name and ARM in entry else {}
        cards += [replace(card_of({**item, **arm}), block=name) for item in items]
    if isinstance(head.get("access"), Mapping):
        # Keys for blind signatures belong to one survey; publishing finds or creates them.
        head["access"] = "blind"
    default = str(document.get("default_language", "en"))
    tags = (default, *sorted(text_tags(document) - {default}))
    head["default_language"] = default
    return folded(_set_common_declining(SurveyDraft(head, tuple(cards), tags=tags, declining="each", blocks=blocks)))


def card_of(item: Mapping[str, Any]) -> DraftItem:
    """Convert one item of a survey's list of questions into a card."""
    treated = item.get("of", {}) if item.get("type") == "matrix" else item
    harm, use, mechanism = harm_of(treated)
    values = {key: value for key, value in treated.items() if key not in ("mechanism", "public")}
    return DraftItem({**item, "of": values} if item.get("type") == "matrix" else values, harm, use, mechanism)


def _set_common_declining(draft: SurveyDraft) -> SurveyDraft:
    """Replace ``each`` by the common way of declining if all questions have the same one."""
    treated = [card.treated for card in draft.cards if str(card.treated.get("type")) in TYPES]
    able = [one for one in treated if TYPES[str(one["type"])].takes_category]
    if able and all(one.get("absent_category") is True for one in able):
        way = "own"
    elif treated and all("when_absent" in one for one in treated):
        way = "counted"
    elif all("absent_category" not in one and "when_absent" not in one for one in treated):
        way = "never" if treated else "own"
    else:
        way = "each"
    return replace(draft, declining=way)
