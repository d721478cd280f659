"""Describe differences between two versions of a draft in the form's words; keys, codes and JSON never appear."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime
from typing import NamedTuple

from sottovoce.aggregator.authoring.conditions import NOT, answers_of, names_of
from sottovoce.aggregator.authoring.diff import FieldDifference, differences
from sottovoce.aggregator.authoring.draft import DraftItem, SurveyDraft
from sottovoce.aggregator.i18n.translator import Words, catalogue
from sottovoce.shared.languages import LANGUAGES as OWN_NAMES
from sottovoce.shared.survey_keys import MARKS
from sottovoce.shared.types import TYPES

_LABELS = {
    "people": "design_how_many",
    "description": "design_about",
    "researcher.ethics": "design_ethics",
    "order": "design_order_options",
    "analysis_plan": "results_plan",
    "ask": "design_each_gets",
    "label": "design_text",
    "rows": "rows",
    "type": "answer",
    "visible_if": "design_condition",
    "any_of": "design_condition",
    "when_absent": "design_absent",
    "mechanism": "design_how",
    "block": "together_title",
    "in_files": "design_use_in_files",
    "known_share": "design_anchor",
}
"""Catalogue key of the label that the form gives a field, where it is not made of the field's name."""

_CODES = {
    "direct_half": "answer_",
    "declining": "declining_",
    "access": "design_access_",
    "type": "type_",
    "harm": "harm_",
}
"""Fields that hold a word of a closed list, with the prefix of the catalogue keys of these words."""

_WAVE = re.compile(r"wave(\d+)\.(opens|closes)").fullmatch


class DisplayedDifference(NamedTuple):
    """Field of a question that differs between two versions, formatted for the reader; "" where a version lacks it."""

    place: str
    mine: str
    theirs: str


def differences_in_words(mine: SurveyDraft, theirs: SurveyDraft, words: Words) -> list[DisplayedDifference]:
    """List every field that differs, in the order of the form and the reader's language."""
    return [
        DisplayedDifference(
            _place(each, words), _value(each, each.mine, mine, words), _value(each, each.theirs, theirs, words)
        )
        for each in differences(mine, theirs)
    ]


def _place(found: FieldDifference, words: Words) -> str:
    card = words.translate("design_survey" if found.card is None else "place_question", number=(found.card or 0) + 1)
    tag = f" ({OWN_NAMES.get(found.tag, found.tag)})" if found.tag else ""
    return f"{card}: {_field(found.field, words)}{tag}"


def _field(field: str, words: Words) -> str:
    if wave := _WAVE(field):
        return words.translate(f"design_wave_{wave[2]}", number=int(wave[1]))
    name, last = field.replace(".", "_"), field.rpartition(".")[2]
    keys = (_LABELS.get(field, ""), f"design_{name}", f"place_{name}", f"design_{last}", "field_other")
    # A key that no page knows may have the name of a sentence that needs a number, such as a button's.
    texts = catalogue(words.language)
    return next(texts[key] for key in keys if "{" not in texts.get(key, "{")).rstrip(":")


def _value(found: FieldDifference, value: str, draft: SurveyDraft, words: Words) -> str:
    """Format a value as the form shows it; a value without a form field, such as JSON from a file, is only named."""
    field = found.field.rpartition(".")[2]
    if not value:
        return ""
    if found.field in _CODES:
        key = f"{_CODES[found.field]}{value}"
        return words.translate(key) if words.knows(key) else words.translate("field_other")
    if field in ("opens", "closes", "delete_on"):
        return _moment(value, words)
    card = None if found.card is None or found.card >= len(draft.cards) else draft.cards[found.card]
    if card is not None and found.field in _OF_CARDS:
        return _card_value(found.field, value, card, draft, words)
    if field in ("people", "group"):
        return words.number(int(value))
    return words.translate("field_other") if value[0] in "[{" and not found.tag and found.field != "options" else value


_OF_CARDS = ("use", "visible_if", "any_of", "mechanism", "when_absent", "anchor", *MARKS)


def _card_value(field: str, value: str, card: DraftItem, draft: SurveyDraft, words: Words) -> str:
    if field == "use":
        key = f"use_{card.kind.truth if card.kind else ''}_{value}"
        return words.translate(key) if words.knows(key) else words.translate("field_other")
    if field in {"anchor", *MARKS}:
        return words.translate("answer_yes")
    if field == "when_absent":
        return _answer(value, card, draft, words) if card.type in TYPES else value
    parsed = json.loads(value)
    if field == "mechanism":
        return _mechanism(parsed, words)
    return "\n".join(_condition(name, wanted, draft, words) for name, wanted in parsed.items())


def _mechanism(mechanism: Mapping[str, object], words: Words) -> str:
    """Describe a mechanism by its epsilon, or by its name and numbers."""
    if set(mechanism) == {"epsilon"}:
        return f"{words.translate('design_epsilon')} {mechanism['epsilon']}"
    numbers = [f"{key} {part}" for key, part in mechanism.items() if key != "name" and isinstance(part, int | str)]
    return f"{mechanism.get('name', words.translate('field_other'))}{': ' if numbers else ''}{', '.join(numbers)}"


def _condition(name: str, wanted: object, draft: SurveyDraft, words: Words) -> str:
    """Describe a condition by question and answers; any other kind, such as bounds, gets the form's general phrase."""
    place = next((number for number, card in enumerate(draft.cards) if name in names_of(card.asked)), None)
    excluded = wanted.get(NOT) if isinstance(wanted, Mapping) else None
    answers = excluded or (wanted if isinstance(wanted, list) else [wanted])
    if place is None or not all(isinstance(each, str) for each in answers):
        return words.translate("design_condition_kept")
    labels = ", ".join(_answer(str(each), draft.cards[place], draft, words) for each in answers)
    negation = f" {words.translate('design_condition_not')}:" if excluded else ""
    return f"{words.translate('design_if', number=place + 1)}{negation} {labels}"


def _answer(name: str, card: DraftItem, draft: SurveyDraft, words: Words) -> str:
    label: Mapping[str, str] = answers_of(card).get(name, {})
    if label:
        return label.get(words.language) or label.get(draft.tags[0]) or name
    return words.translate(f"answer_{name}") if name in ("yes", "no") else name


def _moment(value: str, words: Words) -> str:
    with suppress(ValueError):
        if len(value) == len("2026-12-31"):
            return words.day(date.fromisoformat(value))
        return words.moment(datetime.fromisoformat(value))
    return value
