"""Read fields of "Design" that few surveys use: an innocuous fact that hides an answer, and who the survey is for."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sottovoce.aggregator.authoring.draft import SCREENED_OUT, SurveyDraft, part_at
from sottovoce.shared.mechanisms.innocuous_rr import PROCEDURES, UNRELATED

PostedForm = Mapping[str, str]
ReadText = Callable[[str, Mapping[str, str] | None], dict[str, str]]
"""Function that reads a text in all languages from its field, starting from the text before."""

KEPT = "kept"
"""Value of the field for a condition that only a file can say."""

_LONGEST = 64


def apply_procedure(form: PostedForm, prefix: str, asked: dict[str, Any], text: ReadText) -> dict[str, Any]:
    """Apply the procedure of a yes/no question, with its innocuous fact; another type loses it.

    ``prefix`` begins the names of the card's fields, such as ``q0``, and ``asked`` its document.
    """
    procedure = form.get(f"{prefix}.procedure", asked.get("procedure", ""))
    found = {key: value for key, value in asked.items() if key not in ("procedure", "innocuous")}
    if procedure not in PROCEDURES or asked.get("type") != "boolean":
        return found
    place, fact = f"{prefix}.innocuous", dict(asked.get("innocuous", {}))
    for key in ("label", "source"):
        fact[key] = text(f"{place}.{key}", fact.get(key))
    for key in ("share", "se", "fact", "truth"):
        if f"{place}.{key}" in form:
            fact[key] = form[f"{place}.{key}"].strip()[:_LONGEST]
    if procedure != UNRELATED:
        fact.pop("truth", None)
    return found | {"procedure": procedure, "innocuous": {key: value for key, value in fact.items() if value}}


class PublicAnswer(NamedTuple):
    """An answer to a public question: value of the field, number of the question, and the answer's text or name."""

    value: str
    number: int
    label: Mapping[str, str]
    answer: str


def public_answers(draft: SurveyDraft) -> Sequence[PublicAnswer]:
    """Return the answers by which people can be screened out: of public yes/no and single choice questions."""
    found = []
    for number, card in enumerate(draft.cards, 1):
        if card.harm == "public" and card.type in ("boolean", "select_one"):
            labels: dict[str, Mapping[str, str]] = {"yes": {}, "no": {}} if card.type == "boolean" else {}
            labels |= {each["name"]: each.get("label", {}) for each in card.asked.get("choices", ())}
            found += [PublicAnswer(f"{card.name}={name}", number, labels[name], name) for name in labels]
    return found


def screened_out(draft: SurveyDraft) -> str:
    """Return the answer for which the survey is not, as its field has it; "" for none."""
    when = part_at(draft.head, SCREENED_OUT)
    if not when:
        return ""
    name, wanted = next(iter(when.items()))
    answers = [wanted] if isinstance(wanted, str) else wanted
    is_one = len(when) == 1 and isinstance(answers, list | tuple) and len(answers) == 1
    value = f"{name}={answers[0]}" if is_one else KEPT
    return value if value in {each.value for each in public_answers(draft)} else KEPT
