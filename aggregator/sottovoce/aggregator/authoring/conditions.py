"""Conditions: one earlier question and what its answer must be, as the page chooses them; others are kept."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.aggregator.authoring.draft import DraftItem, DraftProblem, FieldPath, SurveyDraft
from sottovoce.shared.types import TYPES


@dataclass(frozen=True)
class EarlierQuestion:
    """
    A question that a later one may depend on.

    Attributes:
        card: its number.
        name: its name.
        answers: its options by name, each with its texts; none for yes and no.
    """

    card: int
    name: str
    answers: Mapping[str, Mapping[str, str]]


def earlier_questions(draft: SurveyDraft, number: int) -> list[EarlierQuestion]:
    """The questions before a card that it may depend on by one of their options."""
    found = []
    for place, card in enumerate(draft.cards[:number]):
        if card.type in TYPES and TYPES[card.type].truth in ("yes_no", "option", "options"):
            found.append(EarlierQuestion(place, card.name, answers_of(card)))
    return found


def answers_of(card: DraftItem) -> Mapping[str, Mapping[str, str]]:
    """The options by name."""
    if TYPES[card.type].truth == "yes_no":
        return {"yes": {}, "no": {}}
    return {str(choice.get("name")): choice.get("label", {}) for choice in card.treated.get("choices", ())}


def simple_condition(card: DraftItem) -> str:
    """``question=option`` if that is the card's condition, ``kept`` if it has another one, "" if it has none."""
    shown = card.asked.get("visible_if")
    if "any_of" in card.asked:
        return "kept"
    if not shown:
        return ""
    [(name, wanted), *more] = shown.items()
    wanted = wanted if isinstance(wanted, list) else [wanted]
    return "kept" if more or len(wanted) != 1 or not isinstance(wanted[0], str) else f"{name}={wanted[0]}"


def with_condition(asked: Mapping[str, Any], chosen: str) -> dict[str, Any]:
    """A card's document with what the page has chosen: ``question=option``, ``kept`` or ""."""
    if chosen == "kept":
        return dict(asked)
    kept = {key: value for key, value in asked.items() if key not in ("visible_if", "any_of")}
    name, sign, option = chosen.partition("=")
    return {**kept, "visible_if": {name: [option]}} if sign else kept


def condition_problems(draft: SurveyDraft) -> Iterator[DraftProblem]:
    """What is wrong with conditions: of each card the first thing."""
    for number, card in enumerate(draft.cards):
        for key in ("visible_if", "any_of"):
            found = _wrong(draft, number, card, card.asked.get(key, {}))
            if found:
                mend = f"absent:{number}" if found == "condition_absent" else f"uncondition:{number}"
                place = FieldPath(f"q{number}.condition", number)
                yield DraftProblem(place, found, values={"number": number + 1}, mend=mend)
                break


def _wrong(draft: SurveyDraft, number: int, card: DraftItem, shown: Mapping[str, Any]) -> str:
    before = {each.name: each for each in draft.cards[:number]}
    for name, wanted in shown.items():
        asked = before.get(name)
        if asked is None:
            later = any(each.name == name for each in draft.cards[number:])
            return "condition_later" if later else "condition_gone"
        if asked.type in TYPES and TYPES[asked.type].truth in ("yes_no", "option", "options"):
            chosen = wanted if isinstance(wanted, list) else [wanted]
            if not set(map(str, chosen)) <= set(answers_of(asked)):
                return "condition_option"
        if asked.harm != "public" and card.harm == "public" and card.type in (*TYPES, "matrix"):
            return "condition_public"
        if asked.harm != "public" and "ask" in draft.head:
            return "condition_ask"
    return "condition_absent" if shown and _must_be_answered(draft, card) else ""


def _must_be_answered(draft: SurveyDraft, card: DraftItem) -> bool:
    """Whether nothing says what the report of somebody holds to whom the question is not shown."""
    kind = TYPES.get(str(card.treated.get("type")))
    if kind is None:
        return False
    if draft.declining == "each":
        return not {"absent_category", "when_absent"} & set(card.treated)
    if draft.declining == "counted" or (draft.declining == "own" and kind.takes_category):
        return False
    return kind.truth != "options" and "when_absent" not in card.treated
