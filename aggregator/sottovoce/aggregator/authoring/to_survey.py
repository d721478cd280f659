"""Convert a draft into the document of a survey, as in a survey file."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from sottovoce.aggregator.authoring.conditions import without_not
from sottovoce.aggregator.authoring.direct_half import with_copies
from sottovoce.aggregator.authoring.draft import ABSENT_KEYS, DraftItem, SurveyDraft, absent_keys, part_at, with_part
from sottovoce.aggregator.authoring.file_columns import with_file_columns
from sottovoce.aggregator.authoring.sensitivity_levels import mechanism_for
from sottovoce.aggregator.authoring.slugs import LONGEST_QUESTION, free_name, is_given, question_name
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.parse_item import CONDITIONS
from sottovoce.shared.spec import FORMAT
from sottovoce.shared.survey_keys import MARKS
from sottovoce.shared.types import TYPES


def survey_document(draft: SurveyDraft, name: str) -> dict[str, Any]:
    """Convert a draft, complete or not, into a document for ``parse_survey``.

    Empty texts are left out, and so is ``ask`` unless it is below the number of private questions.
    """
    draft = with_copies(with_slugs(draft))
    document = _without_empty({**draft.head, "default_language": draft.tags[0]})
    questions = [part for name, cards in card_groups(draft.cards) for part in _entries(draft, name, cards)]
    ask, private = document.pop("ask", None), private_questions(draft)
    if isinstance(ask, int) and ask < private:
        document["ask"] = ask
    made = {"format": FORMAT, "name": name, **document, "questions": questions}
    return with_file_columns(made, draft.people) if draft.chooses_columns else made


def card_groups(cards: Iterable[DraftItem]) -> list[tuple[str, list[DraftItem]]]:
    """Return the names of blocks with their cards, in order; the cards between blocks have the name ""."""
    return [(name, list(group)) for name, group in groupby(cards, key=lambda card: card.block)]


def _entries(draft: SurveyDraft, block: str, cards: list[DraftItem]) -> list[dict[str, Any]]:
    items = [_item(without_not(card, draft.cards), draft.declining) for card in cards]
    if not block:
        return items
    made: dict[str, Any] = {"mechanism": draft.blocks[block]}
    if draft.ask_of(block) is not None:
        made = {"mechanism": {**draft.blocks[block]}}
        made["ask"] = made["mechanism"].pop("ask")
    arms = [item.get(ARM) for item in items]
    if any(each != arms[0] for each in arms):
        # Left where they are, which the survey's checks refuse.
        return [{"block": block, **made, "items": items}]
    inner = [{key: value for key, value in item.items() if key != ARM} for item in items]
    own = {} if arms[0] is None else {ARM: arms[0]}
    return [{"block": block, **own, **made, "items": inner}]


def with_slugs(draft: SurveyDraft) -> SurveyDraft:
    """Return the draft with slugs of the question texts in place of default names such as ``q1``."""
    names: dict[str, str] = {}
    for number, card in enumerate(draft.cards):
        others = {*draft.blocks, *names.values(), *(each.name for each in draft.cards[number + 1 :])}
        made = question_name(str(card.asked.get("label", {}).get(draft.tags[0], "")), card.name, draft.tags[0])
        names[card.name] = card.name if is_given(card.name) else free_name(made, others, longest=LONGEST_QUESTION)
    cards = tuple(_rename(card, names) for card in draft.cards)
    return replace(draft, head=_rename_in_head(draft.head, names), cards=cards)


def _rename_in_head(head: Mapping[str, Any], names: Mapping[str, str]) -> Mapping[str, Any]:
    found = dict(head)
    if "keep_last" in head:
        found["keep_last"] = [names.get(name, name) for name in head["keep_last"]]
    if "analysis_plan" in head:
        found["analysis_plan"] = [_rename_in_plan(each, names) for each in head["analysis_plan"]]
    place = "after.screen_out.when"
    when: Mapping[str, Any] = part_at(head, place) or {}
    return with_part(found, place, {names.get(name, name): when[name] for name in when}) if when else found


def _rename_in_plan(planned: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    found = dict(planned)
    for key in {"question", "against"} & found.keys():
        question, dot, part = found[key].partition(".")
        found[key] = f"{names.get(question, question)}{dot}{part}"
    return found


def _rename(card: DraftItem, names: Mapping[str, str]) -> DraftItem:
    """Return a card with its new name, and with the new names of other questions in its conditions."""
    asked = {**card.asked, "name": names[card.name]}
    for key in CONDITIONS & set(asked):
        asked[key] = {names.get(name, name): wanted for name, wanted in asked[key].items()}
    return replace(card, asked=asked)


def private_questions(draft: SurveyDraft) -> int:
    """Return the number of randomized answers that ``ask`` draws from: each row of a matrix is one, and each block."""
    alone = sum(
        len(card.asked.get("rows", ())) if card.type == "matrix" else 1
        for card in draft.cards
        if card.harm != "public" and (card.type in TYPES or card.type == "matrix") and not card.block
    )
    return alone + len({card.block for card in draft.cards if card.block})


def _item(card: DraftItem, declining: str) -> dict[str, Any]:
    if card.type == "matrix":
        return _without_empty({**card.asked, "of": _treated(card, declining)})
    if card.type not in TYPES:
        return _without_empty({key: value for key, value in card.asked.items() if key not in ABSENT_KEYS})
    return _without_empty(_treated(card, declining))


def _treated(card: DraftItem, declining: str) -> dict[str, Any]:
    asked = {key: value for key, value in card.treated.items() if key not in ABSENT_KEYS}
    asked |= absent_keys(card, declining)
    if card.harm == "public":
        return {**asked, "public": True}
    asked = {key: value for key, value in asked.items() if key not in MARKS}
    # A block has one mechanism for all its questions; a person's own fact hides an answer without any.
    if card.block or "procedure" in asked:
        return asked
    return {**asked, "mechanism": dict(mechanism_for(card, "absent_category" in asked))}


def _without_empty(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document without empty texts, empty maps and None."""
    found = {}
    for key, value in document.items():
        filled = _without_empty(value) if isinstance(value, Mapping) else value
        if isinstance(value, list | tuple):
            filled = [_without_empty(each) if isinstance(each, Mapping) else each for each in value]
        if filled not in ("", {}, None):
            found[key] = filled
    return found
