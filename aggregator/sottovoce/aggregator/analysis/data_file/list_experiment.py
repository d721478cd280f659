"""Estimate by a list experiment (item count technique) the share of a sensitive item from numbers of items that apply.

Design      One random half counts how many of J items apply to them, the other half (treated) how many of these and the
            sensitive one, J + 1. In a double list each half counts two lists, and the sensitive item is in the first
            list of the treated half and in the second list of the others.
Share       Difference in means, mean(treated) - mean(control), with variance s_t^2 / n_t + s_c^2 / n_c. Of a double
            list half the difference in means of D = first - second, which takes in that both counts of a person hang
            together.
Test        With Pr from each half, P(y of the J items, yes) = Pr(Y <= y | control) - Pr(Y <= y | treated) and
            P(y, no) = Pr(Y <= y | treated) - Pr(Y <= y - 1 | control), y = 0 .. J. A share clearly below 0 shows that
            the sensitive item changes answers to the others. One-sided z test of each, p times their number
            (Bonferroni).
Source      Miller 1984; Blair and Imai 2012 (test of design effects); Droitcour et al. 1991 (double list).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.data_file.read_table import FileTable
from sottovoce.aggregator.estimators.intervals import normal_quantile
from sottovoce.shared.errors import SpecError

LIST_EXPERIMENT = "sottovoce-list-experiment/1"
MOST_ITEMS = 20
FEWEST = 2
"""People needed in each half for a variance."""

Counts = NDArray[np.int64]
Document = dict[str, Any]


@dataclass(frozen=True)
class ListAnswers:
    """The counts of one list.

    Attributes:
        items: J, the number of items without the sensitive one.
        treated: counts of people whose list had the sensitive item, 0 .. J + 1.
        control: counts of the others, 0 .. J.
    """

    items: int
    treated: Counts
    control: Counts


def list_experiment(
    table: FileTable,
    columns: Sequence[Sequence[str]],
    arm: str,
    treated: str,
    items: int | None = None,
    confidence: float = 0.95,
) -> Document:
    """Estimate the share of people to whom the sensitive item applies; each row of the table is one person.

    Args:
        columns: columns of the counts of each list, one, or one for each half; of a double list the second list has the
            sensitive item for the others.
        arm: column of the random halves.
        treated: its value where the (first) list has the sensitive item.
        items: J; None for the largest count of people without the sensitive item.
        confidence: nominal coverage of the limits.

    Raises:
        SpecError: a column is missing, a count is impossible, or a half has fewer than two people.
    """
    known = [_counts(table, names) for names in columns]
    named = [" + ".join(names) for names in columns]
    halves = _halves(table, arm, treated)
    there = (halves >= 0) & np.all([each >= 0 for each in known], axis=0)
    inside = [halves[there] == 1, halves[there] == 0]
    if min(int(each.sum()) for each in inside) < FEWEST:
        raise SpecError(f"{table.file}: each half of column '{arm}' needs at least {FEWEST} people with a count")
    lists = [
        _list_answers(table, name, (each[there][inside[place]], each[there][inside[1 - place]]), items)
        for place, (name, each) in enumerate(zip(named, known, strict=True))
    ]
    first, *second = (each[there] for each in known)
    scores = (first - second[0]) / 2 if second else first.astype(float)
    share = _difference(scores[inside[0]], scores[inside[1]], confidence)
    left_out = len(table) - int(there.sum())
    return {
        "format": LIST_EXPERIMENT,
        "file": table.file,
        "n": int(there.sum()),
        "confidence": confidence,
        "share": share,
        "lists": [
            {"column": name, **_list_document(each, confidence)} for name, each in zip(named, lists, strict=True)
        ],
        "coin_flip": _same_precision(share),
        "warnings": [f"{left_out} rows without a count or a half are left out"] if left_out else [],
    }


def _list_answers(table: FileTable, name: str, halves: tuple[Counts, Counts], items: int | None) -> ListAnswers:
    treated, control = halves
    found = ListAnswers(int(control.max()) if items is None else items, treated, control)
    if int(control.max()) > found.items or int(treated.max()) > found.items + 1:
        message = f"{table.file}, column '{name}': a count is larger than the number of items ({found.items})"
        raise SpecError(f"{message}; say how many there are without the sensitive one")
    return found


def _counts(table: FileTable, names: Sequence[str]) -> Counts:
    """Return the counts of a list, -1 where there is none; a question for each arm has counts in its own arm only."""
    known = [_counts_of(table, name) for name in names]
    if any(((one >= 0) & (other >= 0)).any() for one, other in combinations(known, 2)):
        raise SpecError(f"{table.file}: a row has counts in several of the columns {', '.join(names)}")
    merged: Counts = np.max(known, axis=0)
    return merged


def _counts_of(table: FileTable, name: str) -> Counts:
    """Return the counts of a column, -1 where there is none."""
    column = table.columns.get(name)
    if column is None:
        raise SpecError(f"{table.file} has no column '{name}'; it has: {', '.join(table.columns)}")
    read = []
    for text, row in zip(column.values, column.firsts, strict=True):
        if not text.isascii() or not text.isdigit() or int(text[:6]) > MOST_ITEMS + 1:
            raise SpecError(f"{table.place(name, row)}: must be a number of items, from 0 to {MOST_ITEMS + 1}")
        read.append(int(text))
    return np.array([*read, -1], np.int64)[column.rows]


def _halves(table: FileTable, arm: str, treated: str) -> Counts:
    """Return 1 for people of the treated half, 0 for the others, -1 for neither."""
    column = table.columns.get(arm)
    if column is None:
        raise SpecError(f"{table.file} has no column '{arm}'; it has: {', '.join(table.columns)}")
    if len(column.values) != FEWEST or treated not in column.values:
        raise SpecError(f"{table.file}, column '{arm}': must have two values, one of them '{treated}'")
    return np.array([*(int(text == treated) for text in column.values), -1], np.int64)[column.rows]


def _difference(treated: NDArray[Any], control: NDArray[Any], confidence: float) -> Document:
    error = math.sqrt(float(treated.var(ddof=1)) / len(treated) + float(control.var(ddof=1)) / len(control))
    raw, half = float(treated.mean() - control.mean()), normal_quantile(confidence) * error
    low, high = (min(max(end, 0.0), 1.0) for end in (raw - half, raw + half))
    return {"raw": raw, "shown": min(max(raw, 0.0), 1.0), "std_error": error, "low": low, "high": high}


def _list_document(answers: ListAnswers, confidence: float) -> Document:
    halves = {"treated": answers.treated, "control": answers.control}
    shares = list(_joint_shares(answers))
    return {
        "items": answers.items,
        "means": [
            {"half": name, "n": len(each), "mean": float(each.mean()),
             "std_error": math.sqrt(float(each.var(ddof=1)) / len(each))}
            for name, each in halves.items()
        ],
        "share": _difference(answers.treated, answers.control, confidence),
        "floor": float((answers.control == 0).mean()),
        "ceiling": float((answers.control == answers.items).mean()),
        "joint": shares,
        "p": min(1.0, len(shares) * min(each["p"] for each in shares)),
    }  # fmt: skip


def _joint_shares(answers: ListAnswers) -> Iterator[Document]:
    """Yield P(y, yes) and P(y, no) with the p value of a one-sided test that it is not below 0."""
    for y in range(answers.items + 1):
        below, under, at_most = (
            _share(answers.control <= y - 1), _share(answers.control <= y), _share(answers.treated <= y)
        )  # fmt: skip
        for answer, (plus, minus) in (("yes", (under, at_most)), ("no", (at_most, below))):
            share, error = plus[0] - minus[0], math.hypot(plus[1], minus[1])
            p = NormalDist().cdf(share / error) if error else float(share >= 0)
            yield {"items": y, "answer": answer, "share": share, "std_error": error, "p": p}


def _share(rows: NDArray[np.bool_]) -> tuple[float, float]:
    share = float(rows.mean())
    return share, math.sqrt(share * (1 - share) / len(rows))


def _same_precision(share: Document) -> int | None:
    """Return the people whose coin flips would give the same standard error; None without one."""
    yes = 0.25 + 0.5 * share["shown"]
    return math.ceil(yes * (1 - yes) / (share["std_error"] / 2) ** 2) if share["std_error"] else None
