"""Estimate the table of two variables by maximum likelihood, optionally with impossible cells (structural zeros).

Maths       EM algorithm: p <- p sum_y (n_y / n) L_y / (L_y p), L_y the likelihood row of report y over the cells. An
            impossible cell starts at 0 and stays there; all others start equal. After every two steps the path is
            extrapolated (SQUAREM), and the result is used if its likelihood is higher.
            Shares stay within the simplex, so none is negative; estimates near 0 are biased, and have no limits.
Source      Dempster, Laird and Rubin 1977; van den Hout and van der Heijden 2002; Varadhan and Roland 2008.
"""

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.tables.pair_moments import Joint
from sottovoce.aggregator.estimators.blocks.joint_channel import joint_likelihood
from sottovoce.aggregator.estimators.variable import Floats
from sottovoce.shared.errors import EstimateError

ROUNDS = 20_000
_SETTLED = 1e-12
_FLOOR = 1e-300


class ObservedReports(NamedTuple):
    """Distinct reports: likelihoods over the cells of the table, (m, cells), and total weights of the reports, (m,)."""

    rows: Floats
    weights: Floats

    def log_likelihood(self, table: Floats) -> float:
        """Return the log likelihood of a table, up to a constant."""
        return float(self.weights @ np.log(np.maximum(self.rows @ table.ravel(), _FLOOR)))

    def expected(self, table: Floats) -> Floats:
        """Return the expected weights of true cells, given the reports, if ``table`` is the truth (the E step)."""
        cells = table.ravel()
        found: Floats = cells * ((self.weights / np.maximum(self.rows @ cells, _FLOOR)) @ self.rows)
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
    seen: ObservedReports, shape: tuple[int, int], impossible: Iterable[tuple[int, int]] = (), settled: float = _SETTLED
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
    return climb(seen, seen.expected, start, settled)


def climb(
    seen: ObservedReports, step: Callable[[Floats], Floats], shares: Floats, settled: float, enough: float = math.inf
) -> Floats:
    """Return the shares that EM converges to, extrapolating after every two steps.

    Args:
        step: of EM, which climbs the likelihood of the reports.
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
        shares, reached = _extrapolated(seen, step, (shares, once, twice))
        if reached >= enough:
            break
    return shares


def _extrapolated(
    seen: ObservedReports, step: Callable[[Floats], Floats], path: tuple[Floats, Floats, Floats]
) -> tuple[Floats, float]:
    """Return the SQUAREM extrapolation of three points if its likelihood is higher, else the last; with likelihood."""
    twice = path[-1]
    far, reached = beyond(path), seen.log_likelihood(twice)
    if far is None:
        return twice, reached
    # A plain step after the jump restores stability; the likelihood check keeps EM's monotone ascent.
    better = step(far / far.sum())
    farther = seen.log_likelihood(better)
    return (better, farther) if farther >= reached else (twice, reached)


def beyond(path: tuple[Floats, Floats, Floats]) -> Floats | None:
    """Return the SQUAREM extrapolation of three points; None if it is none, or outside the simplex."""
    start, once, twice = path
    change, bend = once - start, twice - 2 * once + start
    # Step length S3 of Varadhan and Roland 2008; length 1 is the plain EM step.
    length = float(np.linalg.norm(change)) / max(float(np.linalg.norm(bend)), _FLOOR)
    far = start + 2 * length * change + length**2 * bend
    return None if length <= 1 or far.min() < 0 else far


def _cells(first: Floats, second: Floats) -> Floats:
    # Given the truth both reports are drawn independently, so their likelihoods multiply.
    product = first[:, :, None] * second[:, None, :]
    return product.reshape(len(product), first.shape[1] * second.shape[1])
