"""
What a report says of one thing, in two forms from which every joint analysis is made.

Unit        Not the question: a yes/no, a choice and a rating are one categorical variable each, a select_multiple
            question is one yes/no variable an option, a number is one numeric variable and a vector one a coordinate.
Likelihood  Of a reported value y one row, L[y, x] = c P(y | x) over the true categories or levels x, with any c > 0.
            A true number between two levels is rounded to one of them at random, so its likelihood lies on the chord.
Scores      Of a reported value y numbers z(y) whose mean, given the truth, is the truth: E[z_j | x] = 1 if j is x, else
            0, and E[z | v] = v. Means of them are unbiased whatever the population, also weighted ones.
Marks       Where a report either supports a category or not, a = P(support | true), b = P(support | other):
            z = (support - b) / (a - b). With odds g = P(y | x) / P(y | x') of a report that supports x and not x', the
            likelihood row is g^support.
Not seen    What was not asked or not drawn has no score, and every truth is as likely: ``observed`` says which. Neither
            draw looks at the truth, so that leaving these reports out is unbiased.
Sources     Warner 1965 (scores of yes/no); van den Hout and van der Heijden 2002 (any channel's inverse); Louis 1982
            (likelihood of what is half seen).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Reported = NDArray[np.integer[Any]]
"""Reported values, shape (u,): mostly the different ones of a column, to be expanded by index."""
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

SAME_REPORT = "no report contains two options of this question, so they cannot be analysed together"
"""Why two variables of one question with ``drawn`` have no joint result."""


NO_YES = ("no", "yes")
"""The categories of one option of several: not chosen, chosen."""


def _everyone(reported: Reported) -> Truths:
    return np.ones(len(reported), dtype=bool)


@dataclass(frozen=True, kw_only=True)
class Variable(ABC):
    """
    One thing that reports speak of.

    Attributes:
        name: "" for the whole question; for a part of it the option's or the coordinate's name.
        question: the question's name; "" as long as nobody has said.
        categories: the true categories, in the order of a likelihood row; none for a number.
        levels: the true numbers of a likelihood row, ascending, in the number's own unit; none for categories.
        public: the truth itself is sent.
        drawn: each report tells of one part of the question only, so that no two of them are ever seen together.
        only_outcome: why this variable cannot explain another one nor be in a correlation, as the end of a sentence
            that begins with its name; "" if it can.
        observed: of reported values, whether they tell anything about this variable.
    """

    name: str = ""
    question: str = ""
    categories: tuple[str, ...] = ()
    levels: tuple[float, ...] = ()
    public: bool = False
    drawn: bool = False
    only_outcome: str = ""
    observed: Callable[[Reported], Truths] = field(default=_everyone, compare=False)

    @abstractmethod
    def likelihood(self, reported: Reported) -> Floats:
        """One row of L[y, x] for each reported value that is ``observed``, shape (u, k)."""

    @abstractmethod
    def scores(self, reported: Reported) -> Floats:
        """The scores of reported values that are ``observed``: (u, k) for categories, (u,) for a number."""

    @property
    def channels(self) -> tuple[tuple[float, float], ...]:
        """A and b of each category; none for a number."""
        return ()

    @property
    def full_name(self) -> str:
        """The question's name, and after a dot that of its part."""
        return ".".join(filter(None, (self.question, self.name)))


@dataclass(frozen=True, kw_only=True)
class YesNo(Variable):
    """
    Two categories, no and yes, of which a report supports one.

    Attributes:
        support: P(report yes | yes) and P(report yes | no), exactly.
        bit: of reported values, whether they say yes.
    """

    support: tuple[Fraction, Fraction]
    bit: Callable[[Reported], Truths] = field(compare=False)

    @cached_property
    def marks(self) -> tuple[Fraction, Fraction]:
        """The score of "yes" of a report of no, and of yes."""
        a, b = self.support
        return -b / (a - b), (1 - b) / (a - b)

    @property
    def channels(self) -> tuple[tuple[float, float], ...]:
        """Those of no and of yes."""
        a, b = self.support
        return (float(1 - b), float(1 - a)), (float(a), float(b))

    def supports(self, reported: Reported) -> Truths:
        """Of reported values, which of the two they support, (u, 2)."""
        said = self.bit(reported)
        return np.stack([~said, said], axis=1)

    def likelihood(self, reported: Reported) -> Floats:
        """(1 - b, 1 - a) of a report of no, (b, a) of yes."""
        a, b = map(float, self.support)
        rows: Floats = np.array([[1 - b, 1 - a], [b, a]])[self.bit(reported).astype(int)]
        return rows

    def scores(self, reported: Reported) -> Floats:
        """z_yes = (y - b) / (a - b), and z_no = 1 - z_yes."""
        table = np.array([[float(1 - mark), float(mark)] for mark in self.marks])
        scores: Floats = table[self.bit(reported).astype(int)]
        return scores


@dataclass(frozen=True, kw_only=True)
class ChoiceVariable(Variable):
    """
    Categories of which a report supports some, each in the same way.

    Attributes:
        support: P(support | true) and P(support | another), exactly, the same for every category.
        odds: how much likelier a report is under a truth that it supports than under one that it does not; None if it
            is impossible there.
        supports: of reported values, which categories they support, shape (u, k).
        balanced: add (1 - sum of the scores) / k to each, where they sum to 1 on average only: less variance, but
            margins that differ from the question's own shares.
    """

    support: tuple[Fraction, Fraction]
    odds: Fraction | None
    supports: Callable[[Reported], Truths] = field(compare=False)
    balanced: bool = False

    @cached_property
    def marks(self) -> tuple[Fraction, Fraction]:
        """The score of a category that a report does not support, and of one that it does."""
        a, b = self.support
        return -b / (a - b), (1 - b) / (a - b)

    @property
    def channels(self) -> tuple[tuple[float, float], ...]:
        """The same for every category."""
        a, b = map(float, self.support)
        return ((a, b),) * len(self.categories)

    def likelihood(self, reported: Reported) -> Floats:
        """g^support."""
        near, far = (1.0, 0.0) if self.odds is None else (float(self.odds), 1.0)
        return np.where(self.supports(reported), near, far)

    def scores(self, reported: Reported) -> Floats:
        """(support - b) / (a - b)."""
        without, with_ = map(float, self.marks)
        scores: Floats = np.where(self.supports(reported), with_, without)
        return scores + (1 - scores.sum(axis=1, keepdims=True)) / scores.shape[1] if self.balanced else scores


@dataclass(frozen=True, kw_only=True)
class NumberVariable(Variable):
    """
    A number.

    Attributes:
        marks: the score of each output, in the number's own unit.
        squares: of each output, a score of the number's square; None where the channel does not tell it.
        chances: of outputs, P(output | level) times any positive number, shape (u, levels).
        output: of reported values, which output they are; an index into ``marks``.
        coarse: "" if ``squares`` are exact; else why they are not, as the end of a sentence.
    """

    marks: tuple[Fraction, ...]
    squares: tuple[float, ...] | None = None
    chances: Callable[[Reported], Floats] = field(compare=False)
    output: Callable[[Reported], Reported] = field(default=lambda reported: reported, compare=False)
    coarse: str = ""

    def likelihood(self, reported: Reported) -> Floats:
        """The channel's columns."""
        return self.chances(self.output(reported))

    def scores(self, reported: Reported) -> Floats:
        """z(y)."""
        return self._scores[self.output(reported)]

    def square_scores(self, reported: Reported) -> Floats | None:
        """Scores of the number's square, (u,): E[z2 | v] = v^2; None where there are none."""
        return None if self.squares is None else np.asarray(self.squares)[self.output(reported)]

    @cached_property
    def _scores(self) -> Floats:
        return np.array([float(mark) for mark in self.marks])


def of_table(rows: Any) -> Callable[[Reported], Floats]:  # noqa: ANN401 - whatever numpy makes an array of
    """
    ``chances`` from a table of weights.

    Args:
        rows: weights of the outputs for each level, (levels, outputs).
    """
    columns = np.array(rows, dtype=float).T
    return lambda outputs: columns[outputs]


def bits(masks: Reported, options: int) -> Truths:
    """Which bits are set, (u, options)."""
    octets = np.ascontiguousarray(masks, dtype="<u8").view(np.uint8).reshape(-1, 8)
    return np.unpackbits(octets, axis=1, count=options, bitorder="little").view(np.bool_)
