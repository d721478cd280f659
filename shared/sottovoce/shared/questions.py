"""From a question's document to a ``Question`` and back; the part of ``parsing`` that knows the question types."""

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

from sottovoce.shared import rational
from sottovoce.shared.answers import ABSENT, ENCODERS, MAX_MASK_OPTIONS, Domain, Grid, Value
from sottovoce.shared.checks import MISSING, Reader
from sottovoce.shared.mechanisms import MECHANISMS, PRESETS, Mechanism, for_epsilon
from sottovoce.shared.spec import BOOLEAN_OPTIONS, Choice, Question

MAX_QUESTIONS = 200
MAX_PUBLIC = 10_001
MAX_CHOICES = 1000
QUESTION_TYPES = tuple(ENCODERS)

NAME = re.compile(r"[a-z0-9][a-z0-9_]{0,63}")
_REQUIRED = {"type", "name", "label"}
_OPTIONAL = {"hint", "cohort", "visible_if"}
_TREATMENT = {"mechanism", "public", "when_absent", "absent_category"}

_NUMBER = ("min", "max", "step")
_KEYS: dict[str, tuple[str, ...]] = {
    "boolean": (),
    "select_one": ("choices",),
    "rating": ("choices",),
    "select_multiple": ("choices", "max_choices"),
    "integer": _NUMBER,
    "decimal": _NUMBER,
    "vector": ("coordinates", *_NUMBER),
}
"""The keys that describe a type's true values."""

_ALL_KEYS = {key for keys in _KEYS.values() for key in keys}
TRUTH_OF = {
    "boolean": "yes_no",
    "select_one": "option",
    "rating": "option",
    "select_multiple": "options",
    "integer": "number",
    "decimal": "number",
    "vector": "numbers",
}

_LIST_KEYS = ("choices", "coordinates")
_ONE_OF = {"boolean", "select_one", "rating"}
"""Types whose answer is one of some options: a category can be added, and a public one can be the cohort."""

_NEVER_PUBLIC = {"select_multiple", "vector"}
_NO_DOMAIN = Domain()
"""Stands for true values that could not be read, a mistake already noted."""


class QuestionReader(Reader):
    """Reads questions."""

    neutral = False

    def question(self, value: object, pointer: str, types: tuple[str, ...]) -> Question:
        """One question."""
        fields = self.fields(value, pointer, _REQUIRED, _OPTIONAL | _TREATMENT | _ALL_KEYS)
        asked = self.read(fields, pointer, types)
        return replace(
            asked,
            name=self.match(fields.get("name", MISSING), f"{pointer}/name", NAME),
            label=self.text_map(fields.get("label", MISSING), f"{pointer}/label"),
            hint=self.text_map(fields["hint"], f"{pointer}/hint") if "hint" in fields else {},
            cohort=self.cohort(fields, asked.type, pointer),
        )

    def asked(self, value: object, pointer: str, types: tuple[str, ...]) -> Question:
        """What the rows of a matrix share: a question without name and texts."""
        return self.read(self.fields(value, pointer, {"type"}, _TREATMENT | _ALL_KEYS), pointer, types)

    def read(self, fields: Mapping[str, Any], pointer: str, types: tuple[str, ...]) -> Question:
        """Type, true values and treatment of a question."""
        kind = self.one_of(fields.get("type", "boolean"), f"{pointer}/type", types)
        for key in sorted(_ALL_KEYS.intersection(fields) - set(_KEYS[kind])):
            self.problem(f"{pointer}/{key}", f"a {kind} question has no {key}")
        choices = self.choices(fields, kind, pointer)
        domain = self.domain(fields, kind, choices, pointer)
        if "absent_category" in fields:
            domain = self.with_category(fields, kind, domain, pointer)
        return Question(
            name="",
            type=kind,
            label={},
            hint={},
            choices=choices,
            domain=domain,
            mechanism=self.treatment(fields, kind, domain, pointer),
            cohort=False,
            absent=self.absent(fields, kind, domain, pointer),
            neutral=self.neutral and kind == "boolean" and "public" not in fields,
        )

    def choices(self, fields: Mapping[str, Any], kind: str, pointer: str) -> tuple[Choice, ...]:
        """The options, or the coordinates of a vector."""
        key = next((key for key in _KEYS[kind] if key in _LIST_KEYS), None)
        if key is None:
            return ()
        if key not in fields:
            self.problem(f"{pointer}/{key}", "is missing")
            return ()
        most = MAX_MASK_OPTIONS if kind == "select_multiple" else MAX_CHOICES
        return self.named(fields[key], f"{pointer}/{key}", 2, most)

    def named(self, value: object, pointer: str, least: int, most: int) -> tuple[Choice, ...]:
        """A list of names and labels, no name twice."""
        choices = []
        for index, item in enumerate(self.items(value, pointer, least, most)):
            place = f"{pointer}/{index}"
            choice = self.fields(item, place, {"name", "label"}, set())
            name = self.match(choice.get("name", MISSING), f"{place}/name", NAME)
            label = self.text_map(choice.get("label", MISSING), f"{place}/label")
            choices.append(Choice(name, label))
        self.unique([choice.name for choice in choices], pointer, "name")
        return tuple(choices)

    def domain(self, fields: Mapping[str, Any], kind: str, choices: tuple[Choice, ...], pointer: str) -> Domain:
        """The true values; ``_NO_DOMAIN`` after a mistake."""
        names = tuple(choice.name for choice in choices)
        if kind == "boolean":
            return Domain(BOOLEAN_OPTIONS)
        if "choices" not in _KEYS[kind]:
            grid = self.grid(fields, kind, pointer)
            return Domain(names, grid) if grid and (names or kind != "vector") else _NO_DOMAIN
        if not names:
            return _NO_DOMAIN
        if kind != "select_multiple":
            return Domain(names)
        most = self.integer(fields.get("max_choices", len(names)), f"{pointer}/max_choices", 1, len(names))
        return Domain(names, max_choices=most)

    def with_category(self, fields: Mapping[str, Any], kind: str, domain: Domain, pointer: str) -> Domain:
        """The true values and one more, for no answer."""
        pointer = f"{pointer}/absent_category"
        if fields["absent_category"] is not True:
            self.problem(pointer, "must be true, or left out")
        if "when_absent" in fields:
            self.problem(pointer, "goes without when_absent: absence has one home")
        if kind not in _ONE_OF:
            self.problem(pointer, f"a {kind} question has no categories; give it when_absent")
            return domain
        if ABSENT in domain.options:
            self.problem(pointer, f"adds a category named {ABSENT}, so that no option may have this name")
        return domain if domain is _NO_DOMAIN else Domain((*domain.options, ABSENT), absent=True)

    def absent(self, fields: Mapping[str, Any], kind: str, domain: Domain, pointer: str) -> Value | None:
        """The true value that stands for no answer; None where there must be one."""
        if domain.absent:
            return domain.steps
        if "when_absent" not in fields or domain is _NO_DOMAIN:
            return None
        try:
            value = ENCODERS[kind](domain, fields["when_absent"])
        except ValueError as error:
            self.problem(f"{pointer}/when_absent", str(error))
            return None
        if kind == "select_multiple" and value:
            self.problem(f"{pointer}/when_absent", "must be an empty list: who is absent sends the empty set")
        return value

    def grid(self, fields: Mapping[str, Any], kind: str, pointer: str) -> Grid | None:
        """Min, max and step; the step of an integer is 1 unless it says otherwise."""
        given = {"step": 1, **fields} if kind == "integer" else fields
        low, high, step = (self.number(given.get(key, MISSING), kind, f"{pointer}/{key}") for key in _NUMBER)
        if low is None or high is None or step is None:
            return None
        try:
            return Grid(low, high, step)
        except ValueError as error:
            self.problem(pointer, str(error))
            return None

    def number(self, value: object, kind: str, pointer: str) -> Fraction | None:
        """One exact number, whole for an integer question; None after a mistake."""
        if value is MISSING:
            self.problem(pointer, "is missing")
            return None
        try:
            number = rational.parse_decimal(value)
        except ValueError as error:
            self.problem(pointer, str(error))
            return None
        if kind == "integer" and number.denominator != 1:
            self.problem(pointer, "must be a whole number, as the question is an integer")
            return None
        return number

    def treatment(self, fields: Mapping[str, Any], kind: str, domain: Domain, pointer: str) -> Mechanism | None:
        """The mechanism, or None for a public question; exactly one of the two must be named."""
        if "public" in fields:
            if fields["public"] is not True:
                self.problem(f"{pointer}/public", "must be true, or left out")
            if "mechanism" in fields:
                self.problem(f"{pointer}/public", "a public question has no mechanism")
            if kind in _NEVER_PUBLIC:
                self.problem(f"{pointer}/public", f"a {kind} question cannot be public")
            if domain.size > MAX_PUBLIC:
                self.problem(f"{pointer}/public", f"a public number has at most {MAX_PUBLIC} values")
            return None
        if "mechanism" not in fields:
            self.problem(pointer, "must name a mechanism or say public: true")
            return None
        return self.mechanism(fields["mechanism"], kind, domain, f"{pointer}/mechanism")

    def mechanism(self, value: object, kind: str, domain: Domain, pointer: str) -> Mechanism | None:
        """The mechanism that ``value`` names or asks for by its epsilon; None after a mistake."""
        names = (*MECHANISMS, *PRESETS)
        fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        name = fields.get("name")
        if set(fields) == {"epsilon"}:
            name = ""
        elif not isinstance(name, str) or name not in names:
            self.problem(pointer, f"must be a map with an epsilon, or a name that is one of: {', '.join(names)}")
            return None
        served = "option" if domain.absent else TRUTH_OF[kind]
        if name and served != MECHANISMS[PRESETS.get(name, name)].serves:
            three = "; absent_category makes it a choice of three: name kary_rr, or give an epsilon"
            extra = three if domain.absent and kind == "boolean" else ""
            self.problem(pointer, f"this mechanism does not serve this type of question{extra}")
            return None
        if domain is _NO_DOMAIN:
            return None
        try:
            return _read_mechanism(name, fields, served, domain)
        except ValueError as error:
            self.problem(pointer, str(error))
            return None

    def cohort(self, fields: Mapping[str, Any], kind: str, pointer: str) -> bool:
        """Whether the question divides the respondents into groups."""
        if "cohort" not in fields:
            return False
        if fields["cohort"] is not True:
            self.problem(f"{pointer}/cohort", "must be true, or left out")
        elif "public" not in fields:
            self.problem(f"{pointer}/cohort", "only a public question may be the cohort")
        elif kind not in _ONE_OF:
            self.problem(f"{pointer}/cohort", f"a {kind} question cannot be the cohort")
        return True


def _read_mechanism(name: str, fields: Mapping[str, Any], kind: str, domain: Domain) -> Mechanism:
    if "epsilon" not in fields:
        return MECHANISMS[PRESETS.get(name, name)].parse(fields, domain)
    if set(fields) - {"name", "epsilon"} or name in PRESETS:
        raise ValueError("an epsilon stands alone, or beside the name of a mechanism")
    try:
        epsilon = rational.parse_decimal(fields["epsilon"])
    except ValueError as error:
        raise ValueError(f"epsilon {error}") from None
    return for_epsilon(epsilon, domain, kind, name)


def dump_question(question: Question) -> dict[str, Any]:
    """The canonical document, defaults written out; ``QuestionReader.question`` reads it back."""
    document: dict[str, Any] = {"type": question.type, "name": question.name, "label": question.label}
    if question.hint:
        document["hint"] = question.hint
    document |= dump_asked(question)
    if question.cohort:
        document["cohort"] = True
    return document


def dump_asked(question: Question) -> dict[str, Any]:
    """The part of it that the rows of a matrix share."""
    document: dict[str, Any] = {"type": question.type}
    if question.choices:
        key = next(key for key in _KEYS[question.type] if key in _LIST_KEYS)
        document[key] = [{"name": choice.name, "label": choice.label} for choice in question.choices]
    if question.type == "select_multiple":
        document["max_choices"] = question.domain.max_choices
    if question.domain.grid is not None:
        grid = question.domain.grid
        numbers = zip(_NUMBER, (grid.low, grid.high, grid.step), strict=True)
        document |= {key: rational.dump_decimal(number) for key, number in numbers}
    if question.mechanism is None:
        document["public"] = True
    else:
        document["mechanism"] = question.mechanism.dump()
    if question.domain.absent:
        document["absent_category"] = True
    elif question.absent is not None:
        document["when_absent"] = dump_value(question, question.absent)
    return document


def dump_value(question: Question, value: Value) -> Any:  # noqa: ANN401 - as the question's type has it
    """The answer that has this true value, in its canonical spelling; ``Question.encode`` reads it back."""
    grid = question.domain.grid
    if isinstance(value, tuple):
        return {name: dump_value(question, step) for name, step in zip(question.options, value, strict=True)}
    if grid is not None:
        return rational.dump_decimal(grid.low + grid.step * value)
    if question.type == "select_multiple":
        return [option for index, option in enumerate(question.options) if value >> index & 1]
    return question.options[value]
