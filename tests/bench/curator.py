"""Speed of the curator's mechanisms: a histogram of Parquet beside a plain count, clusters beside plain Lloyd."""

import os
import tempfile
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
from sottovoce.aggregator.curator.ball import Ball, Vectors
from sottovoce.aggregator.curator.cluster import Lloyd, cluster, draw_point
from sottovoce.aggregator.curator.draws import system_draws
from sottovoce.aggregator.curator.histogram import histogram
from sottovoce.aggregator.curator.terms import Terms

from tests.bench.mechanisms import best, row

ROWS = int(os.environ.get("BENCH_ROWS", "10000000"))
POINTS = int(os.environ.get("BENCH_POINTS", "1000000"))
CELLS = 20


def parquet_histogram() -> None:
    """Twenty cells of ten million rows, with reading; beside the same cells counted plainly."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "cells.parquet")
        made = duckdb.sql(
            "SELECT (range * 7919) % $cells AS cell FROM range($rows)", params={"cells": CELLS, "rows": ROWS}
        )
        made.write_parquet(str(file))

        def read() -> np.ndarray:
            return duckdb.read_parquet(str(file)).fetchnumpy()["cell"]

        plain = best(lambda: np.bincount(read(), minlength=CELLS), 3)
        noisy = best(lambda: histogram(read(), CELLS, Terms(Fraction(1)), system_draws()), 3)
        row(f"curator: histogram of {ROWS:,} rows of Parquet, times a plain count", noisy / plain, "x", "<= 3")


def clusters() -> None:
    """A million points of eight coordinates, eight clusters, ten iterations."""
    generator = np.random.Generator(np.random.PCG64(1))
    ball = Ball(1, 1024, 8)
    points = ball.clip(generator.integers(-128, 129, (POINTS, 8)))
    start = [draw_point(ball, system_draws()) for _ in range(8)]
    plain = best(lambda: plain_lloyd(points, start, 10), 1)
    noisy = best(lambda: cluster(points, Lloyd(ball, 8, 10), Terms(Fraction(1)), system_draws()), 1)
    row(f"curator: DP-Lloyd, {POINTS:,} points, d = k = 8, T = 10, times plain Lloyd", noisy / plain, "x", "<= 3")
    row("curator: DP-Lloyd, the same", noisy, "s", "")


def plain_lloyd(points: Vectors, start: list[list[int]], iterations: int) -> np.ndarray:
    """As it is written in numpy: distances by a product of matrices, sums by cluster and coordinate."""
    data, centres = points.astype(np.float64), np.array(start, dtype=np.float64)
    for _ in range(iterations):
        nearest = np.argmin((centres**2).sum(axis=1) - 2 * data @ centres.T, axis=1)
        counts = np.maximum(np.bincount(nearest, minlength=len(centres)), 1)
        sums = [np.bincount(nearest, weights=column, minlength=len(centres)) for column in data.T]
        centres = np.array(sums).T / counts[:, None]
    return centres


def cluster_errors(epsilon: Fraction, runs: int = 30) -> float:
    """The median distance, in radii, of a known centre from the nearest one found: three clouds of 5,000 points."""
    generator, ball = np.random.Generator(np.random.PCG64(3)), Ball(1, 1024, 2)
    known = np.array([[500, 200], [-400, 300], [0, -600]])
    points = np.concatenate([generator.integers(-100, 101, (5000, 2)) + centre for centre in known])
    found = [cluster(points, Lloyd(ball, 3, 5), Terms(epsilon), system_draws()).values["centres"] for _ in range(runs)]
    distances = np.abs(np.array(found)[:, :, None] - known).sum(axis=3).min(axis=1)
    return float(np.median(distances)) / ball.radius


def errors_by_epsilon() -> None:
    """Three known centres: the error falls with epsilon, down to that of Lloyd itself."""
    for epsilon in (Fraction(1, 20), Fraction(1, 10), Fraction(1, 5), Fraction(1, 2), Fraction(1), Fraction(4)):
        row(f"curator: DP-Lloyd at epsilon {float(epsilon):g}, median error", cluster_errors(epsilon), "radii", "falls")


def figures() -> None:
    """All of it."""
    parquet_histogram()
    clusters()
    errors_by_epsilon()
