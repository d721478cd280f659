"""Select the reports of a subset of people by a condition on public questions, such as ``year = first and age >= 18``.

Grammar     Comparisons with = != < <= > >= of a question and a category or number, and ``question in (a, b)``, joined
            with ``and``, ``or`` and brackets; ``and`` binds more closely. Names and categories may be in quotes.
Missing     A report without a value for a question fulfils no comparison of it.
Protection  A subset has at least five people, and so has the rest, unless it is empty: two results that differ by a
            handful of people would describe them. A reader's own file has no such limit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.token_reader import TokenReader
from sottovoce.aggregator.analysis.variable_columns import Answers, answers_of
from sottovoce.shared.errors import EstimateError

SMALLEST_SUBSET = 5

_ABOUT = "subset, column {place}: {reason}"
_UNEXPECTED = (
    "this cannot be here; a condition is question = category, with = != < <= > >= or in (...), and, or, brackets"
)
_ORDERS: Mapping[str, Callable[..., NDArray[np.bool_]]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}

RowMask = NDArray[np.bool_]


@dataclass(frozen=True)
class SubsetCondition:
    """A condition on the answers of a person.

    Attributes:
        sign: "and" or "or" of the parts; "in" or "!=" of the values, or an order sign before one number.
        parts: conditions that are joined.
        name: name of the variable that is compared.
        values: categories or numbers as they are written.
    """

    sign: str
    parts: tuple["SubsetCondition", ...] = ()
    name: str = ""
    values: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all variables, without repetition."""
        inner = (name for part in self.parts for name in part.names)
        return tuple(dict.fromkeys((self.name,) if self.name else inner))

    def mask(self, columns: Columns) -> RowMask:
        """Return which reports fulfil the condition, (n,).

        Raises EstimateError if a variable is unknown or randomized, a category unknown, or a number missing.
        """
        if self.parts:
            join = np.logical_and if self.sign == "and" else np.logical_or
            return np.asarray(join.reduce([part.mask(columns) for part in self.parts]))
        answers = answers_of(columns, self.name)
        if not answers.variable.public:
            raise EstimateError(
                "'{variable}' is randomized, so a subset by its answers is not known; choose a public question",
                variable=self.name,
            )
        fulfilled = self._of_category(answers) if answers.variable.categories else self._of_number(answers)
        # A report without a value has code 0, so the first value's result must not count for it.
        return answers.observed & fulfilled[answers.codes]

    def _of_category(self, answers: Answers) -> RowMask:
        """Return which of the different reports fulfil a comparison with categories, (u,)."""
        categories = answers.variable.categories
        if self.sign in _ORDERS or not {*self.values} <= {*categories}:
            raise EstimateError("'{variable}' is one of: {categories}", variable=self.name, categories=categories)
        named = [categories.index(value) for value in self.values]
        return np.isin(answers.scores.argmax(axis=1), named, invert=self.sign == "!=")

    def _of_number(self, answers: Answers) -> RowMask:
        """Return which of the different reports fulfil a comparison with numbers, (u,)."""
        try:
            values = [float(value) for value in self.values]
        except ValueError:
            raise EstimateError("'{variable}' has no categories; give it a number", variable=self.name) from None
        if self.sign in _ORDERS:
            return _ORDERS[self.sign](answers.scores, values[0])
        # With a tolerance, because grid values are computed: .1 + .2 is not .3 in floating point.
        equal = np.isclose(answers.scores[:, None], values, rtol=1e-12, atol=1e-12).any(axis=1)
        return np.logical_xor(equal, self.sign == "!=")


def parse_condition(text: str) -> SubsetCondition:
    """Parse a condition; raise EstimateError, which names the column, if it is not in the grammar."""
    reader = TokenReader(text, _ABOUT, _UNEXPECTED)
    found = _any(reader)
    reader.end()
    return found


def subset(columns: Columns, condition: SubsetCondition) -> RowMask:
    """Return which reports are in the subset, (n,).

    Raises EstimateError if the subset is empty, or fewer than five people are in it or outside it.
    """
    mask = condition.mask(columns)
    people = int(mask.sum())
    if not people:
        raise EstimateError("this subset is empty: no report fulfils its condition")
    # An empty rest is fine: the result then describes all people.
    if people < columns.least or 0 < len(mask) - people < columns.least:
        raise EstimateError("fewer than {least} people are in this subset, or outside it", least=columns.least)
    return mask


def _any(reader: TokenReader) -> SubsetCondition:
    return _joined(reader, "or", lambda: _joined(reader, "and", lambda: _one(reader)))


def _joined(reader: TokenReader, sign: str, read: Callable[[], SubsetCondition]) -> SubsetCondition:
    parts = [read()]
    while reader.take(sign, kind="name"):
        parts.append(read())
    return parts[0] if len(parts) == 1 else SubsetCondition(sign, tuple(parts))


def _one(reader: TokenReader) -> SubsetCondition:
    if reader.take("("):
        return reader.inside(lambda: _any(reader))
    name = reader.name()
    if reader.take("in", kind="name"):
        reader.need("(")
        return SubsetCondition("in", name=name, values=reader.inside(lambda: _values(reader)))
    sign = reader.take("=", "!=", *_ORDERS)
    if not sign:
        reader.refuse(reader.unexpected)
    return SubsetCondition("in" if sign == "=" else sign, name=name, values=(_value(reader),))


def _values(reader: TokenReader) -> tuple[str, ...]:
    found = [_value(reader)]
    while reader.take(","):
        found.append(_value(reader))
    return tuple(found)


def _value(reader: TokenReader) -> str:
    sign = reader.take("-")
    if reader.token.kind not in ({"number"} if sign else {"number", "name", "text"}):
        reader.refuse(reader.unexpected)
    return sign + reader.next().text
