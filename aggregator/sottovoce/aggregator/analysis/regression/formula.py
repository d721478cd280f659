"""Parse a model formula, as R users write it, into terms, and compute its arithmetic. It is never evaluated as code.

Grammar     outcome ~ sum. A sum adds terms with +, takes them away with -, and ends the constant with 0 or -1.
            a:b is an interaction, a*b is a + b + a:b, (a + b)^2 all interactions of at most two; powers are 1 to 3.
            I(...) holds arithmetic of numbers with + - * / ^ (also **); log, sqrt, exp and scale hold the same.
            C(name, ref="category") chooses the reference category; num(name) takes an ordered scale as a number, also
            within arithmetic. Names may be in backquotes.
Limits      At most 1,000 characters, 200 terms and 20 nested brackets; each product is counted before it is expanded.
Refused     Everything else: attributes, indexing, other calls, other strings. Each error names the column.
Values      Arithmetic is computed from numbers, one for each report or one alone.
Source      Wilkinson and Rogers 1973; R's formula help page.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import comb

import numpy as np
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.token_reader import TokenReader
from sottovoce.aggregator.estimators.question_variables import num
from sottovoce.shared.errors import Sentence

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


Scales = Mapping[Calculation, tuple[float, float]]
"""Mean and standard deviation of the argument of each ``scale``."""

_OPERATIONS: Mapping[str, Callable[..., Array]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
    "log": np.log,
    "sqrt": np.sqrt,
    "exp": np.exp,
}


def evaluate(calculation: Calculation, numbers: Mapping[str, Array], scales: Scales) -> Array:
    """Return the value of an expression for each report, from values (n,) by name; not finite where it has none."""
    if calculation.name:
        return numbers[calculation.name]
    if not calculation.parts:
        return np.array(calculation.value)
    parts = [evaluate(part, numbers, scales) for part in calculation.parts]
    # The design refuses values that are not finite with a clear message, where numpy would only warn.
    with np.errstate(all="ignore"):
        if calculation.sign == "scale":
            mean, deviation = scales[calculation]
            return np.asarray((parts[0] - mean) / deviation)
        changes_sign = calculation.sign == "-" and len(parts) == 1
        return np.asarray(-parts[0] if changes_sign else _OPERATIONS[calculation.sign](*parts))


def scales_of(calculation: Calculation, numbers: Mapping[str, Array]) -> Scales:
    """Return the constants of each ``scale`` in an expression, inner ones first, from values (n,) of the reports."""
    found: dict[Calculation, tuple[float, float]] = {}
    for part in calculation.parts:
        found |= scales_of(part, numbers)
    if calculation.sign == "scale":
        values = evaluate(calculation.parts[0], numbers, found)
        # The sample standard deviation, as in R's scale().
        found[calculation] = float(np.mean(values)), float(np.std(values, ddof=1)) if values.size > 1 else 0.0
    return found


NUM = "num"
MOST_TERMS = 200
LARGEST_POWER = 3

_ABOUT = "formula, column {place}: {reason}"
_UNEXPECTED = (
    "this cannot be here; a formula has names, numbers, + - : * ( ) ^, I(), log(), sqrt(), exp(), scale(), num() and "
    "C()"
)

Terms = dict[Factors, None]
"""Set of terms that keeps their order."""


def parse_formula(text: str) -> Formula:
    """Parse a formula such as ``cheated ~ year * sex + age + I(age^2)``.

    Raises EstimateError, which names the column, if it is too long, has too many terms, or is not in the grammar.
    """
    return _FormulaParser(text).formula()


class _FormulaParser:
    def __init__(self, text: str) -> None:
        self._read = TokenReader(text, _ABOUT, _UNEXPECTED)
        self._factors: dict[str, Calculation] = {}
        self._references: dict[str, str] = {}

    def formula(self) -> Formula:
        outcome = ""
        if any(token.text == "~" for token in self._read.tokens):
            outcome = self._read.name()
            self._read.need("~")
        terms = self._sum()
        self._read.end()
        # Margins come first, as in R: the coding of a term depends on the terms before it.
        ordered = tuple(sorted((term for term in terms if term), key=len))
        used = {factor for term in ordered for factor in term}
        factors = {factor: made for factor, made in self._factors.items() if factor in used}
        references = {name: category for name, category in self._references.items() if name in used}
        return Formula(outcome, ordered, () in terms, factors, references)

    def _sum(self) -> Terms:
        terms: Terms = {} if self._read.nested else {(): None}
        sign = self._read.take("+", "-") or "+"
        while sign:
            constant = "" if self._read.nested else self._read.take("0", "1", kind="number")
            found: Terms = {(): None} if constant else self._product()
            # 0 takes the constant away: + 0 is - 1, and - 0 is + 1.
            adds = (sign == "+") == (constant != "0")
            terms = {**terms, **found} if adds else {term: None for term in terms if term not in found}
            self._bound(len(terms) - 1)
            sign = self._read.take("+", "-")
        return terms

    def _product(self) -> Terms:
        left = self._interaction()
        while self._read.take("*"):
            right = self._interaction()
            self._bound(len(left) + len(right) + len(left) * len(right))
            left = {**left, **right, **self._crossed(left, right)}
        return left

    def _interaction(self) -> Terms:
        left = self._power()
        while self._read.take(":"):
            right = self._power()
            self._bound(len(left) * len(right))
            left = self._crossed(left, right)
        return left

    def _power(self) -> Terms:
        base = terms = self._atom()
        if not self._read.take("^", "**"):
            return base
        power = self._read.take(*map(str, range(1, LARGEST_POWER + 1)), kind="number")
        if not power:
            self._read.refuse(Sentence("a power of terms is 1 to {most}", most=LARGEST_POWER))
        self._bound(sum(comb(len(base), size) for size in range(1, int(power) + 1)))
        for _ in range(int(power) - 1):
            terms = {**terms, **self._crossed(terms, base)}
        return terms

    def _crossed(self, left: Terms, right: Terms) -> Terms:
        order = {factor: place for place, factor in enumerate(self._factors)}
        return {tuple(sorted({*one, *other}, key=order.__getitem__)): None for one in left for other in right}

    def _atom(self) -> Terms:
        if self._read.take("("):
            return self._read.inside(self._sum)
        if self._read.token.kind != "name":
            self._read.refuse(self._read.unexpected)
        token = self._read.next()
        return self._call(token.text, token.column) if self._read.take("(") else self._factor(variable(token.text))

    def _call(self, function: str, column: int) -> Terms:
        if function == "C":
            return self._read.inside(self._reference)
        if function == NUM:
            return self._factor(self._scale())
        self._check_function(function, column, "I", "C", NUM, *FUNCTIONS)
        found = self._read.inside(self._calculation)
        return self._factor(found, f"I({found})") if function == "I" else self._factor(Calculation(function, (found,)))

    def _check_function(self, function: str, column: int, *known: str) -> None:
        if function not in known:
            self._read.refuse(Sentence("there is no such function; there are: {known}", known=", ".join(known)), column)

    def _scale(self) -> Calculation:
        name = self._read.name()
        self._read.need(")")
        return variable(num(name))

    def _reference(self) -> Terms:
        name = self._read.name()
        if self._read.take(","):
            if not (self._read.take("ref", kind="name") and self._read.take("=") and self._read.token.kind == "text"):
                self._read.refuse(Sentence('a reference category is written as C(name, ref="category")'))
            category = self._read.next().text
            if self._references.setdefault(name, category) != category:
                self._read.refuse(Sentence("'{variable}' has two reference categories", variable=name))
        return self._factor(variable(name))

    def _factor(self, calculation: Calculation, text: str = "") -> Terms:
        factor = text or str(calculation)
        self._factors.setdefault(factor, calculation)
        return {(factor,): None}

    def _calculation(self) -> Calculation:
        left = self._multiple()
        while sign := self._read.take("+", "-"):
            left = Calculation(sign, (left, self._multiple()))
        return left

    def _multiple(self) -> Calculation:
        left = self._signed()
        while sign := self._read.take("*", "/"):
            left = Calculation(sign, (left, self._signed()))
        return left

    def _signed(self) -> Calculation:
        sign = self._read.take("+", "-")
        if not sign:
            base = self._quantity()
            # Powers associate to the right, as in R.
            return Calculation("^", (base, self._read.deeper(self._signed))) if self._read.take("^", "**") else base
        inner = self._read.deeper(self._signed)
        return Calculation("-", (inner,)) if sign == "-" else inner

    def _quantity(self) -> Calculation:
        if self._read.take("("):
            return self._read.inside(self._calculation)
        if self._read.token.kind not in {"number", "name"}:
            self._read.refuse(self._read.unexpected)
        kind, text, column = self._read.next()
        if kind == "number":
            return Calculation("number", value=float(text))
        if not self._read.take("("):
            return variable(text)
        if text == NUM:
            return self._scale()
        self._check_function(text, column, NUM, *FUNCTIONS)
        return Calculation(text, (self._read.inside(self._calculation),))

    def _bound(self, terms: int) -> None:
        if terms > MOST_TERMS:
            self._read.refuse(Sentence("there are more than {most} terms", most=MOST_TERMS))
