"""Release noisy counts and histograms.

A count covers records that meet one predicate or each of several, or a sum of weights:

Answer       c_j + x_j, c_j the sum over records of their value (0 or 1, or a weight in steps of 1/W), x_j exact
             discrete Laplace noise of rate epsilon / D.
Sensitivity  D in L1, in steps. One predicate: 1 under both relations, since one record changes the count by 1 at most.
             m predicates of which a record meets at most p (all m unless fewer are declared): p under add/remove,
             min(m, 2 p) under replace-one. Predicates beyond the first p that a record meets are not counted.
             Weights: W steps, which is 1 in units of the weight.
Privacy      epsilon-differentially private, delta = 0.
Error        Variance 2 a / (1 - a)^2 <= 2 (D / epsilon)^2, a = e^(-epsilon/D); the largest error in ``Release.error``.
Negative     A noisy count may be negative or above n. It is left unchanged: sums of clipped counts are biased.
Sources      Dwork and Roth 2014, 3.3; Ghosh, Roughgarden and Sundararajan 2009.

A histogram is the number of records in each cell of a declared partition:

Answer       c_j + x_j for all k declared cells, empty ones too: leaving out empty cells would reveal that they are.
Sensitivity  In L1: 1 under add/remove (one cell changes by 1), 2 under replace-one (one cell loses a record, another
             gains one). The budget fixes the relation; ``SENSITIVITY`` states both.
Privacy      epsilon-differentially private, delta = 0, for all cells together, however many: cells share no record.
Error        Pr[largest of k errors > ceil(ln(k/beta) D / epsilon)] <= beta: 10,000 cells at epsilon 1 and beta .05 give
             12.2061 under add/remove and 24.4121 under replace-one.
Sources      Dwork and Roth 2014, 3.3 (their example of the 10,000 names is under add/remove).
"""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from sottovoce.aggregator.curator.noise_distribution import add_laplace, laplace_error
from sottovoce.aggregator.curator.release import Release, ReleaseTerms
from sottovoce.shared.exact_noise import ExactNoise

NEGATIVE = "noise may make a count negative or larger than n; do not clip what is added up or averaged"


def count(met: npt.NDArray[Any], terms: ReleaseTerms, draws: ExactNoise) -> Release:
    """Release the number of records that meet one predicate; a nonzero mark, of n, means that the record does."""
    noisy = add_laplace([int(np.count_nonzero(met))], terms.epsilon, draws)
    return terms.pure(
        values={"count": noisy[0]},
        sensitivity=f"A count changes by at most 1 {terms.neighbours.in_words}.",
        error=laplace_error(terms.epsilon, 1),
        notes=(NEGATIVE,),
    )


def counts(marks: npt.NDArray[Any], terms: ReleaseTerms, draws: ExactNoise, most: int | None = None) -> Release:
    """Release the number of records that meet each of m predicates; a nonzero mark, of n x m, means that it does.

    Args:
        terms: epsilon for all m counts together, and neighbouring relation.
        most: number of predicates that count for one record, 1 .. m, declared without looking at the data; further ones
            are not counted. None for all.

    Raises:
        ValueError: ``most`` is out of range.
    """
    predicates = marks.shape[1]
    limit = predicates if most is None else most
    if not 1 <= limit <= predicates:
        raise ValueError("the most that one record may meet lies between 1 and the number of predicates")
    sensitivity = terms.neighbours.of(limit, min(predicates, 2 * limit))
    rate = terms.epsilon / sensitivity
    return terms.pure(
        values={"counts": add_laplace(column_counts(marks, limit), rate, draws)},
        sensitivity=f"These counts change by at most {sensitivity} in all {terms.neighbours.in_words}.",
        error=laplace_error(rate, predicates),
        notes=(NEGATIVE,),
    )


def column_counts(marks: npt.NDArray[Any], most: int) -> list[int]:
    """Return the number of marked rows in each column, counting only the first ``most`` marks of a row."""
    met = marks != 0
    if most < met.shape[1]:
        met &= np.cumsum(met, axis=1) <= most
    return [int(total) for total in np.count_nonzero(met, axis=0)]


def weighted_count(weights: npt.NDArray[Any], steps: int, terms: ReleaseTerms, draws: ExactNoise) -> Release:
    """Release the sum of weights in [0, 1].

    Args:
        weights: n integers in 0 .. steps, which encode weights from 0 to 1; others are clipped.
        steps: W, at least 1 and at most 2^32; else ValueError.
    """
    if not 1 <= steps <= 2**32:
        raise ValueError("weights have from 1 to 2^32 steps")
    whole = int(np.clip(weights, 0, steps).sum(dtype=np.int64))
    rate = terms.epsilon / steps
    noisy = add_laplace([whole], rate, draws)
    return terms.pure(
        values={"count": str(Fraction(noisy[0], steps))},
        sensitivity=f"A sum of weights in [0, 1] changes by at most 1 {terms.neighbours.in_words}.",
        error=in_units(laplace_error(rate, 1), Fraction(1, steps)),
        notes=(NEGATIVE,),
    )


def in_units(error: dict[str, Any], unit: Fraction) -> dict[str, Any]:
    """Convert an error from grid steps to the unit of the answer; ``t`` becomes an exact fraction as text."""
    theorem = {**error["theorem"], "figure": error["theorem"]["figure"] * float(unit)}
    return {**error, "t": str(error["t"] * unit), "theorem": theorem}


SENSITIVITY = (
    "A histogram changes by at most {} in all {} (1 if a record is added or removed, 2 if one is replaced by another)."
)

MOST_CELLS = 2**24


def histogram(cells: npt.NDArray[Any], k: int, terms: ReleaseTerms, draws: ExactNoise) -> Release:
    """Release the number of records in each of k declared cells, 1 .. 2^24; ValueError if k is out of range.

    ``cells`` are n indices in 0 .. k - 1; others are counted in the nearest cell.
    """
    exact = cell_counts(cells, k)
    sensitivity = terms.neighbours.of(1, 2)
    rate = terms.epsilon / sensitivity
    return terms.pure(
        values={"counts": add_laplace(exact, rate, draws)},
        sensitivity=SENSITIVITY.format(sensitivity, terms.neighbours.in_words),
        error=laplace_error(rate, k),
        notes=(NEGATIVE,),
    )


def cell_counts(cells: npt.NDArray[Any], k: int) -> list[int]:
    """Return how often each index occurs, as of ``histogram``."""
    if not 1 <= k <= MOST_CELLS:
        raise ValueError("a histogram has from 1 to 2^24 declared cells")
    # Without the clip ``bincount`` would add a cell for a larger index, and the number of cells would depend on data.
    found: list[int] = np.bincount(np.clip(cells, 0, k - 1), minlength=k).tolist()
    return found
