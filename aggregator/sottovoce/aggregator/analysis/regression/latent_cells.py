"""Build the likelihood of a logit with randomized predictors: their joint cells, and the model of these cells."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
from sottovoce.aggregator.analysis.regression.design_matrix import CONSTANT, Design, Term
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.regression.randomized_predictor import RandomizedPredictor
from sottovoce.aggregator.analysis.report_columns import Answers, joint_answers
from sottovoce.aggregator.estimators.blocks.joint_channel import blocks_of

Cells = tuple[tuple[int, ...], ...]
"""Category of each predictor in each cell; in the first cell all have their first."""


def likelihood_with_cells(
    outcome: Multinomial, design: Design, reports: Answers, mixed: Array
) -> tuple[RandomizedPredictor, list[tuple[str, Term]]]:
    """Return the joint likelihood, and category and term of each parameter of the predictors' own model.

    Args:
        outcome: model of the outcome on the public factors of the design's columns.
        design: the design, with at least one randomized predictor, all of them categorical.
        mixed: (categories, categories of the model), that makes the model's likelihood of the outcome's.
    """
    cells, factors = design.cells()
    columns, terms, ones = with_constant(design.known)
    linked = None
    together = (reports, *design.latent)
    if len(blocks_of([each.variable for each in together])) == len(together):
        joint = joint_answers(design.latent, design.rows)
        likelihood = joint.likelihood.reshape(-1, len(cells))
    else:
        # Reports of one block depend on each other given the truth, so both models share one likelihood.
        joint = joint_answers(together, design.rows)
        whole = np.moveaxis(joint.likelihood.reshape(-1, len(reports.variable.categories), len(cells)), 2, 0)
        linked, likelihood = whole @ mixed, np.ones((whole.shape[1], len(cells)))
        outcome = replace(outcome, codes=joint.codes)
    codes = joint.codes
    restriction = np.stack(list(_directions(design, cells, columns, ones)), axis=1)
    predictor = Multinomial(columns, codes, likelihood)
    return RandomizedPredictor(outcome, predictor, factors, restriction, linked), list(_names(design, terms))


def with_constant(known: Design) -> tuple[Array, tuple[Term, ...], Array]:
    """Return columns that span the constant, their terms, and the coefficients that make 1 of them."""
    ones = np.ones((1, len(known.rows)))
    # Full coding spans the constant without a column of ones; one more would make the columns collinear.
    weights = np.linalg.lstsq(known.columns.T, ones[0])[0] if known.terms else np.zeros(0)
    if known.terms and np.abs(weights @ known.columns - 1).max() < 1e-9:
        return known.columns, known.terms, weights
    columns = np.concatenate([ones, known.columns])
    return columns, (Term(CONSTANT, CONSTANT), *known.terms), np.eye(len(columns))[0]


def _directions(design: Design, cells: Cells, columns: Array, ones: Array) -> Iterator[Array]:
    """Yield the coefficients of all cells but the first that one parameter changes, (parameters of the cells,)."""
    sizes = [len(each.variable.categories) for each in design.latent]
    later, unit = np.array(cells[1:]), np.eye(len(columns))
    for place, size in enumerate(sizes):
        for category in range(1, size):
            for row in unit:
                yield np.outer(later[:, place] == category, row).ravel()
    # Predictors depend on each other by one log odds ratio per pair of categories, alike for all public answers.
    for one, other in combinations(range(len(sizes)), 2):
        for first in range(1, sizes[one]):
            for second in range(1, sizes[other]):
                yield np.outer((later[:, one] == first) & (later[:, other] == second), ones).ravel()


def _names(design: Design, terms: tuple[Term, ...]) -> Iterator[tuple[str, Term]]:
    """Yield category and term of each parameter, in the order of ``_directions``."""
    several = len(design.latent) > 1
    for each in design.latent:
        for category in each.variable.categories[1:]:
            yield from ((f"{each.name}={category}" if several else category, term) for term in terms)
    for one, other in combinations(design.latent, 2):
        for first in one.variable.categories[1:]:
            for second in other.variable.categories[1:]:
                yield f"{one.name}={first}", Term(f"{other.name}={second}", other.name)
