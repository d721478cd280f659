"""A model that takes long on any machine: 36 coefficients without a finite maximum, of 40,000 reports."""

import os
from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import Request, parse_request
from sottovoce.aggregator.storage import ReportBatch, Storage, StoragePlan
from sottovoce.aggregator.storage.models import ID
from sottovoce.shared.spec import Survey

from tests.documents import one_of, question
from tests.exported import TODAY
from tests.surveys import survey
from tests.unit.aggregator.analysis.samples import COIN, public

REPORTS = 40_000
CATEGORIES = {"answer": 3, "a": 6, "b": 6, "c": 5, "d": 2, "e": 2, "f": 2}
LONG: dict[str, Any] = {"outcome": "answer", "on": ["a", "b", "c", "d", "e", "f"]}
"""Options of its request."""


def asked() -> Request:
    return parse_request("regression", LONG)


def long_survey(name: str = "long") -> Survey:
    """A question of three categories, of which nobody has the last, and six public ones."""
    documents = {"answer": one_of(3, {"name": "kary_rr", "odds": "3"})}
    for each, categories in list(CATEGORIES.items())[1:]:
        documents[each] = public(one_of(categories, COIN) if categories > 2 else question(COIN))
    return survey(name=name, questions=[{**document, "name": each} for each, document in documents.items()])


def reported(reports: int = REPORTS) -> dict[str, np.ndarray]:
    generator = np.random.Generator(np.random.PCG64(1))
    found = {name: generator.integers(0, categories, reports) for name, categories in CATEGORIES.items()}
    truth, chance = generator.integers(0, 2, reports), generator.random(reports)
    found["answer"] = np.where(chance < 0.6, truth, np.where(chance < 0.8, (truth + 1) % 3, (truth + 2) % 3))
    return {name: values.astype(np.uint8) for name, values in found.items()}


def long_columns(reports: int = REPORTS) -> Columns:
    return Columns.from_arrays(long_survey(), reported(reports))


def publish_long(storage: Storage) -> None:
    key = storage.publish(long_survey()).key
    packed = np.column_stack([np.ones(REPORTS, np.uint8), *reported().values()])
    storage.store([ReportBatch(StoragePlan(key, None, 25, None, {}), 0, os.urandom(ID * REPORTS), packed.tobytes())])
    storage.close_survey("long", TODAY)
