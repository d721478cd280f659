"""Estimate the table of two variables by maximum likelihood, optionally with impossible cells (structural zeros).

Maths       EM algorithm: p <- p sum_y (n_y / n) L_y / (L_y p), L_y the likelihood row of report y over the cells. An
            impossible cell starts at 0 and stays there; all others start equal. After every two steps the path is
            extrapolated (SQUAREM), and the result is used if its likelihood is higher.
            Shares stay within the simplex, so none is negative; estimates near 0 are biased, and have no limits.
Source      Dempster, Laird and Rubin 1977; van den Hout and van der Heijden 2002; Varadhan and Roland 2008.

Of a block, the likeliest shares of all answers together are fitted, and the fit is tested:

Shares      The maximum likelihood table of all combinations. Its margins use what the other answers
            tell, so they vary less than the shares of a question alone where answers are rare or go together.
Goodness    G = 2 sum n_y log(n_y / (n q_y)), q the fitted shares of the reported combinations: 0 where some population
            would report exactly so. Its distribution depends on how many combinations no person has, so p is the share
            of ``DRAWS`` samples from q (parametric bootstrap) whose own G is at least as large.
Source      Efron and Tibshirani 1993 (parametric bootstrap).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.selection import choose
from sottovoce.aggregator.analysis.tables.pair_moments import Joint
from sottovoce.aggregator.estimators.blocks.joint_channel import blocks_of, check_identified, joint_likelihood
from sottovoce.aggregator.estimators.variable import Floats, Variable
from sottovoce.shared.errors import EstimateError

ROUNDS = 20_000
SETTLED = 1e-12
FLOOR = 1e-300


class ObservedReports(NamedTuple):
    """Distinct reports: likelihoods over the cells of the table, (m, cells), and total weights of the reports, (m,)."""

    rows: Floats
    weights: Floats

    def log_likelihood(self, table: Floats) -> float:
        """Return the log likelihood of a table, up to a constant."""
        return float(self.weights @ np.log(np.maximum(self.rows @ table.ravel(), FLOOR)))

    def expected(self, table: Floats) -> Floats:
        """Return the expected weights of true cells, given the reports, if ``table`` is the truth (the E step)."""
        cells = table.ravel()
        found: Floats = cells * ((self.weights / np.maximum(self.rows @ cells, FLOOR)) @ self.rows)
        return found.reshape(table.shape)

    def shares(self, table: Floats) -> Floats:
        """Return the expected shares of true cells likewise."""
        found: Floats = self.expected(table) / self.weights.sum()
        return found


def seen_together(joint: Joint) -> ObservedReports:
    """Return the reports that carry both variables, with the cells in row-major order."""
    rows = [
        joint_likelihood((pairs.first, pairs.second), pairs.reported).reshape(len(pairs.weights), -1)
        for pairs in joint.strata
    ]
    return ObservedReports(np.concatenate(rows), np.concatenate([pairs.weights for pairs in joint.strata]))


def seen_reports(joint: Joint) -> ObservedReports:
    """Return the reports that carry one variable or both, as far as they were counted, by cell in row-major order."""
    together = seen_together(joint)
    rows, weights = [together.rows], [together.weights]
    for pairs in joint.strata:
        for half in pairs.halves:
            known = (pairs.first if half.first else pairs.second).likelihood(half.reported)
            # A variable that a report does not carry is as likely in each category.
            ones = np.ones((len(known), len((pairs.second if half.first else pairs.first).categories)))
            rows.append(_cells(known, ones) if half.first else _cells(ones, known))
            weights.append(half.numbers)
    return ObservedReports(np.concatenate(rows), np.concatenate(weights))


def likeliest_table(
    seen: ObservedReports, shape: tuple[int, int], impossible: Iterable[tuple[int, int]] = (), settled: float = SETTLED
) -> Floats:
    """Return the maximum likelihood shares of all cells.

    Args:
        impossible: (row, column) of each structural zero.
        settled: the search ends when a step changes no share by more.

    Raises:
        EstimateError: there is no report, every cell is impossible, or a report has likelihood 0 in all other cells.
    """
    # Equal start: EM keeps a zero at zero, so no other cell may begin there.
    start = np.ones(shape)
    for cell in impossible:
        start[cell] = 0.0
    if not seen.weights.sum() or not start.sum():
        raise EstimateError("there is no report, or no possible cell")
    start /= start.sum()
    # A report with likelihood 0 would divide by 0 in the first step, and shows a wrong structural zero.
    if not (seen.rows @ start.ravel() > 0).all():
        raise EstimateError("some reports cannot have come from any cell that is left; is a cell possible after all?")
    seen = seen._replace(weights=seen.weights / seen.weights.sum())
    return climb(seen.log_likelihood, seen.expected, start, settled)


def climb(
    likelihood: Callable[[Floats], float], step: Callable[[Floats], Floats], shares: Floats, settled: float,
    enough: float = math.inf,
) -> Floats:  # fmt: skip
    """Return the shares that EM converges to, extrapolating after every two steps.

    Args:
        likelihood: log likelihood of the reports.
        step: of EM, which climbs it.
        shares: start; no step leaves a zero.
        settled: the search ends when a step changes no share by more.
        enough: log likelihood that ends the search.
    """
    for _ in range(ROUNDS):
        once = step(shares)
        twice = step(once)
        # Two plain steps are compared: after an extrapolation, a small change need not mean convergence.
        if np.abs(twice - once).max() < settled:
            return twice
        shares, reached = _extrapolated(likelihood, step, (shares, once, twice))
        if reached >= enough:
            break
    return shares


def _extrapolated(
    likelihood: Callable[[Floats], float], step: Callable[[Floats], Floats], path: tuple[Floats, Floats, Floats]
) -> tuple[Floats, float]:
    """Return the SQUAREM extrapolation of three points if its likelihood is higher, else the last; with likelihood."""
    twice = path[-1]
    far, reached = beyond(path), likelihood(twice)
    if far is None:
        return twice, reached
    # A plain step after the jump restores stability; the likelihood check keeps EM's monotone ascent.
    better = step(far / far.sum())
    farther = likelihood(better)
    return (better, farther) if farther >= reached else (twice, reached)


def beyond(path: tuple[Floats, Floats, Floats]) -> Floats | None:
    """Return the SQUAREM extrapolation of three points; None if it is none, or outside the simplex."""
    start, once, twice = path
    change, bend = once - start, twice - 2 * once + start
    # Step length S3 of Varadhan and Roland 2008; length 1 is the plain EM step.
    length = float(np.linalg.norm(change)) / max(float(np.linalg.norm(bend)), FLOOR)
    far = start + 2 * length * change + length**2 * bend
    return None if length <= 1 or far.min() < 0 else far


def _cells(first: Floats, second: Floats) -> Floats:
    # Given the truth both reports are drawn independently, so their likelihoods multiply.
    product = first[:, :, None] * second[:, None, :]
    return product.reshape(len(product), first.shape[1] * second.shape[1])


DRAWS = 199
MOST_COMBINATIONS = 256
_BLOCK_SETTLED = 1e-9


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
    samples = generator.multinomial(n, chances, draws if distance > _BLOCK_SETTLED else 0).astype(float)
    others = [_distance(each, _likeliest(rows, each)[1]) for each in samples]
    p = (1 + sum(each >= distance for each in others)) / (1 + len(others)) if others else 1.0
    shares = tuple(_shares(variables, places, counts, table.reshape(sizes)))
    return BlockFit(n, table.reshape(sizes), shares, distance, p)


def _likeliest(rows: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return the likeliest shares of the true combinations, and the shares of reported ones that they make."""
    table = likeliest_table(ObservedReports(rows, counts), (rows.shape[1], 1), settled=_BLOCK_SETTLED).ravel()
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
