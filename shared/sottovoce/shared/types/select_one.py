"""``select_one``: one of some options, answered by its name; the true value is its index."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sottovoce.shared.answers import Domain
from sottovoce.shared.checks import Reader
from sottovoce.shared.types.base import Fields, QuestionType, is_below

NAMED = {"$ref": "#/$defs/choices"}


class SelectOneType(QuestionType):
    """One of the options that ``choices`` lists."""

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
        """The option's index; the category for no answer is not named."""
        return option_index(domain, answer)

    def answer(self, domain: Domain, value: int) -> str:
        """Return the name of the option with this index."""
        return domain.options[value]

    def holds(self, domain: Domain, value: object) -> bool:
        """Return True for the index of an option."""
        return is_below(value, domain.size)


def option_index(domain: Domain, answer: object) -> int:
    """The index of the option with this name; a ``ValueError`` repeats nothing of it."""
    place = domain.places.get(answer) if isinstance(answer, str) else None
    if place is None:
        raise ValueError("is not one of its options")
    return place
