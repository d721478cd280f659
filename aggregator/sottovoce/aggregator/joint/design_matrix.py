"""
From predictors to the columns of a regression.

A public answer becomes an indicator for each of its categories but the first that somebody has; a public number one
column. A randomized answer becomes the scores of its categories but the first, and a randomized number its score, each
with its own corner in the corrected equations.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.joint.answers import Answers
from sottovoce.aggregator.joint.corrected_equations import Corner
from sottovoce.aggregator.joint.likelihood_engine import Array
from sottovoce.shared.errors import EstimateError

CONSTANT = "(constant)"
SMALLEST_GROUP = 5

Row = NDArray[np.intp]


@dataclass(frozen=True)
class Term:
    """One column: what it is called, and the predictor that it belongs to; both the same for a number."""

    name: str
    predictor: str


@dataclass(frozen=True)
class Design:
    """
    The columns of a regression.

    Attributes:
        terms: what each column is, (p,).
        columns: (p, n), the constant first.
        corners: of the randomized predictors among them.
    """

    terms: tuple[Term, ...]
    columns: Array
    corners: tuple[Corner, ...] = ()


def make_design(predictors: Sequence[Answers], rows: Row, strata: NDArray[np.intp], names: Sequence[str]) -> Design:
    """
    The columns of some reports.

    Args:
        predictors: public or randomized.
        rows: (m,), the reports that take part, all of them observed by every predictor.
        strata: (m,), the stratum of each of these reports: its wave and revision.
        names: of the strata; those after the first that has reports are columns of their own.

    Raises:
        EstimateError: a group of a public predictor has fewer than ``SMALLEST_GROUP`` people.
    """
    terms, columns, corners = [Term(CONSTANT, CONSTANT)], [np.ones((1, len(rows)))], []
    for predictor in predictors:
        codes = predictor.codes[rows]
        made, block = _public(predictor, codes) if predictor.variable.public else _randomized(predictor, codes)
        if not predictor.variable.public:
            place = slice(len(terms), len(terms) + len(made))
            squares = block if predictor.squares is None else predictor.squares[codes][None]
            corners.append(Corner(place, squares))
        terms += made
        columns.append(block)
    made, block = _indicators("(stratum)", names, strata)
    return Design((*terms, *made), np.concatenate([*columns, block]), tuple(corners))


def _randomized(predictor: Answers, codes: Row) -> tuple[list[Term], Array]:
    if not predictor.variable.categories:
        return [Term(predictor.name, predictor.name)], predictor.scores[codes][None]
    terms = [Term(f"{predictor.name}={category}", predictor.name) for category in predictor.variable.categories[1:]]
    return terms, np.stack([score[codes] for score in predictor.scores.T[1:]])


def _public(predictor: Answers, codes: Row) -> tuple[list[Term], Array]:
    if not predictor.variable.categories:
        return [Term(predictor.name, predictor.name)], predictor.scores[codes][None]
    truth = predictor.scores.argmax(axis=1)[codes]
    people = np.bincount(truth, minlength=len(predictor.variable.categories))
    few = [
        category for category, n in zip(predictor.variable.categories, people, strict=True) if 0 < n < SMALLEST_GROUP
    ]
    if few:
        said = ", ".join(f"'{category}'" for category in few)
        raise EstimateError(
            f"'{predictor.name}': fewer than {SMALLEST_GROUP} people said {said}; leave this predictor out"
        )
    terms, block = _indicators(predictor.name, predictor.variable.categories, truth)
    if not terms:
        raise EstimateError(f"everybody has the same answer to '{predictor.name}', which can therefore explain nothing")
    return terms, block


def _indicators(name: str, categories: Sequence[str], truth: Row) -> tuple[list[Term], Array]:
    """A column for each category that somebody has, but the first of them."""
    there = np.flatnonzero(np.bincount(truth))
    block = (truth == there[1:, None]).astype(float)
    return [Term(f"{name}={categories[each]}", name) for each in there[1:]], block
