"""Print the shares and means of a survey from the files in this script's folder. Needs only Python 3.10 or newer.

The script reads reports.csv (one row per report: what the devices sent, after randomizing), channels.csv and scores.csv
(how to decode reports). A report's score is (s - b) / (a - b) for a share, s = 1 if it supports the option, else 0; for
a mean it is in scores.csv. The estimate is the mean of the scores; its standard error is their standard deviation /
sqrt(n). Limits of a share are 95 % score limits with continuity correction; those of a mean are estimate +- 1.96
standard errors.

Where people could decline, lines "answered" give the shares among those who answered, as the page Results does first:
share / (1 - share of no answer), with the limits { t : |share - t W| <= 1.96 sqrt(V(t)) + 1 / (2 n (a - b)) }, W the
share who answered and V(t) the variance of share - t W that the channel gives at t.

Each wave is estimated separately, because reports of the same people in several waves are dependent.
"""

import csv
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

Z = 1.959963984540054
HALVINGS, SCANNED, NEAR = 60, 50, 1e-9
Row = dict[str, str]
Score = Callable[[str], float | None]


def table(path: Path) -> Iterator[Row]:
    """Yield the rows of a CSV file, skipping a first line that marks a test run."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = iter(file)
        first = next(lines, "")
        yield from csv.DictReader(lines if first.startswith("#") else _again(first, lines))


def _again(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines


def _supports(rule: str, code: int, value: int) -> bool | None:
    """Return True if a reported value supports an option, False if not, None if it carries no information on it."""
    if rule == "drawn":
        return value % 2 == 1 if value // 2 == code else None
    return {"equals": value == code, "bit": value >> code & 1 == 1, "parity": (value & code).bit_count() % 2 == 0}[rule]


def share_score(row: Row) -> Score:
    """Return the score function of one row of channels.csv."""
    a, b = float(row["a"]), float(row["b"])

    def score(value: str) -> float | None:
        found = _supports(row["rule"], int(row["code"]), int(value))
        return None if found is None else (found - b) / (a - b)

    return score


def _share_limits(count: float, n: int, a: float, b: float) -> tuple[float, float]:
    """Return score limits of a share with continuity correction; ``count`` of n reports support it."""
    x = min(max(count, n * b), n * a)
    low = 0.0 if x <= 0.5 else _score_limit(x - 0.5, n, -Z)
    high = 1.0 if x >= n - 0.5 else _score_limit(x + 0.5, n, Z)
    return max((low - b) / (a - b), 0.0), min((high - b) / (a - b), 1.0)


def _score_limit(x: float, n: int, z: float) -> float:
    return (x + z * z / 2 + z * math.sqrt(x * (n - x) / n + z * z / 4)) / (n + z * z)


def estimate(tally: Counter[str], score: Score) -> tuple[int, float, float]:
    """Return (n, mean of the scores, standard error) of the reports that carry the figure."""
    scored = [(found, count) for value, count in tally.items() if (found := score(value)) is not None]
    n = sum(count for _, count in scored)
    if n == 0:
        return 0, math.nan, math.nan
    mean = math.fsum(found * count for found, count in scored) / n
    squares = math.fsum((found - mean) ** 2 * count for found, count in scored)
    return n, mean, math.sqrt(squares / (n - 1) / n) if n > 1 else math.nan


def tallies(folder: Path) -> dict[tuple[str, int, str], Counter[str]]:
    """Return the number of reports with each value, by question, wave and revision."""
    found: dict[tuple[str, int, str], Counter[str]] = {}
    for row in table(folder / "reports.csv"):
        # Files of former releases call the two columns wave and revision.
        wave, revision = (row.pop(f"_{name}" if f"_{name}" in row else name) for name in ("wave", "revision"))
        for question, value in row.items():
            if value:
                found.setdefault((question, int(wave), revision), Counter())[value] += 1
    return found


def _tally_of(
    found: dict[tuple[str, int, str], Counter[str]], question: str, wave: int, revisions: str
) -> Counter[str]:
    """Return the tally of a question in one wave, over the revisions with the same channel."""
    return sum((found.get((question, wave, each), Counter()) for each in revisions.split()), Counter())


def _answered(row: Row, tally: Counter[str], none: Row) -> tuple[int, float, float, float, float]:
    """Return (n, estimate, standard error, low, high) of a share among those who answered; ``none`` is no answer."""
    n, part, _ = estimate(tally, share_score(row))
    whole = 1 - estimate(tally, share_score(none))[1]
    if n == 0:
        return 0, math.nan, math.nan, 0.0, 1.0
    answered, variance = min(max(whole, 0.0), 1.0), _variance(row)

    def spread(t: float) -> float:
        return math.sqrt(max(variance(t, answered) / n, 0.0))

    share = part / whole if whole > 0 else math.nan
    error = spread(min(max(share, 0.0), 1.0)) / whole if whole > 0 else math.nan
    half = 1 / (n * (float(row["a"]) - float(row["b"]))) / 2
    return n, share, error, *_ratio_limits(part, max(whole, 0.0), spread, half)


def _variance(row: Row) -> Callable[[float, float], float]:
    """Return the variance of z - t (1 - z_none) in one report, by t and the share of people who answered."""
    a, b, both_in, both_out = (float(row[name]) for name in ("a", "b", "both_in", "both_out"))
    alpha, c = (1 - 2 * b) / (a - b), b * (1 - b) / (a - b) ** 2
    inside, outside = (both_in - a * b) / (a - b) ** 2, (both_out - b * b) / (a - b) ** 2
    own, crossed = (alpha + c, c, c), (1 - inside, -outside, -inside)
    whole = 1 + c, 1 + c, alpha + c - 1

    def variance(t: float, answered: float) -> float:
        shares = t * answered, (1 - t) * answered, 1 - answered
        parts = zip(shares, own, crossed, whole, strict=True)
        return math.fsum(share * (z - 2 * t * zr + t * t * r) for share, z, zr, r in parts)

    return variance


def _ratio_limits(part: float, whole: float, spread: Callable[[float], float], half: float) -> tuple[float, float]:
    part = min(max(part, 0.0), whole)

    def inside(t: float) -> bool:
        return abs(part - t * whole) <= Z * spread(t) + half

    def edge(within: float, outside: float) -> float:
        if inside(outside):
            return outside
        for _ in range(HALVINGS):
            middle = (within + outside) / 2
            within, outside = (middle, outside) if inside(middle) else (within, middle)
        return outside

    point = part / whole if whole else 0.5
    if not inside(point):
        return 0.0, 1.0
    low, high = edge(point, 0.0), edge(point, 1.0)
    # The set can come back beyond a gap; one part of it alone would not cover.
    steps = (step / SCANNED for step in range(SCANNED + 1))
    parts = any(inside(t) != (low <= t <= high) for t in steps if min(abs(t - low), abs(t - high)) > NEAR)
    return (0.0, 1.0) if parts else (low, high)


def lines(folder: Path) -> Iterator[tuple[object, ...]]:
    """Yield (wave, question, option, revisions, n, estimate, standard error, low, high, among) for each figure."""
    found = tallies(folder)
    waves = sorted({wave for _, wave, _ in found})
    channels = list(table(folder / "channels.csv"))
    nothing = {(row["question"], row["revisions"]): row for row in channels if row["option"] == "absent"}
    for row in channels:
        a, b = float(row["a"]), float(row["b"])
        for wave in waves:
            n, raw, error = estimate(_tally_of(found, row["question"], wave, row["revisions"]), share_score(row))
            limits = _share_limits(n * (b + (a - b) * raw), n, a, b) if n else (0.0, 1.0)
            yield wave, row["question"], row["option"], row["revisions"], n, raw, error, *limits, "all"
    for row in channels:
        none = nothing.get((row["question"], row["revisions"]))
        for wave in waves if none is not None and none is not row else ():
            found_here = _answered(row, _tally_of(found, row["question"], wave, row["revisions"]), none or row)
            yield wave, row["question"], row["option"], row["revisions"], *found_here, "answered"
    scores: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in table(folder / "scores.csv"):
        key = row["question"], row["mean"], row["revisions"]
        scores.setdefault(key, {})[row["value"]] = float(row["score"])
    for (question, name, revisions), of_value in scores.items():
        for wave in waves:
            n, raw, error = estimate(_tally_of(found, question, wave, revisions), of_value.get)
            yield wave, question, name, revisions, n, raw, error, raw - Z * error, raw + Z * error, "all"


def main() -> None:
    """Print the table as tab-separated values."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    print("wave", "question", "option", "revisions", "n", "estimate", "std_error", "low", "high", "among", sep="\t")
    for row in lines(folder):
        print(*(f"{cell:.6f}" if isinstance(cell, float) else cell for cell in row), sep="\t")


if __name__ == "__main__":
    main()
