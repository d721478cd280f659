"""Handle display conditions of questions: answers to earlier ones, of which all or any must hold.

A draft may exclude options, ``{"not": ["often"]}``, so that an option added later is not excluded. Survey files have no
such form; there the other options are listed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, takewhile
from typing import Any

from sottovoce.aggregator.authoring.draft import DraftItem, DraftProblem, SurveyDraft, absent_keys, on_card
from sottovoce.shared.types import TYPES

_DENIALS = (
    " no not never none nothing nein nie niemals kein keine nicht nunca jamás ninguno ninguna non jamais aucun aucune "
    "pas nessuno nessuna não nenhum nenhuma لا أبدًا नहीं 否 没有 从不 从未 "
)
"""First words of answers that say no, in the studio's languages, each between spaces."""
NOT = "not"
"""Key of excluded options in a draft."""


@dataclass(frozen=True)
class EarlierQuestion:
    """Question that a later one may depend on.

    Attributes:
        card: number of its card.
        label: its text by language.
        answers: labels by language, by option name; the labels of yes and no are empty; none for a number.
        takes_not: True if a condition may exclude options; of several chosen ones the format has no such condition.
        least: lower bound of a number, as text; "" for options.
        used: answers that the condition of another card already names; empty for none.
    """

    card: int
    name: str
    label: Mapping[str, str]
    answers: Mapping[str, Mapping[str, str]]
    takes_not: bool
    least: str
    used: tuple[str, ...] = ()

    @property
    def first(self) -> object:
        """Condition to begin with, once the question is chosen: the answers after which more is asked."""
        if self.least and not self.answers:
            return {"min": self.least}
        more = [name for name, label in self.answers.items() if not any(map(_denies, [name, *label.values()]))]
        return list(self.used) or (more if 0 < len(more) < len(self.answers) else list(self.answers)[:1])


def _denies(text: str) -> bool:
    return f" {text.lower().strip().partition(' ')[0].strip('.,;:!')} " in _DENIALS


@dataclass(frozen=True)
class ConditionRow:
    """Condition on the answer to one question, as the form shows it.

    Attributes:
        options: names of options; empty for a number.
        negated: True if none of the options may be the answer, False if one of them must be.
        low, high: least and largest number, as text; "" without one.
    """

    question: str
    options: tuple[str, ...] = ()
    negated: bool = False
    low: str = ""
    high: str = ""


def earlier_questions(draft: SurveyDraft, number: int) -> list[EarlierQuestion]:
    """Return the questions before a card that a condition may name: so no vector; of a matrix the rows."""
    rows = [row for card in draft.cards[:number] for row in conditions_of(card)[0] if not row.negated]
    used = {row.question: row.options for row in rows}
    found = []
    for place, card in enumerate(draft.cards[:number]):
        kind = card.kind
        if kind is not None and kind.single:
            least = str(card.treated.get("min", "")) if "min" in kind.keys else ""
            answers = {} if "min" in kind.keys else answers_of(card)
            for name, asked in zip(names_of(card.asked), card.asked.get("rows", [card.asked]), strict=True):
                known = tuple(answer for answer in used.get(name, ()) if answer in answers)
                label = asked.get("label", {})
                found.append(EarlierQuestion(place, name, label, answers, kind.takes_category, least, known))
    return found


def answers_of(card: DraftItem) -> Mapping[str, Mapping[str, str]]:
    """Return the labels by language of a question's options, by option name."""
    if card.kind is None or card.kind.truth == "yes_no":
        return {"yes": {}, "no": {}}
    return {str(choice.get("name")): choice.get("label", {}) for choice in card.treated.get("choices", ())}


def conditions_of(card: DraftItem) -> tuple[list[ConditionRow], str]:
    """Return the conditions of a card in their order, and how the form shows them: ``all``, ``any`` or as ``kept``.

    Only survey files can give what is kept.
    """
    shown, of_any = (card.asked.get(key) or {} for key in ("visible_if", "any_of"))
    rows = [_row(str(name), wanted) for name, wanted in (shown or of_any).items()]
    return rows, "kept" if shown and of_any else "any" if of_any else "all"


def _row(name: str, wanted: object) -> ConditionRow:
    if isinstance(wanted, Mapping) and NOT not in wanted:
        return ConditionRow(name, low=str(wanted.get("min", "")), high=str(wanted.get("max", "")))
    negated = isinstance(wanted, Mapping)
    options = wanted[NOT] if isinstance(wanted, Mapping) else wanted
    return ConditionRow(name, tuple(map(str, options if isinstance(options, list) else [options])), negated)


def posted_conditions(
    form: Mapping[str, str], prefix: str, asked: Mapping[str, Any], earlier: Sequence[EarlierQuestion]
) -> dict[str, Any]:
    """Return a card's document with the conditions in the form, on questions among ``earlier``.

    Args:
        form: fields ``if0``, ``not0``, ``of0.QUESTION.OPTION``, ``min0.QUESTION``, ``max0.QUESTION`` and ``shown0`` of
            each row, and ``mode``, all after the prefix and a dot. A question that was only now chosen has no others.
        prefix: of the card's fields, such as ``q0``.
        asked: the document before.
    """
    if f"{prefix}.if0" not in form:
        return dict(asked)
    known, found = {each.name: each for each in earlier}, {}
    before = {**asked.get("visible_if", {}), **asked.get("any_of", {})}
    for row in takewhile(lambda row: f"{prefix}.if{row}" in form, count()):
        name = form[f"{prefix}.if{row}"]
        if name and name not in found and (name in known or name in before):
            found[name] = _posted(form, f"{prefix}.{{}}{row}", known[name]) if name in known else before[name]
    rest = {key: value for key, value in asked.items() if key not in ("visible_if", "any_of")}
    return {**rest, **({"any_of" if form.get(f"{prefix}.mode") == "any" else "visible_if": found} if found else {})}


def _posted(form: Mapping[str, str], field: str, asked: EarlierQuestion) -> object:
    if form.get(field.format("shown")) != asked.name:
        return asked.first
    if not asked.answers:
        ends = {end: form.get(f"{field.format(end)}.{asked.name}", "").strip()[:20] for end in ("min", "max")}
        return {end: text.replace(",", ".") for end, text in ends.items() if text} or asked.first
    options = [option for option in asked.answers if f"{field.format('of')}.{asked.name}.{option}" in form]
    return {NOT: options} if asked.takes_not and form.get(field.format("not")) == "1" else options


def without_not(card: DraftItem, cards: Sequence[DraftItem]) -> DraftItem:
    """Return a card whose conditions name the wanted options in place of the excluded ones, as survey files do."""
    of = {name: each for each in cards for name in names_of(each.asked)}

    def wanted(name: str, value: object) -> object:
        if not isinstance(value, Mapping) or NOT not in value or name not in of:
            return value
        return [option for option in answers_of(of[name]) if option not in value[NOT]]

    changed = {
        key: {name: wanted(name, value) for name, value in card.asked[key].items()}
        for key in ("visible_if", "any_of")
        if key in card.asked
    }
    return replace(card, asked={**card.asked, **changed})


def condition_problems(draft: SurveyDraft) -> Iterator[DraftProblem]:
    """Yield the first problem with the condition of each card."""
    for number, card in enumerate(draft.cards):
        for key in ("visible_if", "any_of"):
            shown = card.asked.get(key)
            if shown and (found := _problem_key(draft, number, card, shown)):
                mend = f"absent:{number}" if found == "condition_absent" else f"uncondition:{number}"
                yield DraftProblem(on_card(number, "condition"), found, mend=mend)
                break


def _problem_key(draft: SurveyDraft, number: int, card: DraftItem, shown: Mapping[str, Any]) -> str:
    before = {name: each for each in draft.cards[:number] for name in names_of(each.asked)}
    for name, wanted in shown.items():
        asked = before.get(name)
        if asked is None:
            later = {name for each in draft.cards[number:] for name in names_of(each.asked)}
            return "condition_later" if name in later else "condition_gone"
        if asked.kind is not None and (found := _answer_problem(asked, name, wanted)):
            return found
        if asked.harm != "public" and card.harm == "public" and card.type in (*TYPES, "matrix"):
            return "condition_public"
        if asked.harm == "public" and card.block:
            return "condition_block"
        if asked.harm != "public" and "ask" in draft.head and (not card.block or asked.block != card.block):
            return "condition_ask"
    # A report needs a value for a hidden question too: its absence would reveal the earlier answer.
    is_open = card.treated.get("type") in TYPES and "procedure" not in card.treated
    return "condition_absent" if is_open and not absent_keys(card, draft.declining) else ""


def names_of(item: Mapping[str, Any]) -> list[str]:
    """Return the names by which conditions read an item of a survey's document: of a matrix those of its rows."""
    name = str(item.get("name", ""))
    return [f"{name}_{row.get('name', '')}" for row in item["rows"]] if "rows" in item else [name]


def with_rows(names: Mapping[str, str], cards: Sequence[DraftItem]) -> dict[str, str]:
    """Return new names of cards by their former ones, and those of the rows of each matrix."""
    rows = {name: card.name for card in cards if card.name in names for name in names_of(card.asked)}
    return {**names, **{row: f"{names[name]}{row.removeprefix(name)}" for row, name in rows.items()}}


def _answer_problem(asked: DraftItem, name: str, wanted: object) -> str:
    is_range = isinstance(wanted, Mapping) and NOT not in wanted
    if asked.kind and "min" in asked.kind.keys:
        return "" if is_range else "condition_option"
    row, options = _row(name, wanted), set(answers_of(asked))
    if is_range or not options.issuperset(row.options):
        return "condition_option"
    return "" if row.options and not (row.negated and options <= set(row.options)) else "condition_empty"
