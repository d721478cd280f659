"""An id that was signed is good for one report of its survey, whichever of its revisions the report is for."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sottovoce.aggregator.storage import Outcome, ReportBatch, Storage
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.shared.errors import StorageError

from tests import postgres
from tests.invited import blind_survey
from tests.storage.test_contract import arrival, identity
from tests.surveys import survey

DAY = 20_600
REPORTS = 40


def signed(key: int, number: int, values: tuple[int | None, ...] = (1, 2, 0)) -> ReportBatch:
    """A report under an id that the aggregator has signed."""
    found = arrival(key, number, values)
    return replace(found, plan=replace(found.plan, signed=True))


def two(store: Storage) -> tuple[int, int]:
    first = store.publish(blind_survey())
    return first.key, store.publish(blind_survey(revision=2, replaces=first.digest)).key


def told(store: Storage, *arrivals: ReportBatch) -> Sequence[Outcome]:
    """What becomes of reports that come one after the other."""
    return [outcome for each in arrivals for outcome in store.store([each])]


def test_report_for_another_revision_under_the_same_id_is_another_body(store: Storage) -> None:
    """Whichever came first, settled or not; of a group one goes in, and copies get the receipt they got."""
    first, second = two(store)

    assert told(store, signed(first, 1), signed(second, 1), signed(first, 1)) == [
        Outcome.NEW, Outcome.CONFLICT, Outcome.SAME
    ]  # fmt: skip
    assert told(store, signed(second, 2), signed(first, 2)) == [Outcome.NEW, Outcome.CONFLICT]
    assert store.store([signed(first, 3), signed(second, 3), signed(second, 4)]) == [
        Outcome.NEW, Outcome.CONFLICT, Outcome.NEW
    ]  # fmt: skip
    store.scrub()
    assert told(store, signed(second, 1), signed(first, 4)) == [Outcome.CONFLICT] * 2
    assert [row.reports for row in store.revisions("exam")] == [2, 2]
    assert wrong_counts(store) == []


def test_withdrawn_report_is_not_sent_for_another_revision(store: Storage) -> None:
    first, second = two(store)
    told(store, signed(first, 1))
    store.withdraw(signed(first, 1).plan, identity(1))

    assert told(store, signed(second, 1)) == [Outcome.WITHDRAWN]


def test_what_is_not_signed_has_an_id_for_each_revision(store: Storage) -> None:
    """A survey that is open to all asks no more of an id than that it is new: its device answers one of them."""
    first = store.publish(survey())
    second = store.publish(survey(revision=2, replaces=first.digest))

    assert told(store, arrival(first.key, 1), arrival(second.key, 1)) == [Outcome.NEW] * 2


def test_ids_are_not_forgotten_while_a_correction_takes_reports(store: Storage) -> None:
    """Nor does a correction follow once they are: whoever has reported could report again."""
    first, second = two(store)
    store.close_survey("exam", DAY)
    third = store.publish(blind_survey(revision=3, replaces=store.revisions("exam")[-1].digest)).key
    store.purge(first)
    assert not store.revisions("exam")[0].purged
    store.close_survey("exam", DAY + 5)
    store.purge(first)
    assert [row.purged for row in store.revisions("exam")] == [True, False, False]
    with pytest.raises(StorageError, match="could report again"):
        store.publish(blind_survey(revision=4, replaces=store.revisions("exam")[-1].digest))
    assert (second, third) == tuple(row.key for row in store.revisions("exam")[1:])


def test_of_two_nodes_and_two_revisions_one_stores_the_report() -> None:
    """However closely they come, and though the correction is published meanwhile."""
    url = postgres.with_tables()
    nodes = [PostgresStorage(url), PostgresStorage(url)]
    try:
        first = nodes[0].publish(blind_survey())
        alone = nodes[0].store([signed(first.key, 0)])
        with ThreadPoolExecutor(3) as pool:
            early = [pool.submit(nodes[0].store, [signed(first.key, number)]) for number in range(REPORTS)]
            second = nodes[1].publish(blind_survey(revision=2, replaces=first.digest))
            late = [pool.submit(nodes[1].store, [signed(second.key, number)]) for number in range(REPORTS)]
            pairs = [(one.result(60)[0], other.result(60)[0]) for one, other in zip(early, late, strict=True)]
        together = sum(row.reports for row in nodes[0].revisions("exam"))
    finally:
        for node in nodes:
            node.close()

    assert alone == [Outcome.NEW]
    assert together == REPORTS
    assert pairs[0] == (Outcome.SAME, Outcome.CONFLICT)
    assert {frozenset(pair) for pair in pairs[1:]} == {frozenset([Outcome.NEW, Outcome.CONFLICT])}
