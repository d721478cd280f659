"""Parse ``arms`` and each item's ``arm`` into what is asked in which arm, with every mistake and its JSON pointer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sottovoce.shared.answers import Domain
from sottovoce.shared.arms.arms import ARM, MOST_ARMS, MOST_WEIGHT, Arm
from sottovoce.shared.checks import MISSING, NAME, Reader, document_at
from sottovoce.shared.errors import Sentence
from sottovoce.shared.parse_item import ItemReader
from sottovoce.shared.spec import Choice, Item, Question

LABELS = {
    "en": "Group drawn by chance",
    "ar": "مجموعة اختيرت بالصدفة",
    "de": "Zufällig geloste Gruppe",
    "es": "Grupo elegido al azar",
    "fr": "Groupe tiré au sort",
    "hi": "संयोग से चुना गया समूह",
    "it": "Gruppo sorteggiato",
    "pt": "Grupo escolhido ao acaso",
    "zh-Hans": "随机抽取的组",
}
"""What respondents read of the arm in their receipt, as ``arm_label`` in the browser's sentences."""


def read_arms(reader: ItemReader, fields: Mapping[str, Any], items: Sequence[Item]) -> tuple[list[Arm], list[Item]]:
    """Read the survey's arms, none without ``arms``, and its items with theirs; the reader has the items' pointers."""
    if "arms" not in fields:
        if "arms_per_wave" in fields:
            reader.problem("/arms_per_wave", "goes with arms only")
        for pointer in dict.fromkeys(place for each in reader.pointers for place in (_whole(each), each)):
            if ARM in document_at(fields, pointer):
                reader.problem(f"{pointer}/{ARM}", "names an arm, and the survey has no arms")
        return [], list(items)
    arms = [
        _arm(reader, value, f"/arms/{index}")
        for index, value in enumerate(reader.items(fields["arms"], "/arms", 2, MOST_ARMS))
    ]
    names = [arm.name for arm in arms]
    for index in [index for index, name in enumerate(names) if name and name in names[:index]]:
        reader.problem(f"/arms/{index}/name", "is used twice")
    named = {
        place: _arms_of(reader, document_at(fields, place), names, place) for place in map(_whole, reader.pointers)
    }
    read = [replace(item, arms=named[_whole(pointer)]) for pointer, item in zip(reader.pointers, items, strict=True)]
    for pointer in reader.pointers:
        if pointer != _whole(pointer) and ARM in document_at(fields, pointer):
            reader.problem(f"{pointer}/{ARM}", "a block is asked as a whole: give the arm to the block")
    _check_together(reader, fields, read)
    _check_items(reader, read, names)
    return arms, read


def arm_question(arms: Sequence[Arm], language: str) -> Question:
    """Return the public choice that reports the arm; the arms' names stand for labels in the survey's language."""
    return Question(
        name=ARM,
        type="select_one",
        label={language: LABELS["en"], **LABELS},
        hint={},
        choices=tuple(Choice(arm.name, {language: arm.name}) for arm in arms),
        domain=Domain(tuple(arm.name for arm in arms)),
        mechanism=None,
        marks=frozenset({"in_files"}),
    )


def dump_arms(arms: Sequence[Arm]) -> dict[str, Any]:
    """Return the arms of the canonical survey; none without arms, so that other surveys keep their digest."""
    return {"arms": [arm.dump() for arm in arms]} if arms else {}


def texts_by_arm(reader: Reader, value: object, arms: Sequence[Arm]) -> dict[str, Any]:
    """Parse ``after.by_arm``: a text for each of some arms, in the order of the arms."""
    known = [arm.name for arm in arms]
    given = value if isinstance(value, dict) else {}
    if not given or any(name not in known for name in given):
        reader.problem("/after/by_arm", "must be a map from names of the survey's arms to texts")
        return {}
    return {name: reader.text_map(given[name], f"/after/by_arm/{name}") for name in known if name in given}


def _arm(reader: ItemReader, value: object, pointer: str) -> Arm:
    fields = reader.fields(value, pointer, {"name"}, {"weight"})
    name = reader.match(fields.get("name", MISSING), f"{pointer}/name", NAME)
    return Arm(name, reader.integer(fields.get("weight", 1), f"{pointer}/weight", 1, MOST_WEIGHT))


def _whole(pointer: str) -> str:
    """Return the JSON pointer of the entry of the list of questions: for an item in a block, the block's."""
    return pointer.partition("/items/")[0]


def _arms_of(reader: ItemReader, document: Mapping[str, Any], names: Sequence[str], pointer: str) -> tuple[str, ...]:
    """Read the names of the arms of an item or a block, in the order of the survey's; none for all arms."""
    if ARM not in document:
        return ()
    wanted = document[ARM] if isinstance(document[ARM], list) else [document[ARM]]
    is_known = wanted and all(isinstance(each, str) and each in names for each in wanted)
    if not is_known or not len(set(wanted)) == len(wanted) < len(names):
        wrong = Sentence("must be some of the survey's arms, each once and not all: {names}", names=", ".join(names))
        reader.problem(f"{pointer}/{ARM}", wrong)
        return ()
    return tuple(name for name in names if name in wanted)


def _check_together(reader: ItemReader, fields: Mapping[str, Any], items: Sequence[Item]) -> None:
    """Refuse what does not go with arms."""
    if "arms_per_wave" in fields and "waves" not in fields:
        reader.problem("/arms_per_wave", "goes with waves only")
    privacy = fields.get("privacy")
    if isinstance(privacy, dict) and privacy.get("procedure") == "own_coin":
        reader.problem("/arms", "cannot be combined with own_coin: the device must draw nothing")
    for pointer, item in zip(reader.pointers, items, strict=True):
        _check_item(reader, item, pointer)


def _check_item(reader: ItemReader, item: Item, pointer: str) -> None:
    """Refuse what an item of a survey with arms cannot be."""
    if any(question.mechanism is not None and question.mechanism.waves > 1 for question in item.questions):
        reader.problem(f"{pointer}/mechanism", "cannot be combined with arms: only questions for all are remembered")
    if ARM in {item.name, *(question.name for question in item.questions)}:
        reader.problem(f"{pointer}/name", "is the name under which the arm itself is reported")
    if item.arms and any(question.cohort for question in item.questions):
        reader.problem(f"{pointer}/cohort", "must be asked in all arms: each report is counted in one cohort")
    if item.arms and any(question.known_share is not None for question in item.questions):
        reader.problem(f"{pointer}/{ARM}", "an anchor is asked of everybody")


def _check_items(reader: ItemReader, items: Sequence[Item], names: Sequence[str]) -> None:
    """Refuse an arm in which nothing is reported, and a condition that names a question of another arm."""
    for index, name in enumerate(names):
        if not any(item.questions and item.is_in(name) for item in items):
            reader.problem(f"/arms/{index}", "has no question")
    asked_in = {q.name: {name for name in names if item.is_in(name)} for item in items for q in item.questions}
    for pointer, item in zip(reader.pointers, items, strict=True):
        own = {name for name in names if item.is_in(name)}
        for condition in item.conditions:
            if not own <= asked_in[condition.question]:
                place = "visible_if" if condition in item.visible_if else "any_of"
                reader.problem(f"{pointer}/{place}/{condition.question}", "is not asked in every arm of this item")
