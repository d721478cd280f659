"""Write results of analyses as JSON: sottovoce-crosstab/1, -comparison/1, -pairs/1, -test/1 and -weights/1.

``n`` is always the number of reports that carry all variables of the figures in the same object, never the number of
reports of the survey. Infinite, unbounded and suppressed values are null.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from sottovoce.aggregator.analysis.one_sample_test import OneSampleTest
from sottovoce.aggregator.analysis.regression.marginal_effects import Prediction
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.selection import ALL
from sottovoce.aggregator.analysis.tables.all_pairs import AllPairs
from sottovoce.aggregator.analysis.tables.crosstab import Compared, Crosstab, Measures, Stratified
from sottovoce.aggregator.analysis.weights import Weights
from sottovoce.aggregator.estimators import Estimate
from sottovoce.shared.errors import Sentence

CROSSTAB = "sottovoce-crosstab/1"
COMPARISON = "sottovoce-comparison/1"
PAIRS = "sottovoce-pairs/1"
TEST = "sottovoce-test/1"
WEIGHTS = "sottovoce-weights/1"

COUNTS_ALONE = "counts"
"""The file in a document that was estimated from counts without a file."""

MEASURES = Measures._fields
"""Keys of a table of two by two, in the order in which they are shown."""

RINGS = (
    "a cell is further below 0 than randomization can explain: reports may be forged, or were not made by this "
    "survey's program"
)

UNEVEN = (
    "the options that devices draw were not drawn equally often: reports may be forged, or were not made by this "
    "survey's program"
)
OF_CELL, OF_GROUP = "{row}, {column}: {note}", "{group}: {note}"

RARE = 0.00135
"""Threshold for p values: chance alone goes below it once in 740 tables, as in the test for implausible cells."""

Document = dict[str, Any]


def crosstab_document(found: Crosstab | Stratified) -> Document:
    """Return the document of a table, or of one table for each category of a third variable."""
    if isinstance(found, Crosstab):
        return {"format": CROSSTAB, **_table(found)}
    return {
        "format": CROSSTAB,
        "within": found.within,
        "tables": [{"category": category, **_table(table)} for category, table in found.tables.items()],
        "independence": found.independence and found.independence._asdict(),
        "warnings": [],
    }


def comparison_document(found: Compared) -> Document:
    """Return the document of a group comparison: the groups' values, and their differences from the first group."""
    first, *later = found.group_names
    values = zip(found.group_names, found.values, strict=True)
    notes = (Sentence(OF_GROUP, group=group, note=note) for group, value in values for note in value.warnings)
    return {
        "format": COMPARISON,
        "outcome": found.outcome,
        "category": found.category or None,
        "groups": found.groups,
        "n": max(each.n_pair for each in (*found.values, *found.differences)),
        "values": _named("group", found.group_names, found.values),
        "differences": _named("group", later, found.differences, {"from": first}),
        **({"ratios": _named("group", later, found.ratios, {"from": first})} if found.ratios else {}),
        "independence": found.independence and found.independence._asdict(),
        "deff": found.values[0].deff,
        "warnings": [*found.warnings, *notes],
        **_people(found.people, "group", found.group_names, found.declined),
    }


def _named(
    place: str, names: Sequence[str], results: Sequence[Result], more: Mapping[str, str] | None = None
) -> list[Document]:
    return [{place: name, **(more or {}), **_figures(each)} for name, each in zip(names, results, strict=False)]


def pairs_document(found: AllPairs) -> Document:
    """Return the document of all pairs, sorted by p value."""
    # Researchers read from the top, so the strongest evidence comes first.
    return {
        "format": PAIRS,
        "reports": found.reports,
        "possible": found.possible,
        "pairs": [
            {"first": test.first, "second": test.second, "n": test.n, **test.independence._asdict(), "q": test.q}
            for test in sorted(found.tests, key=lambda test: test.independence.p)
        ],
        "warnings": list(found.warnings),
    }


def test_document(found: OneSampleTest) -> Document:
    """Return the document of a test of known values, with the estimate of each."""
    return {
        "format": TEST,
        "question": found.variable,
        "n": found.n,
        "values": [
            {"category": one.category or None, "known": one.known, **_figures(one.estimate)} for one in found.values
        ],
        "statistic": found.statistic,
        "df": found.df,
        "p": found.p,
        "method": found.method,
        "warnings": list(found.warnings),
        **({} if found.people == ALL else {"people": found.people}),
    }


def predictions_document(
    people: Sequence[Mapping[str, str | float]], found: Sequence[Sequence[Prediction]]
) -> dict[str, list[Document]]:
    """Return the predictions part of a regression document, from predictor values and the predictions of each row."""
    return {
        "predictions": [
            {"at": dict(row), **({} if one.category is None else {"category": one.category}), **_interval(one)}
            for row, predictions in zip(people, found, strict=True)
            for one in predictions
        ]
    }


def _interval(one: Prediction | Result) -> dict[str, float | None]:
    return {name: _number(value) for name, value in (("estimate", one.estimate), ("low", one.low), ("high", one.high))}


def weights_document(found: Weights) -> Document:
    """Return the design effect and range of weights; the weights themselves are exported to a separate file."""
    return {
        "format": WEIGHTS,
        "n": len(found.weights),
        "deff": found.deff,
        "effective_n": len(found.weights) / found.deff,
        "smallest": float(found.weights.min()),
        "largest": float(found.weights.max()),
        "warnings": list(found.warnings),
    }


def _table(found: Crosstab) -> Document:
    alarm, measures = found.alarm, {} if found.measures is None else found.measures._asdict()
    rings = alarm is not None and alarm.statistic < alarm.limit
    places = [{"row": row, "column": column} for row in found.row_categories for column in found.column_categories]
    cells = [*zip(places, chain(*found.cells), strict=True)]
    notes = (Sentence(OF_CELL, **place, note=note) for place, cell in cells for note in cell.warnings)
    uneven = [UNEVEN] if found.drawn_evenly is not None and found.drawn_evenly < RARE else []
    return {
        "rows": found.rows,
        "columns": found.columns,
        "row_categories": list(found.row_categories),
        "column_categories": list(found.column_categories),
        "n": found.n_pair,
        "table": [[_number(cell.raw) for cell in line] for line in found.cells],
        "cells": [{**place, **_figures(cell)} for place, cell in cells],
        "conditional": [
            {**place, **_figures(share)} for place, share in zip(places, chain(*found.conditional), strict=True)
        ],
        "independence": found.independence and found.independence._asdict(),
        **{name: _interval(value) for name, value in measures.items()},
        "alarm": None if alarm is None else {**alarm._asdict(), "rings": rings},
        "forged": found.forged._asdict(),
        "drawn_evenly": found.drawn_evenly,
        "deff": found.cells[0][0].deff,
        "warnings": [*found.warnings, *([RINGS] if rings else []), *uneven, *notes],
        **_people(found.people, "row", found.row_categories, found.declined),
    }


def _people(people: str, place: str, names: Sequence[str], declined: Sequence[Result]) -> Document:
    """Return the people whom shares describe and the shares of the others, by row or group; empty for all people."""
    if people == ALL:
        return {}
    return {"people": people, "declined": _named(place, names, declined)}


def _figures(found: Result | Estimate) -> dict[str, float | None]:
    shown = found.clipped if isinstance(found, Estimate) else found.estimate
    figures = {"raw": found.raw, "shown": shown, "std_error": found.std_error, "low": found.low, "high": found.high}
    return {name: _number(value) for name, value in figures.items()}


def _number(value: float | None) -> float | None:
    # JSON has no infinity and no NaN.
    return float(value) if value is not None and math.isfinite(value) else None
