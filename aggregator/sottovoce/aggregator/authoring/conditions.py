"""Display conditions of questions: the page edits those on one option of one earlier question and keeps others."""

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
        card: number of its card.
        name: name of the question.
        answers: labels by language, by option name; the labels of yes and no are empty.
    """

    card: int
    name: str
    answers: Mapping[str, Mapping[str, str]]


def earlier_questions(draft: SurveyDraft, number: int) -> list[EarlierQuestion]:
    """Return the questions before a card that have options, including yes and no."""
    found = []
    for place, card in enumerate(draft.cards[:number]):
        if card.type in TYPES and TYPES[card.type].truth in ("yes_no", "option", "options"):
            found.append(EarlierQuestion(place, card.name, answers_of(card)))
    return found


def answers_of(card: DraftItem) -> Mapping[str, Mapping[str, str]]:
    """Return the labels by language of a question's options, by option name."""
    if TYPES[card.type].truth == "yes_no":
        return {"yes": {}, "no": {}}
    return {str(choice.get("name")): choice.get("label", {}) for choice in card.treated.get("choices", ())}


def simple_condition(card: DraftItem) -> str:
    """Return ``question=option`` for a simple condition, ``kept`` for any other condition, and "" for none."""
    shown = card.asked.get("visible_if")
    if "any_of" in card.asked:
        return "kept"
    if not shown:
        return ""
    [(name, wanted), *more] = shown.items()
    wanted = wanted if isinstance(wanted, list) else [wanted]
    return "kept" if more or len(wanted) != 1 or not isinstance(wanted[0], str) else f"{name}={wanted[0]}"


def with_condition(asked: Mapping[str, Any], selected: str) -> dict[str, Any]:
    """Return a card's document with the condition chosen on the page: ``question=option``, ``kept`` or ""."""
    if selected == "kept":
        return dict(asked)
    unconditional = {key: value for key, value in asked.items() if key not in ("visible_if", "any_of")}
    name, sign, option = selected.partition("=")
    return {**unconditional, "visible_if": {name: [option]}} if sign else unconditional


def condition_problems(draft: SurveyDraft) -> Iterator[DraftProblem]:
    """Yield the first problem with the condition of each card."""
    for number, card in enumerate(draft.cards):
        for key in ("visible_if", "any_of"):
            found = _problem_key(draft, number, card, card.asked.get(key, {}))
            if found:
                mend = f"absent:{number}" if found == "condition_absent" else f"uncondition:{number}"
                place = FieldPath(f"q{number}.condition", number)
                yield DraftProblem(place, found, values={"number": number + 1}, mend=mend)
                break


def _problem_key(draft: SurveyDraft, number: int, card: DraftItem, shown: Mapping[str, Any]) -> str:
    before = {each.name: each for each in draft.cards[:number]}
    for name, wanted in shown.items():
        asked = before.get(name)
        if asked is None:
            later = any(each.name == name for each in draft.cards[number:])
            return "condition_later" if later else "condition_gone"
        if asked.type in TYPES and TYPES[asked.type].truth in ("yes_no", "option", "options"):
            options = wanted if isinstance(wanted, list) else [wanted]
            if not set(map(str, options)) <= set(answers_of(asked)):
                return "condition_option"
        if asked.harm != "public" and card.harm == "public" and card.type in (*TYPES, "matrix"):
            return "condition_public"
        if asked.harm == "public" and card.block:
            return "condition_block"
        if asked.harm != "public" and "ask" in draft.head and (not card.block or asked.block != card.block):
            return "condition_ask"
    return "condition_absent" if shown and _must_be_answered(draft, card) else ""


def _must_be_answered(draft: SurveyDraft, card: DraftItem) -> bool:
    """
    Return whether a conditional question lacks a value for respondents who do not see it.

    A report needs a value for a hidden question too: its absence would reveal the earlier answer.
    """
    kind = TYPES.get(str(card.treated.get("type")))
    if kind is None:
        return False
    if draft.declining == "each":
        return not {"absent_category", "when_absent"} & set(card.treated)
    if draft.declining == "counted" or (draft.declining == "own" and kind.takes_category):
        return False
    return kind.truth != "options" and "when_absent" not in card.treated
