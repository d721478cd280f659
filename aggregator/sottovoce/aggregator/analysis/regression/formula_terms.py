"""Terms of a model formula, and the arithmetic expressions within them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

FUNCTIONS = ("log", "sqrt", "exp", "scale")

Factors = tuple[str, ...]
"""Factors of a term in order of their first appearance in the formula; () is the constant."""


@dataclass(frozen=True)
class Calculation:
    """An arithmetic expression: a number, a name, or an operation on expressions.

    ``sign`` is "number", "name", a sign of + - * / ^, or one of ``FUNCTIONS``; "-" of one part changes the sign.
    """

    sign: str
    parts: tuple["Calculation", ...] = ()
    value: float = 0.0
    name: str = ""

    def __str__(self) -> str:
        """Return the expression as text without spaces."""
        if not self.parts:
            # 15 significant digits survive the way from decimal to double and back, so the text is as it was written.
            return self.name or f"{self.value:.15g}"
        if self.sign in FUNCTIONS:
            return f"{self.sign}({self.parts[0]})"
        left, right = ("", *map(_bracketed, self.parts))[-2:]
        return f"{left}{self.sign}{right}"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables, without repetition."""
        found = (name for part in self.parts for name in part.names)
        return tuple(dict.fromkeys((self.name,) if self.name else found))


def _bracketed(part: Calculation) -> str:
    return f"({part})" if part.parts and part.sign not in FUNCTIONS else str(part)


@dataclass(frozen=True)
class Formula:
    """A parsed formula.

    Attributes:
        outcome: name of the outcome; "" if the formula has none.
        terms: terms by number of factors, without the constant.
        factors: calculation of each factor, by its text; a variable by its own name.
        references: reference category of each variable that has a chosen one.
    """

    outcome: str
    terms: tuple[Factors, ...]
    intercept: bool
    factors: Mapping[str, Calculation]
    references: Mapping[str, str] = field(default_factory=dict)

    @property
    def predictors(self) -> tuple[str, ...]:
        """Names of the variables in the terms."""
        used = dict.fromkeys(factor for term in self.terms for factor in term)
        return tuple(dict.fromkeys(name for factor in used for name in self.factors[factor].names))


def variable(name: str) -> Calculation:
    """Return the expression that is a variable."""
    return Calculation("name", name=name)


def formula_of(names: tuple[str, ...]) -> Formula:
    """Return the formula of a model with these predictors and no interactions."""
    return Formula("", tuple((name,) for name in names), True, {name: variable(name) for name in names})
