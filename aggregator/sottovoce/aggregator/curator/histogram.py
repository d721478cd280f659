"""Release a noisy histogram: the number of records in each cell of a declared partition.

Answer       c_j + x_j for all k declared cells, empty ones too: leaving out empty cells would reveal that they are.
Sensitivity  In L1: 1 under add/remove (one cell changes by 1), 2 under replace-one (one cell loses a record, another
             gains one). The budget fixes the relation; ``SENSITIVITY`` states both.
Privacy      epsilon-differentially private, delta = 0, for all cells together, however many: cells share no record.
Error        Pr[largest of k errors > ceil(ln(k/beta) D / epsilon)] <= beta: 10,000 cells at epsilon 1 and beta .05 give
             12.2061 under add/remove and 24.4121 under replace-one.
Sources      Dwork and Roth 2014, 3.3 (their example of the 10,000 names is under add/remove).
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from sottovoce.aggregator.curator.add_noise import add_laplace
from sottovoce.aggregator.curator.count import NEGATIVE
from sottovoce.aggregator.curator.noise_distribution import laplace_error
from sottovoce.aggregator.curator.privacy_cost import Charge
from sottovoce.aggregator.curator.release import Release
from sottovoce.aggregator.curator.release_terms import ReleaseTerms
from sottovoce.shared.exact_noise import ExactNoise

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
    return Release(
        question=terms.question("histogram", cells=k),
        values={"counts": add_laplace(exact, rate, draws)},
        charge=Charge.pure(terms.epsilon),
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
