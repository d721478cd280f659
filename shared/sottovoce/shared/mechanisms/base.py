"""What a mechanism is: a finite channel with integer weights. It knows nothing of randomness or data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Self

from sottovoce.shared import rational
from sottovoce.shared.answers import Domain


class Mechanism(ABC):
    """
    The agreed numbers of one question.

    Attributes:
        name: the mechanism's name in a survey file.
        question_types: the question types that it serves.
        waves: in how many waves one draw that the device remembers is used; 1 if it remembers none.
    """

    name: ClassVar[str]
    question_types: ClassVar[frozenset[str]]
    waves: int = 1

    @classmethod
    @abstractmethod
    def parse(cls, fields: Mapping[str, Any], domain: Domain) -> Self:
        """
        The mechanism that a survey file names, for a question with these true values.

        Raises:
            ValueError: the parameters are missing, unknown or impossible; the message says which and repeats none.
        """

    @classmethod
    @abstractmethod
    def for_epsilon(cls, epsilon: Fraction, domain: Domain) -> Self:
        """
        The best parameters that cost at most ``epsilon``: what publishing writes for ``{epsilon: ...}``.

        Raises:
            ValueError: there are none.
        """

    @abstractmethod
    def dump(self) -> dict[str, Any]:
        """The canonical parameters, ``name`` included; ``parse`` reads them back."""

    @property
    @abstractmethod
    def largest(self) -> int:
        """The largest value that a report may carry."""

    def admits(self, reported: int) -> bool:
        """Whether the mechanism can report this value."""
        return 0 <= reported <= self.largest

    def reports(self, tally: Mapping[int, int]) -> int:
        """The number of reports in a tally; it holds them by reported value, unless said otherwise."""
        return sum(tally.values())

    @abstractmethod
    def probability(self, reported: int, value: Any) -> Fraction:  # noqa: ANN401 - an int, or a vector's tuple
        """P(report | truth), exactly, for a reported value that ``admits`` allows."""

    @property
    @abstractmethod
    def odds(self) -> Fraction:
        """The worst ratio P(y | x) / P(y | x') over all y, x, x', exactly; of all ``waves`` reports together."""

    @abstractmethod
    def explain(self) -> dict[str, int | Fraction]:
        """The numbers for the clients' sentence ``odds_<name>``: shares as Fractions, other whole numbers as int."""

    @property
    def epsilon(self) -> float:
        """The privacy loss of one report: ln(odds)."""
        return rational.log(self.odds)


class Mask(Mechanism):
    """
    A mechanism whose report is a bit mask over ``options`` options.

    Its tally holds the number of reports that support each option, by the option's index, and under the index after
    the last one the number of all reports: there are far too many masks to count them one by one.
    """

    options: int

    def reports(self, tally: Mapping[int, int]) -> int:
        """The count under k."""
        return tally.get(self.options, 0)


class Table(Mechanism):
    """A mechanism whose report is drawn by one ``pick`` from a row of weights."""

    @abstractmethod
    def weights(self, value: int) -> tuple[int, ...]:
        """Integer weights of the reported values when the true value is ``value``; every row has the same sum."""

    def probability(self, reported: int, value: int) -> Fraction:
        """The weight in its row."""
        row = self.weights(value)
        return Fraction(row[reported], sum(row))


def exact_fields(fields: Mapping[str, Any], names: set[str]) -> None:
    """
    Check that ``fields`` holds ``name`` and exactly ``names``.

    Raises:
        ValueError: a parameter is missing, or one is unknown.
    """
    wanted = ", ".join(sorted(names)) or "none but its name"
    if set(fields) - {"name"} != names:
        raise ValueError(f"the parameters of this mechanism are: {wanted}")


def fraction_field(fields: Mapping[str, Any], name: str) -> Fraction:
    """The fraction in ``fields[name]``; a ``ValueError`` names the parameter."""
    try:
        return rational.parse_fraction(fields[name])
    except ValueError as error:
        raise ValueError(f"{name} {error}") from None


def integer_field(fields: Mapping[str, Any], name: str, low: int, high: int) -> int:
    """The whole number in ``fields[name]``; a ``ValueError`` names the parameter and its range."""
    value = fields[name]
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{name} must be a whole number from {low} to {high}")
    return value
