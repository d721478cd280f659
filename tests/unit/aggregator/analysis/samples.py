"""Reports whose figures are known, for tests of joint analyses."""

from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.tables.pair_moments import Joint, count_pairs, joint
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.variable import Variable

from tests.documents import number, one_of, parsed, question
from tests.surveys import survey

Z = 1.959963984540054
"""The normal quantile of 95 %."""

WARNER = {"name": "warner", "truth": "2/3"}
COIN = {"name": "coin_flip"}
MASKS = (3, 5, 6, 9, 10, 12)
"""All sets of two of four options."""


def variable(document: dict[str, Any]) -> Variable:
    return variables_of(parsed(document))[0]


def public(document: dict[str, Any]) -> dict[str, Any]:
    return {**{key: value for key, value in document.items() if key != "mechanism"}, "public": True}


coin = variable(question(COIN))
warner = variable(question(WARNER))
openly = variable(public(question(COIN)))
kary = variable(one_of(3, {"name": "kary_rr", "odds": "3"}))
subset = variable(one_of(4, {"name": "subset_selection", "odds": "3", "size": 2}))
geometric = variable(number(0, 10, 1, {"name": "geometric", "ratio": "4/5"}))


def reported(counts: Any) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(counts)
    rows, columns = (np.repeat(index.ravel(), table.ravel()).astype(np.uint8) for index in np.indices(table.shape))
    return rows, columns


def pair(first: Variable, second: Variable, counts: Any) -> Joint:
    columns = reported(counts)
    return joint([count_pairs(first, second, columns)], len(columns[0]))


def masks_by_coin() -> Joint:
    """600 and more sets of two of four options, by a coin's answer."""
    no, yes = ([60 + 7 * i for i in range(6)], [40 + 5 * (i * i % 4) for i in range(6)])
    first = np.repeat(np.array(MASKS * 2), no + yes).astype(np.uint8)
    second = np.repeat([0, 1], [sum(no), sum(yes)]).astype(np.uint8)
    return joint([count_pairs(subset, coin, (first, second))], len(first))


def asked(*documents: dict[str, Any], **more: Any) -> Any:
    return survey(questions=[{**each, "name": name} for each, name in zip(documents, "abcdef", strict=False)], **more)


def columns(counts: Any, *documents: dict[str, Any], **more: Any) -> Columns:
    """So many reports of each pair of values of two questions, coins unless others are given."""
    return of_values(reported(counts), *(documents or [question(COIN)] * 2), **more)


def of_values(values: Any, *documents: dict[str, Any], **more: Any) -> Columns:
    return Columns.from_arrays(asked(*documents, **more), dict(zip("abcdef", values, strict=False)))
