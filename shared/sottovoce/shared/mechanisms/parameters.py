"""The parameters of a mechanism in a survey file: which there are, and how they are read and described."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.shared import rational
from sottovoce.shared.errors import Sentence, error_message


@dataclass(frozen=True)
class Parameter:
    """A parameter of a mechanism, with its JSON Schema; the canonical survey always has it, ``required`` or not."""

    schema: Mapping[str, Any]
    required: bool = True


FRACTION = Parameter(
    {
        "type": "string",
        "pattern": "^(0|[1-9][0-9]{0,9})(/[1-9][0-9]{0,9})?$",
        "description": "A fraction in lowest terms.",
    }
)
MECHANISM = Parameter({"$ref": "#/$defs/mechanism"})


def whole(low: int, high: int, required: bool = True) -> Parameter:
    """Return the parameter for a whole number from ``low`` to ``high``."""
    return Parameter({"type": "integer", "minimum": low, "maximum": high}, required)


def exact_fields(fields: Mapping[str, Any], parameters: Mapping[str, Parameter]) -> None:
    """Raise ValueError unless ``fields`` holds ``name``, all ``parameters`` that are required, and nothing else."""
    given = set(fields) - {"name"}
    if not {name for name, parameter in parameters.items() if parameter.required} <= given <= set(parameters):
        if not parameters:
            raise ValueError("this mechanism has no parameters: write only its name")
        raise ValueError(
            Sentence("the parameters of this mechanism are: {parameters}", parameters=", ".join(sorted(parameters)))
        )


def fraction_field(
    fields: Mapping[str, Any], name: str, parse: Callable[[object], Fraction] = rational.parse_fraction
) -> Fraction:
    """Return the fraction in ``fields[name]``, written as ``parse`` reads it; a ``ValueError`` names the parameter."""
    try:
        return parse(fields[name])
    except ValueError as error:
        raise ValueError(Sentence("{parameter} {reason}", parameter=name, reason=error_message(error))) from None


def decimal_field(fields: Mapping[str, Any], name: str) -> Fraction:
    """Return the number in ``fields[name]``, written as a decimal; a ``ValueError`` names the parameter."""
    return fraction_field(fields, name, rational.parse_decimal)


def integer_field(fields: Mapping[str, Any], name: str, low: int, high: int) -> int:
    """Return the whole number in ``fields[name]``; a ``ValueError`` names the parameter and its range."""
    value = fields[name]
    if type(value) is not int or not low <= value <= high:
        whole_number = Sentence("must be a whole number from {low} to {high}", low=str(low), high=str(high))
        raise ValueError(Sentence("{parameter} {reason}", parameter=name, reason=whole_number))
    return value
