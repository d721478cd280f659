"""Question types whose answers are options: one, yes or no, or several."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sottovoce.shared.answers import MAX_MASK_OPTIONS, Domain, Value
from sottovoce.shared.checks import Reader
from sottovoce.shared.types.base import Fields, QuestionType, is_below

NAMED = {"$ref": "#/$defs/choices"}


class SelectOneType(QuestionType):
    """The type whose answer is the name of one of the options in ``choices``; the true value is its index."""

    name = "select_one"
    truth = "option"
    keys: ClassVar[Mapping[str, Any]] = {"choices": NAMED}
    required: ClassVar[tuple[str, ...]] = ("choices",)
    list_key = "choices"
    takes_category = True

    def domain(self, fields: Fields, names: Sequence[str], reader: Reader, pointer: str) -> Domain | None:  # noqa: ARG002
        """Return the domain with these options; None without any."""
        return Domain(tuple(names)) if names else None

    def encode(self, domain: Domain, answer: object) -> int:
        """Return the option's index; the category for no answer is not named."""
        return option_index(domain, answer)

    def answer(self, domain: Domain, value: int) -> str:
        """Return the name of the option with this index."""
        return domain.options[value]

    def holds(self, domain: Domain, value: object) -> bool:
        """Return True for the index of an option."""
        return is_below(value, domain.size)


def option_index(domain: Domain, answer: object) -> int:
    """Return the index of the option with this name; a ``ValueError`` repeats nothing of it."""
    place = domain.places.get(answer) if isinstance(answer, str) else None
    if place is None:
        raise ValueError("is not one of its options")
    return place


class RatingType(SelectOneType):
    """The type whose answer is one of some options in an order, shown side by side."""

    name = "rating"


BOOLEAN_OPTIONS = ("no", "yes")
"""The options of a yes/no question, in the order of their values 0 and 1."""


class BooleanType(SelectOneType):
    """The type whose answer is yes or no; the true value is 1 for yes."""

    name = "boolean"
    truth = "yes_no"
    keys: ClassVar[Mapping[str, Any]] = {}
    required = ()
    list_key = ""

    def domain(self, fields: Fields, names: Sequence[str], reader: Reader, pointer: str) -> Domain:  # noqa: ARG002
        """Return the domain, the same for every such question."""
        return Domain(BOOLEAN_OPTIONS)


class SelectMultipleType(QuestionType):
    """The type of at most ``max_choices`` of the options, or none, as a list of names; the true value is a bit mask."""

    name = "select_multiple"
    truth = "options"
    keys: ClassVar[Mapping[str, Any]] = {
        "choices": {**NAMED, "maxItems": MAX_MASK_OPTIONS},
        "max_choices": {"type": "integer", "minimum": 1, "maximum": MAX_MASK_OPTIONS},
    }
    required = ("choices",)
    list_key = "choices"
    most_choices = MAX_MASK_OPTIONS
    answer_schema: ClassVar[Mapping[str, Any]] = {"type": "array"}
    may_be_public = False
    is_set = True

    def domain(self, fields: Fields, names: Sequence[str], reader: Reader, pointer: str) -> Domain | None:
        """Return the options, and how many of them may be chosen: all, unless the question says otherwise."""
        if not names:
            return None
        most = reader.integer(fields.get("max_choices", len(names)), f"{pointer}/max_choices", 1, len(names))
        return Domain(tuple(names), max_choices=most)

    def dump_domain(self, domain: Domain) -> dict[str, Any]:
        """Return the largest number of options that one answer may name."""
        return {"max_choices": domain.max_choices}

    def encode(self, domain: Domain, answer: object) -> int:
        """Return the mask of the options that are named."""
        # A text is a sequence too, so that the one option "ab" would pass for the two options "a" and "b".
        if not isinstance(answer, list | tuple):
            raise ValueError("must be a list of options")
        selected = [option_index(domain, option) for option in answer]
        if len(set(selected)) != len(selected):
            raise ValueError("names an option twice")
        if len(selected) > domain.max_choices:
            raise ValueError("names more options than may be chosen")
        return sum(1 << option for option in selected)

    def answer(self, domain: Domain, value: int) -> list[str]:
        """Return the names of the options, in their order."""
        return [option for index, option in enumerate(domain.options) if value >> index & 1]

    def holds(self, domain: Domain, value: object) -> bool:
        """Return True for a mask of no more options than may be chosen."""
        return is_below(value, 1 << domain.size) and value.bit_count() <= domain.max_choices

    def check_absent(self, value: Value) -> None:
        """Refuse all but the empty set: any other one would be taken for a choice."""
        if value:
            raise ValueError("must be an empty list: who is absent sends the empty set")
