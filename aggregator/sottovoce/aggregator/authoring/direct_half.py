"""Ask a random half of the people directly: two arms, a direct copy of each sensitive question, planned comparisons.

A draft keeps the choice, the arms and each sensitive question once. Copies and comparisons are made for the survey's
document, so that they always have the texts, options and conditions of their questions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import groupby

from sottovoce.aggregator.authoring.draft import DraftItem, SurveyDraft
from sottovoce.aggregator.authoring.slugs import LONGEST_QUESTION, free_name
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.parse_item import CONDITIONS, MEASURES, MOST_PLANNED, PlannedComparison
from sottovoce.shared.types import TYPES

DIRECT, PROTECTED = "direct", "protected"
_ARMS = [{"name": name, "weight": 1} for name in (DIRECT, PROTECTED)]
_ONLY_PROTECTED = {"procedure", "innocuous"}
"""Keys that only protect an answer."""


def set_direct_half(draft: SurveyDraft, wanted: bool) -> SurveyDraft:
    """Make or take back the choice; a draft with other arms stays as it is, since they have a meaning of their own."""
    if wanted == draft.direct_half or (wanted and draft.head.get("arms")):
        return draft
    if wanted:
        return in_halves(replace(draft, direct_half=True))
    head = {key: value for key, value in draft.head.items() if key != "arms"}
    return replace(draft, head=head, cards=tuple(map(_without, draft.cards)), direct_half=False)


def in_halves(draft: SurveyDraft) -> SurveyDraft:
    """Give the sensitive questions of a draft with the choice to the arm ``protected``, and all others to everybody."""
    if not draft.direct_half:
        return draft
    split = _split(draft)
    cards = [replace(card, asked={**card.asked, ARM: [PROTECTED]}) if card.name in split else _without(card)
             for card in draft.cards]  # fmt: skip
    return replace(draft, head={**draft.head, "arms": _ARMS if split else None}, cards=tuple(cards))


def _without(card: DraftItem, left_out: str = ARM) -> DraftItem:
    return replace(card, asked={key: value for key, value in card.asked.items() if key != left_out})


def _split(draft: SurveyDraft) -> dict[str, bool]:
    """Return the names of the cards for the protected half, each with whether the direct half has a copy.

    These are the sensitive questions and what depends on them. Several answers at once cannot be sent openly, so these
    and anchors are for everybody.
    """
    found: dict[str, bool] = {}
    for card in draft.cards:
        kind = TYPES.get(str(card.treated.get("type", "")))
        openly = kind is None or kind.may_be_public
        on = [found[name] for key in CONDITIONS for name in card.asked.get(key, ()) if name in found]
        if on or (card.harm != "public" and kind is not None and openly and "anchor" not in card.asked):
            found[card.name] = openly and all(on)
    return found


def numbered_copies(draft: SurveyDraft) -> list[tuple[int, DraftItem]]:
    """Return the cards of the survey, each with the number of its card in the draft: a copy has its question's.

    A copy follows its question; in a block, all copies follow the block.
    """
    numbered = list(enumerate(draft.cards))
    if not draft.direct_half:
        return numbered
    names = _names_of_copies(draft)
    found: list[tuple[int, DraftItem]] = []
    for block, grouped in groupby(numbered, key=lambda each: each[1].block):
        group = list(grouped)
        for part in [group] if block else [[each] for each in group]:
            found += [*part, *((number, _copy(card, names)) for number, card in part if card.name in names)]
    return found


def _names_of_copies(draft: SurveyDraft) -> dict[str, str]:
    """Return the name of the copy of each card that has one."""
    found: dict[str, str] = {}
    taken, end = {*draft.blocks, *(card.name for card in draft.cards)}, f"_{DIRECT}"
    for name, is_copied in _split(draft).items():
        if is_copied:
            wanted = name[: LONGEST_QUESTION - len(end)] + end
            found[name] = free_name(wanted, {*taken, *found.values()}, longest=LONGEST_QUESTION)
    return found


def _copy(card: DraftItem, names: Mapping[str, str]) -> DraftItem:
    asked = {key: value for key, value in card.asked.items() if key not in _ONLY_PROTECTED}
    for key in CONDITIONS & asked.keys():
        asked[key] = {names.get(name, name): wanted for name, wanted in asked[key].items()}
    # A card's ``in_files`` decides about its copy: files have every randomized answer.
    return DraftItem({**asked, "name": names[card.name], ARM: [DIRECT]}, "public")


def with_copies(draft: SurveyDraft) -> SurveyDraft:
    """Return a draft with the choice as one without it, that has the copies and the planned comparisons."""
    if not draft.direct_half:
        return draft
    names, head = _names_of_copies(draft), dict(draft.head)
    if "keep_last" in head:
        head["keep_last"] = [each for name in head["keep_last"] for each in (name, names.get(name)) if each]
    plan = list(head.get("analysis_plan") or ())
    plan += [each for each in _comparisons(draft, names) if each not in plan]
    cards = tuple(_without(card, "in_files") if card.name in names else card for _, card in numbered_copies(draft))
    return replace(draft, head={**head, "analysis_plan": plan[:MOST_PLANNED] or None}, cards=cards, direct_half=False)


def _comparisons(draft: SurveyDraft, names: Mapping[str, str]) -> Iterator[dict[str, str]]:
    # A correction keeps the plan that was published.
    for card in draft.cards if draft.head.get("revision", 1) == 1 else ():
        if card.name in names and card.treated.get("type") in TYPES:
            for end in [f"_{row['name']}" for row in card.asked["rows"]] if card.type == "matrix" else [""]:
                yield PlannedComparison(card.name + end, MEASURES[0], "0.95", against=names[card.name] + end).dump()


def folded(draft: SurveyDraft) -> SurveyDraft:
    """Return the draft with the choice that makes the same survey, such as for a correction; else the draft itself."""
    if draft.head.get("arms") != _ARMS:
        return draft
    copies = {card.name: card for card in draft.cards if card.asked.get(ARM) == [DIRECT]}
    found = replace(draft, cards=tuple(card for card in draft.cards if card.name not in copies), direct_half=True)
    names = _names_of_copies(found)
    shown = {name for name, copy in names.items() if copy in copies and copies[copy].asked.get("in_files")}
    files = {"in_files": True}
    cards = (replace(card, asked={**card.asked, **files}) if card.name in shown else card for card in found.cards)
    found = replace(found, cards=tuple(cards))
    planned = [*_comparisons(found, names)]
    head = dict(draft.head)
    if "keep_last" in head:
        head["keep_last"] = [name for name in head["keep_last"] if name not in copies]
    if own := [each for each in head.pop("analysis_plan", ()) if each not in planned]:
        head["analysis_plan"] = own
    found = in_halves(replace(found, head=head))
    return found if with_copies(found) == draft else draft
