"""Logit models of the reference: coefficients, and mean differences of predictions, with linearised errors.

Limits are by the delta method; where the share of a fact moves a figure along a curve, by more than a twentieth of
their distance, they are profiled over the share.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tests.meetings.channels import Floats
from tests.meetings.reference import TURNS, Figure, Reference, Z, farthest

STRAIGHT, FAR = 0.05, 12


def modelled(own: Reference, name: str, on: Sequence[str]) -> Floats:
    """Rows of a logit without categories of under 10 / (a - b)^2 people whose coefficient runs off, if two are left."""
    rows, made = own.grouped(name, *on, others=2), own.channels[name]
    if made.public:
        return rows
    beta, _, design, _ = logit(own, name, on, rows)
    few = 10 / (made.chances[1, 1] - made.chances[0, 1]) ** 2
    columns = [(other, place) for other in on for place in range(1, len(own.channels[other].names))
               if (own.rows[other][rows] == place).any()]  # fmt: skip
    for (other, place), slope, column in zip(columns, beta[1:], design.T[1:], strict=True):
        if abs(slope) > FAR and column.sum() < few and len({*own.rows[other][rows]}) > 2:
            rows = rows & (own.rows[other] != place)
    return rows


def logit(
    own: Reference, name: str, on: Sequence[str], rows: Floats, by: float = 0.0
) -> tuple[Floats, Floats, Floats, Floats]:
    """Coefficients, inverse information, design and rows of a logit of yes on public categories (Newton)."""
    made = own.channels[name].moved(by) if by else own.channels[name]
    design = np.column_stack([np.ones(int(rows.sum()))] + [
        (own.rows[other][rows] == place).astype(float)
        for other in on for place in range(1, len(own.channels[other].names))
        if (own.rows[other][rows] == place).any()])  # fmt: skip
    yes, weights = own.codes(name, rows), own.weights[rows]
    floor, reach = made.chances[0, 1], made.chances[1, 1] - made.chances[0, 1]

    def slopes(beta: Floats) -> tuple[float, Floats]:
        pi = 1 / (1 + np.exp(-design @ beta))
        lam = floor + reach * pi
        return (float(weights @ np.log(np.where(yes, lam, 1 - lam))),
                weights * (yes - lam) / (lam * (1 - lam)) * reach * pi * (1 - pi))  # fmt: skip

    def information(beta: Floats) -> Floats:
        steps = 1e-5 * np.eye(len(beta))
        return np.array([design.T @ (slopes(beta - s)[1] - slopes(beta + s)[1]) / 2e-5 for s in steps])

    beta = np.zeros(design.shape[1])
    for _ in range(100):
        value, residuals = slopes(beta)
        matrix = information(beta)
        least = np.linalg.eigvalsh(matrix).min()
        step = np.linalg.solve(matrix + max(1e-6 - least, 0.0) * np.eye(len(beta)), design.T @ residuals)
        step *= min(1.0, 2 / max(np.abs(step).max(), 1e-12))
        while slopes(beta + step)[0] < value - 1e-12:
            step = step / 2
        beta = beta + step
        if np.abs(step).max() < 1e-9:
            break
    return beta, np.linalg.inv(information(beta)), design, rows


def effects(own: Reference, name: str, on: Sequence[str]) -> dict[str, list[Figure]]:
    """Coefficients, and mean differences of predictions between categories and their base."""
    rows, fact = modelled(own, name, on), own.channels[name].fact
    exact = _at(own, name, on, rows)
    if fact is None or not fact[2]:
        return {key: [_limited(*each) for each in zip(*exact[key], strict=True)] for key in exact}
    moved = [_at(own, name, on, rows, step) for step in (1e-4, -1e-4)]
    around = [(Z * math.cos(t), _at(own, name, on, rows, fact[2] * Z * math.sin(t))) for t in TURNS]
    found = {}
    for key, (points, errors) in exact.items():
        slopes = fact[2] * np.subtract(*(each[key][0] for each in moved)) / 2e-4
        found[key] = [_limited(*each) for each in zip(points, np.hypot(errors, slopes), strict=True)]
        for place, figure in enumerate(found[key]):
            ends = [farthest([side * each[key][0][place] + z * each[key][1][place] for z, each in around], ())
                    for side in (-1, 1)]  # fmt: skip
            apart = max(abs(figure.low + ends[0]), abs(figure.high - ends[1])) / (STRAIGHT * Z * figure.error)
            if apart > 0.9:
                # At the border either is right.
                limits = (-ends[0], ends[1]) if apart > 1.1 else (None, None)
                found[key][place] = replace(figure, low=limits[0], high=limits[1])
    return found


def _limited(point: float, error: float) -> Figure:
    return Figure(float(point), float(error), float(point - Z * error), float(point + Z * error))


def _at(
    own: Reference, name: str, on: Sequence[str], rows: Floats, by: float = 0.0
) -> dict[str, tuple[Floats, Floats]]:
    """Points and errors if the share of the fact were known to be so much larger."""
    beta, covariance, design, rows = logit(own, name, on, rows, by)
    weights = own.weights[rows] / own.weights[rows].sum()
    columns, start = [], 1
    for other in on:
        there = sum((own.rows[other][rows] == place).any() for place in range(1, len(own.channels[other].names)))
        columns += [(place, range(start, start + there)) for place in range(start, start + there)]
        start += there

    def changes(beta: Floats) -> Floats:
        found = []
        for place, others in columns:
            base = design.copy()
            base[:, list(others)] = 0
            changed = base.copy()
            changed[:, place] = 1
            found.append(1 / (1 + np.exp(-changed @ beta)) - 1 / (1 + np.exp(-base @ beta)))
        return np.array(found)

    steps = 1e-5 * np.eye(len(beta))
    jacobian = np.array([(changes(beta + s) - changes(beta - s)) @ weights / 2e-5 for s in steps]).T
    sample = changes(beta).var(axis=1, ddof=1) / rows.sum()
    errors = np.sqrt(np.diag(jacobian @ covariance @ jacobian.T) + sample)
    return {"coefficients": (beta, np.sqrt(np.diag(covariance))), "ame": (changes(beta) @ weights, errors)}
