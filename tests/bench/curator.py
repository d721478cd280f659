"""Speed of the curator's mechanisms: a histogram of Parquet beside a plain count, clusters beside plain Lloyd."""

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
from sottovoce.aggregator.curator.clipping import Ball, Vectors
from sottovoce.aggregator.curator.clusters.cluster import Lloyd, cluster, draw_point
from sottovoce.aggregator.curator.data.data_set import open_data_set
from sottovoce.aggregator.curator.draws import system_draws
from sottovoce.aggregator.curator.questions import histogram_question
from sottovoce.aggregator.curator.release import Neighbours, ReleaseTerms

from tests.bench.mechanisms import best, row

ROWS = int(os.environ.get("BENCH_ROWS", "10000000"))
POINTS = int(os.environ.get("BENCH_POINTS", "1000000"))
CELLS = 20


FILES = {  # texts of one length, so that files without compression are of one size
    "all equal": "'name' || lpad('0', 8, '0')",
    "all different": "'name' || lpad(range::VARCHAR, 8, '0')",
    "none that fits": "'none' || lpad(range::VARCHAR, 8, '0')",
}


def declared(folder: Path, name: str) -> Path:
    """Where a file lies that is declared to hold some names in its one column."""
    names = ", ".join(f"name{number:08}" for number in range(CELLS))
    (folder / f"{name}.yaml").write_text(
        f"format: sottovoce-data/1\nrecord: one row\ncolumns:\n  cell: {{categories: [{names}]}}\n"
    )
    return folder / name


def bound(file: Path, heads: Path) -> float:
    started = time.perf_counter()
    open_data_set(file, None, str(heads)).bind(Fraction(1000), None, Neighbours.REPLACE)
    return time.perf_counter() - started


def seconds_of_histograms(
    files: Sequence[Path], heads: Path, repeats: int, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """With all that the verb does, from looking at the file on; by turns, and each time a question that is new."""
    found = []
    for turn in range(1, repeats + 1):
        for file in files:
            started = clock()
            data = open_data_set(file, None, str(heads))
            data.ask(histogram_question(data.declaration, ["cell"]), Fraction(turn, 100))
            found.append(clock() - started)
    return [min(found[place :: len(files)]) for place in range(len(files))]


def parquet_histogram(folder: Path) -> None:
    """Twenty names in ten million rows, bound and asked for; beside the same names counted plainly by the library."""
    file = declared(folder, "names").with_suffix(".parquet")
    text = f"'name' || lpad(((range * 7919) % {CELLS})::VARCHAR, 8, '0')"
    duckdb.sql(f"SELECT {text} AS cell FROM range({ROWS})").write_parquet(str(file))  # noqa: S608
    plain = best(lambda: duckdb.read_parquet(str(file)).aggregate("cell, count(*)").fetchall(), 7)
    binding = bound(file, folder.parent / "heads")
    (noisy,) = seconds_of_histograms([file], folder.parent / "heads", 7)
    row(f"curator: {ROWS:,} rows of Parquet counted plainly", plain, "s", "")
    row("curator: histogram of the same rows, times the plain count", noisy / plain, "x", "<= 3")
    row("curator: binding them, once", binding, "s", "")


def time_by_values(folder: Path) -> None:
    """Whether a histogram takes longer because of what stands in the cells; by the processor, whatever else runs."""
    for ending, rows in (("parquet", ROWS // 5), ("csv", ROWS // 20)):
        files = [declared(folder, name.replace(" ", "_")).with_suffix(f".{ending}") for name in FILES]
        for file, text in zip(files, FILES.values(), strict=True):
            made = duckdb.sql(f"SELECT {text} AS cell FROM range({rows})")  # noqa: S608
            (made.write_parquet if ending == "parquet" else made.write_csv)(str(file))
            binding = bound(file, folder.parent / "heads")
            row(f"curator: binding {rows:,} rows of {ending}, {file.stem}", binding * 1000, "ms", "")
        found = seconds_of_histograms(files, folder.parent / "heads", 40, time.process_time)
        for name, seconds in zip(FILES, found, strict=True):
            row(f"curator: histogram of {rows:,} rows of {ending}, {name}", seconds * 1000, "ms", "")
        row(f"curator: the slowest of these, {ending}, times the quickest", max(found) / min(found), "x", "1")


def clusters() -> None:
    """A million points of eight coordinates, eight clusters, ten iterations."""
    generator = np.random.Generator(np.random.PCG64(1))
    ball = Ball(1, 1024, 8)
    points = ball.clip(generator.integers(-128, 129, (POINTS, 8)))
    start = [draw_point(ball, system_draws()) for _ in range(8)]
    plain = best(lambda: plain_lloyd(points, start, 10), 1)
    noisy = best(lambda: cluster(points, Lloyd(ball, 8, 10), ReleaseTerms(Fraction(1)), system_draws()), 1)
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
    found = [
        cluster(points, Lloyd(ball, 3, 5), ReleaseTerms(epsilon), system_draws()).values["centres"] for _ in range(runs)
    ]
    distances = np.abs(np.array(found)[:, :, None] - known).sum(axis=3).min(axis=1)
    return float(np.median(distances)) / ball.radius


def errors_by_epsilon() -> None:
    """Three known centres: the error falls with epsilon, down to that of Lloyd itself."""
    for epsilon in (Fraction(1, 20), Fraction(1, 10), Fraction(1, 5), Fraction(1, 2), Fraction(1), Fraction(4)):
        row(f"curator: DP-Lloyd at epsilon {float(epsilon):g}, median error", cluster_errors(epsilon), "radii", "falls")


def figures() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "data")
        folder.mkdir()
        (folder.parent / "heads").mkdir()
        parquet_histogram(folder)
        time_by_values(folder)
    clusters()
    errors_by_epsilon()
