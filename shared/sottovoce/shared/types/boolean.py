"""``boolean``: yes or no; the true value is 1 for yes."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sottovoce.shared.answers import Domain
from sottovoce.shared.checks import Reader
from sottovoce.shared.types.base import Fields
from sottovoce.shared.types.select_one import SelectOneType

BOOLEAN_OPTIONS = ("no", "yes")
"""The options of a yes/no question, in the order of their values 0 and 1."""


class BooleanType(SelectOneType):
    """Question type with the options yes and no."""

    name = "boolean"
    truth = "yes_no"
    keys: ClassVar[Mapping[str, Any]] = {}
    required = ()
    list_key = ""

    def domain(self, fields: Fields, names: Sequence[str], reader: Reader, pointer: str) -> Domain:  # noqa: ARG002
        """The same for every such question."""
        return Domain(BOOLEAN_OPTIONS)
