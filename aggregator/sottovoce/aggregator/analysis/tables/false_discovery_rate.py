"""False discovery rate of many tests, by the Benjamini-Hochberg procedure.

Maths       q_(i) = min over j >= i of p_(j) m / j, p_(1) <= ... <= p_(m): of the tests with q <= .05 at most 5 % are
            false discoveries on average. m counts all pairs of a survey, not only those the analyst looked at.
Source      Benjamini and Hochberg 1995.
"""

from collections.abc import Sequence


def q_values(p_values: Sequence[float], tests: int | None = None) -> list[float]:
    """Return the q value of each test, in the order given.

    Args:
        p_values: p values of the tests performed.
        tests: number of all possible tests; by default, the number performed.
    """
    # Counting untested pairs too is conservative.
    m = len(p_values) if tests is None else max(tests, len(p_values))
    order = sorted(range(len(p_values)), key=p_values.__getitem__, reverse=True)
    found, least = [1.0] * len(p_values), 1.0
    for rank, place in zip(range(len(order), 0, -1), order, strict=True):
        least = min(least, p_values[place] * m / rank)
        found[place] = least
    return found
