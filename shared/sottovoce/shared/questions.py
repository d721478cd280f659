"""Parse a question's document into a ``Question`` and write it back; what is a type's own is in ``types``.

The channel of a question that a fact of the person's own hides is parsed here too, and what does not go with it.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from sottovoce.shared import rational
from sottovoce.shared.answers import ABSENT, Domain, Value
from sottovoce.shared.checks import MISSING, NAME, Reader
from sottovoce.shared.errors import Sentence
from sottovoce.shared.mechanisms import ALIASES, MECHANISMS, PRESETS, Mechanism, for_epsilon
from sottovoce.shared.mechanisms.base import decimal_field
from sottovoce.shared.mechanisms.innocuous_rr import CROSSWISE, PROCEDURES, InnocuousRR, channel
from sottovoce.shared.spec import Choice, Item, Question, TextMap
from sottovoce.shared.survey_keys import ITEM, MARKS, OF_EVERY_ITEM, ONLY_PUBLIC
from sottovoce.shared.types import TYPES, QuestionType

MAX_QUESTIONS = 200
MAX_PUBLIC = 10_000_001
"""Most values of a public number, such as an income in whole euros; of other questions there are always fewer."""

_TREATMENT = {"mechanism", "public", "when_absent", "absent_category"}
_ALL_KEYS = {key for made in TYPES.values() for key in made.keys}
"""The keys that describe the true values of some type."""

COIN_OF_THREE = {"name": "kary_rr", "odds": "3"}
"""The coin's odds of 3 to 1 over yes, no and no answer: 60, 20 and 20 of 100."""

_NOT_SERVED = "this mechanism does not serve this type of question"
_NOT_SERVED_THREE = f"{_NOT_SERVED}; absent_category makes it a choice of three: name kary_rr, or give an epsilon"

_NO_DOMAIN = Domain()
"""Stands for true values that could not be read, a mistake already noted."""

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


class QuestionReader(Reader):
    """A parser of questions that notes every mistake; ``types`` are the question types that may stand in a place."""

    neutral = False
    in_block = False
    """The questions that are parsed now are in a block, which has the mechanism."""

    def question(self, value: object, pointer: str, types: tuple[str, ...]) -> Question:
        """Parse a question of one of these types."""
        fields = self.fields(value, pointer, OF_EVERY_ITEM, {*ITEM} | _TREATMENT | _ALL_KEYS)
        asked = self.read(fields, pointer, types)
        name, label, hint = self.texts(fields, pointer)
        marks = MARKS.intersection(fields)
        for key in sorted(marks):
            if not self.mark(fields[key], f"{pointer}/{key}"):
                continue
            if "public" not in fields:
                self.problem(f"{pointer}/{key}", ONLY_PUBLIC.get(key, "goes with public questions only"))
            elif key == "cohort" and not asked.kind.takes_category:
                self.problem(f"{pointer}/{key}", Sentence("{kind} questions cannot be the cohort", kind=asked.type))
        return replace(asked, name=name, label=label, hint=hint, marks=marks)

    def texts(self, fields: Mapping[str, Any], pointer: str) -> tuple[str, TextMap, TextMap]:
        """Parse the name, label and hint of an item."""
        return (
            self.match(fields.get("name", MISSING), f"{pointer}/name", NAME),
            self.text_map(fields.get("label", MISSING), f"{pointer}/label"),
            self.text_map(fields["hint"], f"{pointer}/hint") if "hint" in fields else {},
        )

    def asked(self, value: object, pointer: str, types: tuple[str, ...]) -> Question:
        """Parse the part that the rows of a matrix share: a question without name and texts."""
        return self.read(self.fields(value, pointer, {"type"}, _TREATMENT | _ALL_KEYS), pointer, types)

    def read(self, fields: Mapping[str, Any], pointer: str, types: tuple[str, ...]) -> Question:
        """Parse type, true values and treatment of a question."""
        kind = TYPES[self.one_of(fields.get("type", "boolean"), f"{pointer}/type", types)]
        for key in sorted(_ALL_KEYS.intersection(fields) - set(kind.keys)):
            self.problem(f"{pointer}/{key}", Sentence("{kind} questions have no {key}", kind=kind.name, key=key))
        choices: tuple[Choice, ...] = ()
        if kind.list_key and kind.list_key in fields:
            choices = self.named(fields[kind.list_key], f"{pointer}/{kind.list_key}", 2, kind.most_choices)
        elif kind.list_key:
            self.problem(f"{pointer}/{kind.list_key}", "is missing")
        domain = kind.domain(fields, [choice.name for choice in choices], self, pointer) or _NO_DOMAIN
        if "absent_category" in fields:
            domain = self.with_category(fields, kind, domain, pointer)
        mechanism = self.treatment(fields, kind, domain, pointer)
        # The true value that represents a missing answer; None if an answer is required.
        absent: Value | None = domain.steps if domain.absent else None
        if absent is None and "when_absent" in fields and domain is not _NO_DOMAIN:
            with self.noting(f"{pointer}/when_absent"):
                value = kind.encode(domain, fields["when_absent"])
                kind.check_exact(domain, fields["when_absent"])
                kind.check_absent(value)
                absent = value
        return Question(
            name="",
            type=kind.name,
            label={},
            hint={},
            choices=choices,
            domain=domain,
            mechanism=mechanism,
            absent=absent,
            neutral=self.neutral and kind.truth == "yes_no" and not {"public", *KEYS} & set(fields),
        )

    def named(self, value: object, pointer: str, least: int, most: int) -> tuple[Choice, ...]:
        """Parse a list of ``least`` to ``most`` names and labels, no name twice."""
        choices = []
        items = self.items(value, pointer, least, most)
        for index, item in enumerate(items):
            place = f"{pointer}/{index}"
            choice = self.fields(item, place, {"name", "label"}, set())
            name = self.match(choice.get("name", MISSING), f"{place}/name", NAME)
            choices.append(Choice(name, self.text_map(choice.get("label", MISSING), f"{place}/label")))
        names = [choice.name for choice in choices]
        for index, name in enumerate(names):
            if name and name in names[:index]:
                self.problem(f"{pointer}/{index}/name", "is used twice")
        # Nothing can be asked with a list of a wrong length, which is noted already.
        return tuple(choices) if len(items) >= least and items == value else ()

    def with_category(self, fields: Mapping[str, Any], kind: QuestionType, domain: Domain, pointer: str) -> Domain:
        """Return the true values and one more, for no answer."""
        pointer = f"{pointer}/absent_category"
        self.mark(fields["absent_category"], pointer)
        if "when_absent" in fields:
            self.problem(pointer, "cannot be combined with when_absent: use one of the two")
        if not kind.takes_category:
            self.problem(pointer, Sentence("{kind} questions have no categories; give it when_absent", kind=kind.name))
            return domain
        if ABSENT in domain.options:
            message = "adds a category named {name}, so that no option may have this name"
            self.problem(pointer, Sentence(message, name=ABSENT))
        return domain if domain is _NO_DOMAIN else Domain((*domain.options, ABSENT), absent=True)

    def treatment(
        self, fields: Mapping[str, Any], kind: QuestionType, domain: Domain, pointer: str
    ) -> Mechanism | None:
        """Parse the mechanism, or None for a public question; exactly one of the two must be named."""
        if any(key in fields for key in KEYS):
            return read_innocuous(self, fields, pointer, kind.truth == "yes_no", self.in_block)
        if self.in_block:
            if "public" in fields:
                self.problem(f"{pointer}/public", "a block has private questions only")
            if "mechanism" in fields:
                self.problem(f"{pointer}/mechanism", "the block has the mechanism of all its questions: leave this out")
            if not kind.takes_category:
                message = "{kind} questions cannot be in a block: there the answer must be one of some options"
                self.problem(f"{pointer}/type", Sentence(message, kind=kind.name))
            return None
        if "public" in fields:
            place = f"{pointer}/public"
            self.mark(fields["public"], place)
            if "mechanism" in fields:
                self.problem(place, "a public question has no mechanism")
            if not kind.may_be_public:
                self.problem(place, Sentence("{kind} questions cannot be public", kind=kind.name))
            if domain.size > MAX_PUBLIC:
                self.problem(place, Sentence("a public number has at most {most} values", most=str(MAX_PUBLIC)))
            return None
        if "mechanism" not in fields:
            self.problem(pointer, "must name a mechanism or say public: true")
            return None
        return self.mechanism(fields["mechanism"], kind, domain, f"{pointer}/mechanism")

    def mechanism(self, value: object, kind: QuestionType, domain: Domain, pointer: str) -> Mechanism | None:
        """Return the mechanism that ``value`` names or asks for by its epsilon; None after a mistake."""
        names = (*MECHANISMS, *PRESETS)
        offered = [each for each in names if each not in PROCEDURES]
        fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        name = fields.get("name")
        if set(fields) == {"epsilon"}:
            name = ""
        elif not isinstance(name, str) or name not in names:
            message = "must be a map with an epsilon, or a name that is one of: {names}"
            self.problem(pointer, Sentence(message, names=", ".join(offered)))
            return None
        if domain.absent and kind.truth == "yes_no" and fields == {"name": "coin_flip"}:
            name, fields = COIN_OF_THREE["name"], COIN_OF_THREE
        served = "option" if domain.absent else kind.truth
        if name and served != MECHANISMS[PRESETS.get(name, name)].serves:
            self.problem(pointer, _NOT_SERVED_THREE if (domain.absent and kind.truth == "yes_no") else _NOT_SERVED)
            return None
        if domain is _NO_DOMAIN:
            return None
        with self.noting(pointer):
            if "epsilon" not in fields:
                return MECHANISMS[PRESETS.get(name, name)].parse(fields, domain)
            if set(fields) - {"name", "epsilon"} or (name in PRESETS and name not in ALIASES):
                raise ValueError("give an epsilon alone, or with the name of a mechanism")
            return for_epsilon(decimal_field(fields, "epsilon"), domain, served, name)
        return None


def dump_question(question: Question) -> dict[str, Any]:
    """Return the canonical document, defaults written out; ``QuestionReader.question`` reads it back."""
    document: dict[str, Any] = {"type": question.type, "name": question.name, "label": question.label}
    if question.hint:
        document["hint"] = question.hint
    document |= dump_asked(question)
    document |= dict.fromkeys(sorted(question.marks), True)
    if question.known_share is not None:
        document |= {"anchor": True, "known_share": str(question.known_share)}
    return document


def dump_asked(question: Question) -> dict[str, Any]:
    """Return the part of the canonical document that the rows of a matrix share."""
    document: dict[str, Any] = {"type": question.type}
    if question.choices:
        document[question.kind.list_key] = [{"name": choice.name, "label": choice.label} for choice in question.choices]
    if question.domain != _NO_DOMAIN:
        document |= question.kind.dump_domain(question.domain)
    if question.mechanism is None:
        document["public"] = True
    elif question.by_fact:
        document |= question.by_fact.dump_keys()
    elif not question.member:
        document["mechanism"] = question.mechanism.dump()
    if question.domain.absent:
        document["absent_category"] = True
    elif question.absent is not None:
        document["when_absent"] = question.answer(question.absent)
    return document
