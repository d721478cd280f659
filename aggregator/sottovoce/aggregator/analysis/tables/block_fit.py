"""Fit the likeliest shares of all answers of a block together, beside each question's alone, and test the fit.

Shares      The maximum likelihood table of all combinations, see ``ml_table``. Its margins use what the other answers
            tell, so they vary less than the shares of a question alone where answers are rare or go together.
Goodness    G = 2 sum n_y log(n_y / (n q_y)), q the fitted shares of the reported combinations: 0 where some population
            would report exactly so. Its distribution depends on how many combinations no person has, so p is the share
            of ``DRAWS`` samples from q (parametric bootstrap) whose own G is at least as large.
Source      Efron and Tibshirani 1993 (parametric bootstrap).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.selection import choose
from sottovoce.aggregator.analysis.tables.ml_table import ObservedReports, likeliest_table
from sottovoce.aggregator.estimators.blocks.joint_channel import blocks_of, check_identified, joint_likelihood
from sottovoce.aggregator.estimators.variable import Floats, Variable
from sottovoce.shared.errors import EstimateError

DRAWS = 199
MOST_COMBINATIONS = 256
_SETTLED = 1e-9


class FittedShare(NamedTuple):
    """A share of one category of a question of a block.

    ``alone`` is the unbiased share from the reports on this question, ``likeliest`` from those on the whole block;
    biased where few or no people have the category.
    """

    question: str
    category: str
    alone: float
    likeliest: float


@dataclass(frozen=True)
class BlockFit:
    """A fit of a block.

    Attributes:
        table: likeliest share of each combination, (k_1, .., k_d).
        distance: likelihood-ratio distance G of the reports to the nearest population.
        p: probability of so large a distance, if the reports come through this channel.
    """

    n: int
    table: Floats
    shares: tuple[FittedShare, ...]
    distance: float
    p: float


def fit_block(columns: Columns, names: Sequence[str], draws: int = DRAWS, seed: int = 0) -> BlockFit:
    """Fit the joint shares of questions of one block, at least two, from the reports of one revision.

    Args:
        draws: samples of the bootstrap; 0 for no test, p is 1 then.

    Raises:
        EstimateError: the questions are not of one block, their table is not identified or too large, or several
            revisions asked them.
    """
    chosen = [choose(columns, name) for name in names]
    variables = [each.newest for each in chosen]
    if len(names) < 2 or len(blocks_of(variables)) > 1 or variables[0].block is None:
        raise EstimateError("{variables} are not questions of one block", variables=tuple(names))
    check_identified(variables)
    sizes = [len(each.categories) for each in variables]
    if prod(sizes) > MOST_COMBINATIONS:
        raise EstimateError("the answers have more than {most} combinations", most=MOST_COMBINATIONS)
    if len(np.unique(columns.revision)) > 1:
        raise EstimateError("several revisions were answered: take the reports of one")
    # Of a block that asks some of its questions, a report need not have all of these.
    asked = np.logical_and.reduce([columns.asked(each.question.name) for each in chosen])
    reported = tuple(columns.values[each.question.name][asked].astype(np.intp) for each in chosen)
    counts = np.bincount(np.ravel_multi_index(reported, sizes), minlength=prod(sizes)).astype(float)
    return _fitted(variables, counts, draws, np.random.default_rng(seed))


def _fitted(variables: Sequence[Variable], counts: Floats, draws: int, generator: np.random.Generator) -> BlockFit:
    sizes, n = [len(each.categories) for each in variables], int(counts.sum())
    if not n:
        raise EstimateError("there are no reports yet")
    places = [each.ravel() for each in np.indices(sizes)]
    rows = joint_likelihood(variables, places).reshape(len(counts), -1)
    table, chances = _likeliest(rows, counts)
    distance = _distance(counts, chances)
    # Reports that fit exactly need no test.
    samples = generator.multinomial(n, chances, draws if distance > _SETTLED else 0).astype(float)
    others = [_distance(each, _likeliest(rows, each)[1]) for each in samples]
    p = (1 + sum(each >= distance for each in others)) / (1 + len(others)) if others else 1.0
    shares = tuple(_shares(variables, places, counts, table.reshape(sizes)))
    return BlockFit(n, table.reshape(sizes), shares, distance, p)


def _likeliest(rows: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return the likeliest shares of the true combinations, and the shares of reported ones that they make."""
    table = likeliest_table(ObservedReports(rows, counts), (rows.shape[1], 1), settled=_SETTLED).ravel()
    chances = rows @ table
    return table, chances / chances.sum()


def _distance(counts: Floats, chances: Floats) -> float:
    some = counts > 0
    return max(0.0, 2 * float(counts[some] @ np.log(counts[some] / (counts.sum() * chances[some]))))


def _shares(
    variables: Sequence[Variable], places: Sequence[Floats], counts: Floats, table: Floats
) -> list[FittedShare]:
    found = []
    for axis, variable in enumerate(variables):
        alone = counts @ variable.scores(places[axis].astype(np.intp)) / counts.sum()
        likeliest = table.sum(axis=tuple(other for other in range(table.ndim) if other != axis))
        for category, one, other in zip(variable.categories, alone.tolist(), likeliest.tolist(), strict=True):
            found.append(FittedShare(variable.full_name, category, one, other))
    return found
