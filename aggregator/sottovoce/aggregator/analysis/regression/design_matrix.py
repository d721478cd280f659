"""
Build the design matrix of a regression from its predictors.

A public answer becomes an indicator for each category that occurs, except the first; a public number becomes one
column. A randomized answer becomes the scores of its categories except the first, and a randomized number its score.
Each randomized predictor has its own diagonal block in the corrected equations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.regression.corrected_least_squares import Corner
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.variable_columns import Answers
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence

CONSTANT = "(constant)"
STRATUM = "(stratum)"
SMALLEST_GROUP = 5

Row = NDArray[np.intp]


@dataclass(frozen=True)
class Term:
    """Name of one column, and of the predictor it belongs to; the two are equal for a number."""

    name: str
    predictor: str


@dataclass(frozen=True)
class Design:
    """
    Design matrix of a regression.

    Attributes:
        terms: one for each column, (p,).
        columns: (p, n), the constant first.
        groups: categories of each categorical predictor, the reference category first.
        corners: diagonal blocks of the randomized predictors among the columns.
    """

    terms: tuple[Term, ...]
    columns: Array
    groups: Mapping[str, tuple[str, ...]]
    corners: tuple[Corner, ...] = ()


@dataclass(frozen=True)
class _Block:
    """Columns of one predictor, (p, n): categories (none for a number), and scores of squares if it is randomized."""

    predictor: str
    groups: tuple[str, ...]
    columns: Array
    squares: Array | None = None

    @property
    def terms(self) -> list[Term]:
        """Term of each column, as ``predictor=category``."""
        if not self.groups:
            return [Term(self.predictor, self.predictor)]
        return [Term(f"{self.predictor}={group}", self.predictor) for group in self.groups[1:]]


def make_design(
    predictors: Sequence[Answers], rows: Row, strata: NDArray[np.intp], names: Sequence[str], smallest: int
) -> Design:
    """
    Build the design matrix for a subset of the reports.

    Args:
        predictors: public or randomized variables.
        rows: (m,), indices of the reports used; every predictor is observed in all of them.
        strata: (m,), the stratum (wave and revision) of each of these reports.
        names: names of the strata; each stratum with reports, except the first, gets an indicator column.
        smallest: smallest allowed group of a public predictor.

    Raises:
        EstimateError: a group is smaller, or a predictor does not vary or has no scores of squares.
    """
    blocks = [
        _public(each, rows, smallest) if each.variable.public else _randomized(each, each.codes[rows])
        for each in predictors
    ]
    blocks.append(_indicators(STRATUM, names, strata))
    terms, corners = [Term(CONSTANT, CONSTANT)], []
    for block in blocks:
        if block.squares is not None:
            corners.append(Corner(slice(len(terms), len(terms) + len(block.columns)), block.squares))
        terms += block.terms
    columns = np.concatenate([np.ones((1, len(rows))), *(block.columns for block in blocks)])
    groups = {block.predictor: block.groups for block in blocks if block.groups}
    return Design(tuple(terms), columns, groups, tuple(corners))


def _randomized(predictor: Answers, codes: Row) -> _Block:
    if predictor.variable.categories:
        # The first category is the reference, else the columns would add up to the constant.
        scores = np.stack([score[codes] for score in predictor.scores.T[1:]])
        return _Block(predictor.name, predictor.variable.categories, scores, scores)
    if predictor.squares is None:
        raise EstimateError(
            Sentence(
                "'{variable}': its reports do not show how much it varies, so it cannot be a predictor",
                variable=predictor.name,
            )
        )
    return _Block(predictor.name, (), predictor.scores[codes][None], predictor.squares[codes][None])


def _public(predictor: Answers, rows: Row, smallest: int) -> _Block:
    if not predictor.variable.categories:
        return _Block(predictor.name, (), predictor.scores[predictor.codes[rows]][None])
    truth = known_categories(predictor, rows)
    people = np.bincount(truth, minlength=len(predictor.variable.categories)).tolist()
    named = zip(predictor.variable.categories, people, strict=True)
    # A coefficient of a tiny public group would describe its few members, whose answers have no noise.
    few = [category for category, n in named if 0 < n < smallest]
    if few:
        raise EstimateError(
            Sentence(
                "'{variable}': fewer than {least} people said {categories}; leave this predictor out",
                variable=predictor.name,
                least=smallest,
                categories=tuple(few),
            )
        )
    block = _indicators(predictor.name, predictor.variable.categories, truth)
    # A constant column is collinear with the intercept.
    if len(block.groups) < 2:
        raise EstimateError(
            Sentence(
                "everybody has the same answer to '{variable}', so it cannot be a predictor",
                variable=predictor.name,
            )
        )
    return block


def known_categories(answers: Answers, rows: Row) -> Row:
    """Return the category index of each of these reports on a public question, (m,)."""
    truth: Row = answers.scores.argmax(axis=1)[answers.codes[rows]]
    return truth


def refuse_small_cells(outcome: Answers, predictors: Sequence[Answers], rows: Row, smallest: int) -> None:
    """
    Refuse a regression of one public answer on another if a nonempty cell of their table is too small.

    No noise protects public answers, so such a regression would describe identifiable people.

    Args:
        outcome: the outcome.
        predictors: the predictors.
        rows: (m,), indices of the reports used.
        smallest: smallest allowed nonempty cell of two public answers.

    Raises:
        EstimateError: a cell is smaller.
    """
    public = [each for each in (outcome, *predictors) if each.variable.public and each.variable.categories]
    for other in public[1:] if public[:1] == [outcome] else []:
        cells = known_categories(outcome, rows) * len(other.variable.categories) + known_categories(other, rows)
        people = np.bincount(cells)
        if np.any((people > 0) & (people < smallest)):
            raise EstimateError(
                Sentence(
                    "fewer than {least} people gave some two answers to '{variable}' and '{other}', which are both "
                    "public; leave this predictor out",
                    least=smallest,
                    variable=outcome.name,
                    other=other.name,
                )
            )


def _indicators(name: str, categories: Sequence[str], truth: Row) -> _Block:
    """Return an indicator column for each category that occurs, except the first."""
    # Categories without reports would give columns of zeros and a singular matrix.
    there = np.flatnonzero(np.bincount(truth))
    return _Block(name, tuple(categories[each] for each in there.tolist()), (truth == there[1:, None]).astype(float))
