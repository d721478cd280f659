"""Base class of mechanisms (finite channels with integer weights, without randomness and data) and their parameters in
a survey file: which there are, and how they are read and described.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from sottovoce.shared import rational
from sottovoce.shared.answers import Domain
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


class Mechanism(ABC):
    """The agreed numbers of a question.

    Attributes:
        name: the mechanism's name in a survey file.
        serves: the kind of true values that it takes, one of ``answers.TRUTHS``.
        report_kind: what its reports are, one of ``reports.REPORT_KINDS``.
        parameters: its parameters in a survey file, besides its name.
        presets: other names for authors, each a choice of parameters with parameters of its own.
        waves: in how many waves one draw that the device remembers is used; 1 if it remembers none.
    """

    name: ClassVar[str]
    serves: ClassVar[str]
    report_kind: ClassVar[str]
    parameters: ClassVar[Mapping[str, Parameter]]
    presets: ClassVar[Mapping[str, Mapping[str, Parameter]]] = {}
    waves: int = 1

    @classmethod
    @abstractmethod
    def parse(cls, fields: Mapping[str, Any], domain: Domain) -> Self:
        """Parse the mechanism that a survey file names, for a question with these true values.

        Raises ValueError if parameters are missing, unknown or impossible; the message says which and repeats none.
        """

    @classmethod
    @abstractmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> Self:
        """Choose the best parameters that cost at most ``epsilon``: what publishing writes for ``{epsilon: ...}``.

        Raises ValueError if there are none.
        """

    @abstractmethod
    def dump(self) -> dict[str, Any]:
        """Return the canonical parameters, ``name`` included; ``parse`` reads them back."""

    @property
    @abstractmethod
    def largest(self) -> int:
        """The largest value that a report may carry."""

    @property
    def masked(self) -> int:
        """The number of options of which a report is a bit mask; 0 if it is none."""
        return 0

    @property
    def drawn_from(self) -> int:
        """The number of options or coordinates of which a report carries one at random; 1 if it carries all."""
        return 1

    def admits(self, reported: int) -> bool:
        """Return True if the mechanism can report this value."""
        return 0 <= reported <= self.largest

    def reports(self, tally: Mapping[int, int]) -> int:
        """Return the number of reports in a tally; it holds them by reported value, unless said otherwise."""
        return sum(tally.values())

    @abstractmethod
    def probability(self, reported: int, value: Any) -> Fraction:  # noqa: ANN401 - an int, or a vector's tuple
        """Return P(report | truth), exactly, for a reported value that ``admits`` allows."""

    @property
    @abstractmethod
    def likelihood_ratio(self) -> Fraction:
        """The worst ratio P(y | x) / P(y | x') over all y, x, x', exactly; of all ``waves`` reports together."""

    @abstractmethod
    def explain(self) -> dict[str, int | Fraction]:
        """Return the numbers of its report kind's sentence: shares as Fractions, other whole numbers as int."""

    @property
    def known_as(self) -> str:
        """Textbook name of the mechanism with these parameters; "" if it has no other name."""
        return ""

    @cached_property
    def epsilon(self) -> float:
        """The privacy loss of one report: ln(likelihood_ratio)."""
        return rational.log(self.likelihood_ratio)


class Mask(Mechanism):
    """A mechanism whose report is a bit mask over ``options`` options.

    Its tally holds the number of reports that support each option, by the option's index, and under the index after
    the last one the number of all reports: there are far too many masks to count them one by one.
    """

    options: int

    @property
    def masked(self) -> int:
        """The number of options of the question."""
        return self.options

    def reports(self, tally: Mapping[int, int]) -> int:
        """Return the number of reports, which the tally of a mask holds under the key k."""
        return tally.get(self.options, 0)


def check_odds(odds: Fraction, total: int) -> None:
    """Refuse odds of 1 or less, and a row of weights with a sum that no device draws from."""
    if odds <= 1:
        raise ValueError("odds must be above 1")
    if total > rational.MAX_DENOMINATOR:
        raise ValueError("the odds make weights that sum to more than 2^32")


class OfOdds(Mechanism):
    """A mechanism of odds alone: ``keep``, of a report for its own true value against another one, above 1."""

    parameters: ClassVar[Mapping[str, Parameter]] = {"odds": FRACTION}

    keep: Fraction

    @classmethod
    def parse(cls, fields: Mapping[str, Any], domain: Domain) -> Self:
        """Parse ``{name: .., odds: "3"}``."""
        exact_fields(fields, cls.parameters)
        return cls(fraction_field(fields, "odds"), domain.size)  # type: ignore[call-arg]

    def dump(self) -> dict[str, Any]:
        """Return the odds; numbers of options, categories and steps are the question's."""
        return {"name": self.name, "odds": str(self.keep)}

    @property
    def likelihood_ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report: the odds themselves."""
        return self.keep


class Table(Mechanism):
    """A mechanism whose report is drawn by one ``pick`` from a row of weights."""

    @abstractmethod
    def weights(self, value: int) -> tuple[int, ...]:
        """Return integer weights of the reported values for this true value; every row has the same sum."""

    @cached_property
    def largest(self) -> int:
        """The largest value that a report may carry: the last of a row."""
        return len(self.weights(0)) - 1

    def probability(self, reported: int, value: int) -> Fraction:
        """Return the weight in its row as a share."""
        row = self.weights(value)
        return Fraction(row[reported], sum(row))
