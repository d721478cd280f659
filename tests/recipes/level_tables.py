"""Computes ``level_table_data.py``: run by hand with scipy installed, ``python tests/recipes/level_tables.py > FILE``.

For each epsilon: five levels -1, -1/2, 0, 1/2, 1 and up to seven outputs with symmetric scores. Given the scores, the
channel with the least worst variance is a linear program; the scores themselves are found by a simplex search over
it. The result is rounded to integers with rows that sum to 2^32; a slightly smaller epsilon leaves room for that.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog, minimize

LEVELS = np.array([-1, -0.5, 0, 0.5, 1])
EPSILONS = ("1.4", "1.6", "1.8", "2.0", "2.2", "2.4", "2.6", "2.8", "3.0")
TOTAL = 2**32
UNIT = 10**9
ROOM = 4e-8  # of epsilon, for rounding


def best_channel(scores, epsilon):
    """(worst variance, channel) of the best unbiased channel from the levels to outputs with these scores."""
    k, n = len(LEVELS), len(scores)
    size = k * n + 1
    cost = np.zeros(size)
    cost[-1] = 1
    equal, right = [], []
    upper, limit = [], []
    for i, level in enumerate(LEVELS):
        for values, total in ((np.ones(n), 1), (scores, level)):
            row = np.zeros(size)
            row[i * n : i * n + n] = values
            equal.append(row)
            right.append(total)
        row = np.zeros(size)
        row[i * n : i * n + n] = np.square(scores)
        row[-1] = -1
        upper.append(row)
        limit.append(level**2)
        for other in range(k):
            for j in range(n if other != i else 0):
                row = np.zeros(size)
                row[i * n + j], row[other * n + j] = 1, -math.exp(epsilon)
                upper.append(row)
                limit.append(0)
    found = linprog(cost, upper, limit, equal, right, bounds=(0, None), method="highs",
                    options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10})  # fmt: skip
    if found.status != 0:
        return 1e3, None
    return found.fun, found.x[:-1].reshape(k, n)


def symmetric(half: Sequence[float]):
    """Seven scores from three positive ones."""
    half = sorted(abs(x) for x in half)
    return np.array([-x for x in reversed(half)] + [0.0] + list(half))


def search(epsilon):
    """(scores, channel) of the best table found from several starts."""
    duchi = (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
    starts = [(a * duchi, b * duchi, c * duchi) for a in (0.3, 0.6) for b in (0.8, 1.0) for c in (1.15, 1.5, 2.0)]
    best = min(
        (minimize(lambda h: best_channel(symmetric(h), epsilon)[0], start, method="Nelder-Mead",
                  options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 400}) for start in starts),
        key=lambda found: found.fun,
    )  # fmt: skip
    scores = symmetric(best.x)
    channel = best_channel(scores, epsilon)[1]
    # Outputs that hardly occur would be rounded to weights such as 3 against 133, at a ruinous ratio.
    used = channel.max(axis=0) > 1e-4
    used &= used[::-1]
    scores = scores[used]
    channel = best_channel(scores, epsilon)[1]
    assert channel.min() > 1e-4
    return scores, (channel + channel[::-1, ::-1]) / 2


def rounded(channel):
    """Integer rows that sum to ``TOTAL``; what rounding leaves goes to the largest weight of the row."""
    rows = []
    for row in channel:
        weights = [round(x * TOTAL) for x in row]
        weights[weights.index(max(weights))] += TOTAL - sum(weights)
        rows.append(tuple(weights))
    return tuple(rows)


def corrected(rows, scores):
    """Scores, in billionths, that are unbiased for the rounded rows."""
    channel = np.array(rows, dtype=float) / TOTAL
    change = np.linalg.lstsq(channel, LEVELS - channel @ scores, rcond=None)[0]
    return tuple(round(score * UNIT) for score in scores + change)


def main() -> None:
    print('"""\nThe tables of ``level_table``; made by ``tests/recipes/level_tables.py``, not edited by hand.\n')
    print("Worst variance at a level, in half ranges squared, by nominal epsilon:")
    found = {name: search(float(name) - ROOM) for name in EPSILONS}
    for name, (scores, channel) in found.items():
        worst = max(channel @ np.square(scores) - np.square(LEVELS))
        print(f"    {name}   {worst:.4f} with {len(scores)} outputs")
    print('"""\n')
    print("_HALVES: dict[str, tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]] = {")
    for name, (scores, channel) in found.items():
        rows = rounded(channel)
        worst = max(max(column) / min(column) for column in zip(*rows, strict=True))
        assert float(name) - 1e-6 < math.log(worst) <= float(name) - 1e-9
        print(f'    "{name}": (\n        (')
        assert rows[3:] == (rows[1][::-1], rows[0][::-1])
        for row in rows[:3]:
            print(f"            {row},")
        print(f"        ),\n        {corrected(rows, scores)},\n    ),")
    about = "(rows of weights up to the middle one, scores in billionths) by nominal epsilon"
    print(f'}}\n"""{about}; the other rows mirror the first."""')
    print(
        "TABLES = {name: ((*rows, rows[1][::-1], rows[0][::-1]), scores) for name, (rows, scores) in _HALVES.items()}"
    )
    print('"""(rows of weights, scores in billionths) by nominal epsilon."""')


if __name__ == "__main__":
    main()
