"""The reports of the worked examples as columns of a survey, as a driver reads them."""

from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, survey
from tests.unit.aggregator.analysis.reports import GROUP, MASKS, OTHER, ROW, SAID, masks, noisy_numbers, ratings

NULL = 0xFFFFFFFF
COIN = {"name": "coin_flip"}
ODDS_3 = {"name": "kary_rr", "odds": "3"}


def asked(name: str, kind: str, mechanism: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    treatment = {"public": True} if mechanism is None else {"mechanism": mechanism}
    return {"type": kind, "name": name, "label": {"en": name}, **treatment, **more}


QUESTIONS = [
    asked("said", "boolean", COIN),
    asked("other", "boolean", COIN),
    asked("x", "decimal", None, min="-2", max="2", step="0.04"),
    asked("g", "boolean", None),
    asked("third", "select_one", None, choices=names(3)),
    asked("hundred", "select_one", None, choices=names(100, "h")),
    asked("choice", "select_one", {"name": "subset_selection", "odds": "3", "size": 2}, choices=names(4)),
    asked("rating", "rating", ODDS_3, choices=names(4, "r")),
    asked("noisy", "integer", {"name": "geometric", "ratio": "4/5"}, min=0, max=10),
    asked("rounded", "integer", {"name": "rounding_rr", "a": "3/4", "b": "1/4"}, min=0, max=10),
    asked("drawn", "select_multiple", {"name": "sampled_option", "a": "3/4", "b": "1/4"}, choices=names(2)),
]
REPORTED = {
    "said": SAID,
    "other": OTHER,
    "x": 37 * ROW % 101,
    "g": GROUP,
    "third": ROW % 3,
    "hundred": ROW // 6,
    "choice": np.array(MASKS)[masks()],
    "rating": ratings(),
    "noisy": noisy_numbers()[1],
    "rounded": ROW % 2,
    "drawn": ROW % 4,
}


def reports(count: int = 600, more: dict[str, Any] | None = None, **changed: np.ndarray) -> Columns:
    """The first ``count`` reports of the worked examples; ``changed`` are columns in the place of others."""
    values = {name: column[:count].astype(np.uint32) for name, column in {**REPORTED, **changed}.items()}
    newest = parse_survey(survey(*QUESTIONS, **(more or {})))
    return Columns((newest,), values, np.zeros(count, np.uint8), np.zeros(count, np.uint8))
