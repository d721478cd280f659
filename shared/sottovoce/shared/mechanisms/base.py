"""What a mechanism is: a finite channel with integer weights. It knows nothing of randomness or data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Self

from sottovoce.shared import rational


class Mechanism(ABC):
    """
    The agreed numbers of one question.

    Attributes:
        name: the mechanism's name in a survey file.
        question_types: the question types that it serves.
        inputs: number of true values, 0 .. inputs - 1.
        outputs: number of reported values, 0 .. outputs - 1.
    """

    name: ClassVar[str]
    question_types: ClassVar[frozenset[str]]

    inputs: int

    @property
    @abstractmethod
    def outputs(self) -> int:
        """Number of reported values."""

    @classmethod
    @abstractmethod
    def parse(cls, fields: Mapping[str, Any], inputs: int) -> Self:
        """
        The mechanism that a survey file names, for a question with ``inputs`` true values.

        Raises:
            ValueError: the parameters are missing, unknown or impossible; the message says which and repeats none.
        """

    @abstractmethod
    def dump(self) -> dict[str, Any]:
        """The canonical parameters, ``name`` included; ``parse`` reads them back."""

    @abstractmethod
    def weights(self, value: int) -> tuple[int, ...]:
        """Integer weights of the reported values when the true value is ``value``; every row has the same sum."""

    @property
    @abstractmethod
    def odds(self) -> Fraction:
        """The worst ratio P(y | x) / P(y | x') over all y, x, x', exactly."""

    @property
    def epsilon(self) -> float:
        """The privacy loss of one report: ln(odds)."""
        return rational.log(self.odds)


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
