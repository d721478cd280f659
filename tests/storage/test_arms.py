"""Random arms in both back ends: values of other arms are missing, counts are of each arm's own people."""

from datetime import UTC, datetime

import pytest
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.export.results_client.sources import StoredReports
from sottovoce.aggregator.storage import ReportBatch, Storage, StoragePlan
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.shared.parse_survey import parse_survey

from tests.storage.test_contract import identity
from tests.vectors.arms import two_arms

PEOPLE = 60
ASKED = parse_survey(two_arms(privacy={"release_batch": 1}))


def values(number: int) -> tuple[int | None, ...]:
    """Every third person is asked directly; all of them say yes, of the others every second report does."""
    direct = number % 3 == 0
    return number % 3, 1 if direct else None, None if direct else number % 2, 0 if direct else 1


@pytest.fixture
def store(store: Storage) -> Storage:
    stored = store.publish(ASKED)
    plan = StoragePlan(stored.key, ASKED.cohort, ASKED.release_batch, None, ASKED.masks)
    store.store([ReportBatch(plan, 0, identity(number), pack(values(number)), ()) for number in range(PEOPLE)])
    store.withdraw(plan, identity(0))
    store.close_survey(ASKED.name, 20_000)
    return store


def test_counts_are_of_each_arms_own_people(store: Storage) -> None:
    found = {each.question.name: each for each in analyse(revisions_of(store, ASKED.name)).questions}
    assert {name: each.tally for name, each in found.items() if name != "year"} == {
        "cheated_direct": {1: 19}, "cheated": {0: 20, 1: 20}, "arm": {0: 19, 1: 40}
    }  # fmt: skip
    assert wrong_counts(store) == []


def test_two_questions_of_two_arms_are_compared(store: Storage) -> None:
    """The analysis reads the rows, of which none has a value of another arm."""
    options = {"outcome": "cheated", "groups": "arm", "against": "cheated_direct"}
    found = StoredReports(store, ASKED.name, lambda: datetime.now(UTC)).answer("compare", options)
    assert [(each["group"], each["raw"]) for each in found["values"]] == [
        ("direct: cheated_direct", 1.0), ("protected: cheated", pytest.approx(0.5))
    ]  # fmt: skip
    assert found["n"] == PEOPLE - 1
