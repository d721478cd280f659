"""Estimate the odds ratio of two yes/no variables by maximum likelihood, with profile likelihood limits.

Point       Odds ratio of the maximum likelihood table; from raw shares it would be negative or infinite too often.
Limits      The odds ratios at which twice the drop of the log likelihood is z^2. The EM algorithm finds the maximum
            for a given odds ratio r: the expected table keeps its margins A and B and gets this odds ratio, with p11
            the feasible root of (r - 1) p^2 - (1 + (r - 1)(A + B)) p + r A B = 0.
            Where people may have left a question unanswered, the table has cells for no answer too; they are free,
            and the odds ratio is the one of the four cells of those who answered both questions.
            Coverage .938 to .972; limits by the delta method cover .54 to .98. A limit that is not reached within a
            factor e^12 of the point is reported as None.
Source      Plackett 1965 (the quadratic equation).
"""

import math

import numpy as np
from sottovoce.aggregator.analysis.tables import ml_table
from sottovoce.aggregator.analysis.tables.pair_moments import Joint, Products
from sottovoce.aggregator.analysis.tables.score_intervals import edge
from sottovoce.aggregator.estimators.variable import Floats

METHOD = "profile"
FARTHEST = 12.0
"""Search range for limits, on the scale of the log odds ratio."""

_SETTLED = 1e-9
_HALVINGS = 24
_LEAST = 1e-3
_FLOOR = 1e-300


def odds_ratio(joint: Joint, z: float) -> tuple[float | None, float | None, float | None]:
    """Return estimate, low and high; None for an infinite estimate, or an unbounded side.

    The variables have two answers each, and possibly a category for no answer. ``z`` is the normal quantile.
    """
    seen = ml_table.seen_reports(joint)
    table = ml_table.likeliest_table(seen, (len(joint.first.categories), len(joint.second.categories)))
    halves = sum(float(half.numbers.sum()) for pairs in joint.strata for half in pairs.halves)
    scale = (joint.n + halves) / float(seen.weights.sum()) / joint.deff / joint.design_effect(_log_odds(table))
    logs = np.log(np.maximum(table, math.exp(-FARTHEST)))
    centre = min(max(float(logs[0, 0] + logs[1, 1] - logs[0, 1] - logs[1, 0]), -FARTHEST), FARTHEST)
    # The centre of an infinite estimate is cut off at +-FARTHEST; the range must then still reach the other side of 1.
    far = FARTHEST if abs(centre) < FARTHEST else 2 * FARTHEST

    enough = seen.log_likelihood(table) - z**2 / scale / 2
    # EM never leaves a zero, so empty cells start slightly above it.
    start = np.maximum(table, 1e-6)

    def reaches(log_ratio: float) -> bool:
        """Return True if the profile log likelihood is high enough; the next search starts where one in vain ended."""
        nonlocal start
        ratio = math.exp(log_ratio)

        def step(table: Floats) -> Floats:
            return _with_ratio(seen.shares(table), ratio)

        found = _with_ratio(start / start.sum(), ratio)
        # EM steps never lower the likelihood, so the search can stop as soon as it is high enough.
        if seen.log_likelihood(found) < enough:
            found = ml_table.climb(seen.log_likelihood, step, found, _SETTLED, enough)
        is_enough = seen.log_likelihood(found) >= enough
        start = start if is_enough else np.maximum(found, 1e-9)
        return is_enough

    limits = []
    for end in (centre - far, centre + far):
        limit = edge(reaches, centre, end, _HALVINGS)
        limits.append(None if limit == end else math.exp(limit))
    bottom = table[0, 1] * table[1, 0]
    return float(table[0, 0] * table[1, 1] / bottom) if bottom > 1e-12 else None, limits[0], limits[1]


def _log_odds(table: Floats) -> Products:
    """Return the scores of the log odds ratio, linear in those of the cells at a table, (m, 1)."""
    slopes = [(i, j, (1.0 if i == j else -1.0) / max(float(table[i, j]), _LEAST)) for i in (0, 1) for j in (0, 1)]
    return lambda each: np.asarray(sum(slope * each.cell(i, j) for i, j, slope in slopes))[:, None]


def _with_ratio(table: Floats, ratio: float) -> Floats:
    """Return the table whose four cells of answers keep their margins and get the given odds ratio."""
    block, found = table[:2, :2], table.copy()
    total = max(float(block.sum()), _FLOOR)
    a, b = float(block[1].sum() / total), float(block[:, 1].sum() / total)
    if abs(ratio - 1) < 1e-12:
        both = a * b
    else:
        middle = 1 + (ratio - 1) * (a + b)
        # This form of the root avoids cancellation; rounding alone could make the discriminant negative.
        root = math.sqrt(max(middle**2 - 4 * ratio * (ratio - 1) * a * b, 0.0))
        both = 2 * ratio * a * b / (middle + root)
    found[:2, :2] = total * np.maximum([[1 - a - b + both, b - both], [a - both, both]], 0.0)
    return found
