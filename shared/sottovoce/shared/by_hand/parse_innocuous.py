"""Parse questions that a fact of the person's own hides: from their document to the channel, and what does not go with
it.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sottovoce.shared import rational
from sottovoce.shared.checks import MISSING, NAME, Reader
from sottovoce.shared.mechanisms.innocuous_rr import CROSSWISE, PROCEDURES, InnocuousRR, channel
from sottovoce.shared.spec import Item, Question

KEYS = ("procedure", "innocuous")
LEAST, MOST = Fraction(1, 20), Fraction(19, 20)
"""Ends of the shares that a procedure takes: beyond them an answer is hardly hidden."""

LARGEST_DENOMINATOR = 10**6
"""Largest denominator of a share, so that two standard errors from it is exact in both languages."""

BY_HAND = tuple(Fraction(faces, 6) for faces in range(1, 6))
"""Probabilities of one throw of a die."""

_ALONE = ("mechanism", "public", "when_absent", "absent_category", "visible_if", "any_of", "anchor", "cohort", "order")
_DATE_OF_BIRTH = ("birth", "birthday", "birthdate", "birthmonth", "born", "dob")
"""Words in the names of questions that ask for the fact ``birthday``."""

_FILLERS = ("date", "day", "month", "my", "of")
"""Words that tell one name of a date of birth from another, and not one date from another."""


def read_innocuous(
    reader: Reader, fields: Mapping[str, Any], pointer: str, is_yes_no: bool, in_block: bool
) -> InnocuousRR | None:
    """Read the channel of a question with ``procedure`` and ``innocuous``; None after a mistake."""
    before = len(reader.problems)
    if "procedure" not in fields:
        reader.problem(f"{pointer}/innocuous", "goes with procedure: crosswise or unrelated_question only")
        return None
    together = [key for key in _ALONE if key in fields] + ([] if is_yes_no else ["type"]) + ["procedure"] * in_block
    for key in together:
        message = "cannot be combined with procedure, where the person's own fact alone hides a yes or no"
        reader.problem(f"{pointer}/{key}", message)
    if fields["procedure"] == "triangular":
        message = "the triangular model is not offered: its answer neither proves a no, so that its epsilon is infinite"
        reader.problem(f"{pointer}/procedure", message)
        return None
    procedure = reader.one_of(fields["procedure"], f"{pointer}/procedure", PROCEDURES)
    place = f"{pointer}/innocuous"
    required = {"label", "share", "source"} | (set() if procedure == CROSSWISE else {"truth"})
    given = reader.fields(fields.get("innocuous", {}), place, required, {"se", "fact"})
    share, error = (_fraction(reader, given, key, place) for key in ("share", "se"))
    truth = Fraction(1) if procedure == CROSSWISE else _truth(reader, given, place)
    label, source = (reader.text_map(given.get(key, MISSING), f"{place}/{key}") for key in ("label", "source"))
    fact = reader.match(given["fact"], f"{place}/fact", NAME) if "fact" in given else ""
    if len(reader.problems) > before or not _is_fit(reader, procedure, share, error, f"{place}/share"):
        return None
    return InnocuousRR(*channel(procedure, share, truth), procedure, share, error, truth, label, source, fact)


def _fraction(reader: Reader, given: Mapping[str, Any], key: str, place: str) -> Fraction:
    with reader.noting(f"{place}/{key}"):
        value = rational.parse_fraction(given[key]) if key in given else Fraction(0)
        if value.denominator > LARGEST_DENOMINATOR:
            raise ValueError("the denominator must not exceed 1,000,000")
        return value
    return Fraction(0)


def _truth(reader: Reader, given: Mapping[str, Any], place: str) -> Fraction:
    truth = _fraction(reader, given, "truth", place)
    if "truth" in given and truth not in BY_HAND:
        reader.problem(f"{place}/truth", "must be a chance of one throw of a die: 1/6, 1/3, 1/2, 2/3 or 5/6")
    return truth


def _is_fit(reader: Reader, procedure: str, share: Fraction, error: Fraction, pointer: str) -> bool:
    low, high = share - 2 * error, share + 2 * error
    if not LEAST <= low <= high <= MOST:
        message = "must lie between 1/20 and 19/20, and so must the shares two standard errors away"
        reader.problem(pointer, message)
        return False
    if procedure == CROSSWISE and low <= Fraction(1, 2) <= high:
        message = "must differ from 1/2 by more than two standard errors: at 1/2 an answer tells nothing"
        reader.problem(pointer, message)
        return False
    return True


def check_innocuous(reader: Reader, items: Sequence[Item], pointers: Sequence[str], waves: int, own_coin: bool) -> None:
    """Refuse what gives away a fact that hides an answer, or that uses one twice.

    ``own_coin``: respondents toss coins of their own for all other questions.
    """
    by_hand = {asked.name: asked.by_fact for item in items for asked in item.questions if asked.by_fact}
    used: list[tuple[set[str], Item]] = []
    for pointer, item in zip(pointers, items, strict=True):
        made = by_hand.get(item.name)
        if made is not None:
            # One statement is one fact, whatever it is called.
            keys = _known_by(made)
            if any(keys & known and _meet(item, other) for known, other in used):
                message = "is used by another question: two answers that one fact hides tell whether they agree"
                reader.problem(f"{pointer}/innocuous", message)
            used.append((keys, item))
            if waves > 1:
                message = "cannot be used in waves: two reports that one fact hides tell whether the answers agree"
                reader.problem(f"{pointer}/procedure", message)
            if own_coin:
                reader.problem(f"{pointer}/procedure", "cannot be combined with own_coin: the device must add nothing")
        if any(condition.question in by_hand for condition in item.conditions):
            message = "depends on an answer that the person's own fact hides, which this device does not know"
            reader.problem(f"{pointer}/{'visible_if' if item.visible_if else 'any_of'}", message)
        facts = {each.fact for name, each in by_hand.items() if each.fact and name != item.name}
        if any(_asks_for(fact, asked) for fact in facts for asked in item.questions):
            message = "asks for the fact that hides another answer, and so would show that answer"
            reader.problem(f"{pointer}/name", message)


def _meet(item: Item, other: Item) -> bool:
    """Return True if a person may be asked both; the arms of two items may have none in common."""
    return not item.arms or not other.arms or not {*item.arms}.isdisjoint(other.arms)


def _known_by(made: InnocuousRR) -> set[str]:
    """Return by what a fact is known again: its name, and its statement in each language, however they are spelled."""
    words = ["birthday" if word in _DATE_OF_BIRTH else word for word in made.fact.split("_")]
    named = "_".join(word for word in words if "birthday" not in words or word not in _FILLERS)
    statements = {_letters(text) or text for text in made.label.values()}
    return statements | ({f"fact {named}"} if made.fact else set())


def _letters(text: str) -> str:
    """Return a text without capitals, spaces, punctuation and symbols."""
    plain = unicodedata.normalize("NFKC", text).lower()
    return "".join(each for each in plain if unicodedata.category(each)[0] not in "CPSZ")


def _asks_for(fact: str, asked: Question) -> bool:
    """Return True if a question's name or type says that it asks for the fact itself."""
    if asked.by_fact:
        return False
    is_birthday = any(word in _DATE_OF_BIRTH for word in fact.split("_"))
    words = (fact, *_DATE_OF_BIRTH) if is_birthday else (fact,)
    return any(f"_{word}_" in f"_{asked.name}_" for word in words) or (is_birthday and asked.type == "date")
