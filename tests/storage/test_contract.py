"""What every storage back end must do; run over all of them."""

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sottovoce.aggregator.storage import Outcome, ReportBatch, Storage, StoragePlan, TokenBatch, TokenCounts
from sottovoce.aggregator.storage.accounts.models import AccountInvitation, BoardView
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.pack_values import pack, unpack
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.reports import batch_columns
from sottovoce.aggregator.storage.reports.batch_columns import (
    NO_COHORT,
    change,
    count,
    matrix,
    merge,
    report_ids,
    split,
    tallies,
    tally,
)
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage.table_catalogue import TABLES
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.shared.errors import StorageError

from tests import postgres
from tests.recount import recount
from tests.surveys import survey

BACK_ENDS: dict[str, Callable[[Path], Storage]] = {
    "sqlite": lambda path: SQLiteStorage(path / "db.sqlite"),
    "postgres": lambda _: PostgresStorage(postgres.with_tables()),
}


@cache
def plan(key: int, batch: int = 25, tokens: int | None = None) -> StoragePlan:
    return StoragePlan(key, 2, batch, tokens, survey().masks)


def arrival(
    key: int, number: int, values: tuple[int | None, ...] = (1, 2, 0), token: bytes | None = None
) -> ReportBatch:
    """An admitted report with an id made from a number; with a token's hash if the survey asks for one."""
    tokens = () if token is None else (token,)
    return ReportBatch(plan(key, tokens=key if tokens else None), 0, identity(number), pack(values), tokens)


def identity(number: int) -> bytes:
    return hashlib.sha256(b"%d" % number).digest()[:16]


def test_publish_twice_changes_nothing(store: Storage) -> None:
    assert store.publish(survey()) == store.publish(survey())
    assert len(store.surveys()) == 1


def test_publish_refuses_another_text_under_the_same_revision(store: Storage) -> None:
    """A published survey cannot change; a correction is a higher revision."""
    store.publish(survey())
    with pytest.raises(StorageError, match="later revision"):
        store.publish(survey(title={"en": "Changed"}))
    store.publish(survey(title={"en": "Changed"}, revision=2))

    assert [row.revision for row in store.revisions("exam")] == [1, 2]


def test_publish_refuses_smaller_steps_than_before(store: Storage) -> None:
    """Who has answered was told how many reports results move by; a correction may only raise that."""
    for revision, batch in ((1, 10), (2, 25), (3, 25)):
        store.publish(survey(revision=revision, privacy={"release_batch": batch}))
    with pytest.raises(StorageError, match="raise release_batch"):
        store.publish(survey(revision=4, privacy={"release_batch": 24}))

    assert [row.revision for row in store.revisions("exam")] == [1, 2, 3]


def test_store_classifies_new_same_and_conflict_also_within_a_group(store: Storage) -> None:
    key = store.publish(survey()).key
    group = [arrival(key, 1), arrival(key, 1), arrival(key, 1, (0, 2, 0)), arrival(key, 2)]

    assert store.store(group) == [Outcome.NEW, Outcome.SAME, Outcome.CONFLICT, Outcome.NEW]
    found = store.find_report(key, identity(1))
    assert found.values == (1, 2, 0)
    assert store.surveys()[0].reports == 2


def test_store_counts_64_parallel_copies_once(store: Storage) -> None:
    key = store.publish(survey()).key
    barrier = threading.Barrier(16)

    def send(_: int) -> Outcome:
        barrier.wait()
        return store.store([arrival(key, 7)])[0]

    with ThreadPoolExecutor(16) as pool:
        outcomes = list(pool.map(send, range(64)))

    assert outcomes.count(Outcome.NEW) == 1
    assert set(outcomes) == {Outcome.NEW, Outcome.SAME}
    assert store.live_counts(key) == {0: {1: 1}, 1: {2: 1}, 2: {0: 1}}


def test_store_keeps_counts_equal_to_a_recount(store: Storage) -> None:
    key = store.publish(survey()).key
    store.store([arrival(key, number, (number % 2, number % 3, number % 5 % 2)) for number in range(97)])

    assert store.live_counts(key) == recount(store, store.surveys()[0])
    assert sum(store.live_counts(key)[0].values()) == 97


@pytest.mark.parametrize("number", [1, 40, 400])
def test_store_keeps_what_was_not_asked(store: Storage, number: int) -> None:
    """A null is stored as null and counted nowhere, one by one or copied in bulk; a copy knows its report again."""
    key = store.publish(survey(ask=1)).key
    some: list[tuple[int | None, ...]] = [(1, None, 0), (None, 2, 1)]
    group = [ReportBatch(plan(key), 0, identity(each), pack(some[each % 2])) for each in range(number)]

    assert set(store.store(group)) == {Outcome.NEW}
    assert set(store.store(group)) == {Outcome.SAME}
    assert store.live_counts(key) == recount(store, store.surveys()[0])
    assert sum(store.live_counts(key)[0].values()) == (number + 1) // 2
    assert sorted(store.rows(key), key=repr) == sorted((unpack(each.packed) for each in group), key=repr)
    assert store.withdraw(plan(key), identity(0)) is Outcome.WITHDRAWN
    assert store.live_counts(key) == recount(store, store.surveys()[0])


def test_cells_move_only_when_a_batch_has_come(store: Storage) -> None:
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(24)])
    assert all(cell.reports == 0 for cell in store.cells(key))
    store.store([arrival(key, 24)])
    shown = store.cells(key)
    for number in range(25, 49):
        store.store([arrival(key, number, (0, 0, 0))])
        assert store.cells(key) == shown
    store.store([arrival(key, 49)])

    assert store.cells(key) != shown
    assert {cell.cohort: cell.reports for cell in store.cells(key)} == {ALL: 50, 0: 50}


def test_cells_of_a_cohort_wait_for_their_own_batch(store: Storage) -> None:
    """A small cohort does not move with the others, and the whole is what the cohorts show."""
    key = store.publish(survey()).key
    for number in range(50):
        store.store([arrival(key, number) if number < 30 else arrival(key, number, (1, 1, 1))])
        # Whoever looks waits until this process shows what it has stored.
        store.cells(key)

    assert {cell.cohort: cell.reports for cell in store.cells(key)} == {ALL: 25, 0: 25}
    store.store([arrival(key, number, (1, 1, 1)) for number in range(50, 60)])
    assert {cell.cohort: cell.reports for cell in store.cells(key)} == {ALL: 55, 0: 25, 1: 30}
    assert store.cells(key)[0].tallies == {0: {1: 55}, 1: {2: 25, 1: 30}, 2: {0: 25, 1: 30}}


def test_close_shows_everything_and_admits_nothing(store: Storage) -> None:
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(3)])
    store.close_survey("exam", 20_000)

    assert {cell.cohort: cell.reports for cell in store.cells(key)} == {ALL: 3, 0: 3}
    assert store.store([arrival(key, 9), arrival(key, 1)]) == [Outcome.CLOSED, Outcome.SAME]
    assert store.surveys()[0].closed


def test_rows_come_in_no_order_of_arrival(store: Storage) -> None:
    """Reports are read back by their random ids."""
    key = store.publish(survey()).key
    numbers = list(range(80))
    for number in numbers:
        store.store([arrival(key, number, (number % 2, 0, 0))])

    assert [values[0] for values in store.rows(key)] != [number % 2 for number in numbers]


def test_rows_come_with_their_wave(store: Storage) -> None:
    """In the order of their ids, whatever wave they are of."""
    key = store.publish(survey()).key
    arrivals = [replace(arrival(key, number, (number % 2, 0, 1)), wave=number % 3) for number in range(50)]
    store.store(arrivals)

    written = sorted(arrivals, key=lambda each: each.report_ids)
    found = [row for chunk in store.packed_by_wave(key) for row in chunk]
    assert [(wave, bytes(packed)) for wave, packed in found] == [(each.wave, each.packed) for each in written]


def test_batch_of_tokens_is_made_once(store: Storage) -> None:
    """Of four such requests at the same moment; and another one is made beside it."""
    key = store.publish(survey(access="token")).key
    batch = TokenBatch(key, "exam", [bytes([number]) * 32 for number in range(3)], "request", "body")
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(store.add_tokens_once, [batch] * 4)) == ["body"] * 4
    assert store.add_tokens_once(batch._replace(body="another", hashes=[b"9" * 32])) == "body"
    assert store.token_counts(key) == TokenCounts(3, 0, 0, 3)
    store.revoke_tokens(key, batch.hashes)
    store.add_tokens_once(batch)

    assert store.add_tokens_once(batch._replace(request="req", body="another", hashes=[b"9" * 32])) == "another"
    assert store.token_counts(key) == TokenCounts(4, 0, 3, 1)
    assert store.verify() == []


def test_store_of_a_mixed_group_equals_one_by_one(store: Storage) -> None:
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(5)])
    assert store.withdraw(plan(key), identity(0)) is Outcome.WITHDRAWN
    group = [arrival(key, 0), arrival(key, 1), arrival(key, 2, (0, 0, 0)), arrival(key, 7), arrival(key, 7)]

    assert store.store(group) == [Outcome.WITHDRAWN, Outcome.SAME, Outcome.CONFLICT, Outcome.NEW, Outcome.SAME]
    assert store.live_counts(key) == recount(store, store.surveys()[0]) == {0: {1: 5}, 1: {2: 5}, 2: {0: 5}}


def test_large_mixed_group_of_two_surveys_is_told_apart_by_a_few_look_ups(store: Storage) -> None:
    """More ids than one look-up takes, of an open survey and a closed one, with copies, conflicts and spent tokens."""
    key = store.publish(survey()).key
    closed = store.publish(survey(name="closed")).key
    tokens = [hashlib.sha256(b"token %d" % number).digest() for number in range(600)]
    store.add_tokens(key, tokens)
    store.store([arrival(key, number) for number in range(0, 1200, 3)] + [arrival(closed, 0)])
    store.withdraw(plan(key), identity(0))
    store.close_survey("closed", 20_000)
    fresh = [arrival(key, number) for number in range(1200)]
    changed = [arrival(key, 3, (0, 0, 0)), arrival(key, 1, (0, 0, 0)), arrival(key, 1)]
    late = [arrival(closed, 0), arrival(closed, 1)]
    spending = [arrival(key, 2000 + number, token=tokens[number % 600]) for number in range(700)]

    outcomes = store.store([*fresh, *changed, *late, *spending])
    expected = [Outcome.SAME if number % 3 == 0 else Outcome.NEW for number in range(1200)]
    expected[0] = Outcome.WITHDRAWN
    expected += [Outcome.CONFLICT, Outcome.CONFLICT, Outcome.SAME, Outcome.SAME, Outcome.CLOSED]
    assert outcomes == expected + [Outcome.NEW] * 600 + [Outcome.TOKEN_INVALID] * 100
    assert store.token_counts(key) == (600, 600, 0, 0, 0, None)
    open_survey = next(stored for stored in store.surveys() if stored.key == key)
    assert open_survey.reports == 1199 + 600
    assert store.live_counts(key) == recount(store, open_survey)


def test_withdraw_counts_down_everywhere_and_answers_the_same_again(store: Storage) -> None:
    key = store.publish(survey()).key
    store.store([arrival(key, number, (number % 2, 0, number % 2)) for number in range(30)])
    assert [store.withdraw(plan(key), identity(3)) for _ in range(2)] == [Outcome.WITHDRAWN] * 2

    assert store.withdraw(plan(key), identity(99)) is Outcome.UNKNOWN
    assert store.live_counts(key) == {0: {0: 15, 1: 14}, 1: {0: 29}, 2: {0: 15, 1: 14}}
    assert store.live_counts(key) == recount(store, store.surveys()[0])
    assert store.store([arrival(key, 3, (1, 0, 1))]) == [Outcome.WITHDRAWN]
    assert store.is_withdrawn(key, identity(3))
    assert store.find_report(key, identity(3)) is None
    store.close_survey("exam", 20_000)
    assert {cell.cohort: (cell.reports, cell.withdrawn) for cell in store.cells(key)} == {
        ALL: (29, 1), 0: (15, 0), 1: (14, 1),
    }  # fmt: skip
    assert store.withdraw(plan(key), identity(4)) is Outcome.CLOSED
    assert store.withdraw(plan(key), identity(3)) is Outcome.WITHDRAWN


def test_withdrawn_reports_id_is_in_no_row(store: Storage) -> None:
    """What stays refuses the id and does not name it."""
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(3)])
    store.withdraw(plan(key), identity(1))
    kept = [bytes(item) for row in store.export_table("tombstones") for item in row if not isinstance(item, int)]

    assert len(kept) == 1
    assert identity(1) not in kept[0]
    assert identity(1) not in {bytes(row[1]) for row in store.export_table("reports")}


def test_withdrawn_reports_values_are_in_no_row(store: Storage) -> None:
    """Once all is settled: no count of 0 keeps one, live or shown, also where results had shown it."""
    key = store.publish(survey()).key
    values = ["SELECT DISTINCT question, value FROM counts", "SELECT DISTINCT question, value FROM shown_counts"]

    def kept() -> list[list[tuple[int, int]]]:
        store.settle()
        return [sorted(tuple(row) for row in store.rows_of(query)) for query in values]

    store.store([arrival(key, 0, (1, 2, 0))])
    assert store.withdraw(plan(key), identity(0)) is Outcome.WITHDRAWN
    assert kept() == [[], []]

    store.store([arrival(key, number, (1, 2, 0)) for number in range(1, 26)])
    assert kept() == [[(0, 1), (1, 2), (2, 0)]] * 2
    for number in range(1, 26):
        assert store.withdraw(plan(key), identity(number)) is Outcome.WITHDRAWN
    store.store([arrival(key, number, (0, 1, 0)) for number in range(26, 77)])
    store.cells(key)
    assert kept() == [[(0, 0), (1, 1), (2, 0)]] * 2
    store.close_survey("exam", 20_000)
    assert kept() == [[(0, 0), (1, 1), (2, 0)]] * 2
    assert store.live_counts(key) == recount(store, store.surveys()[0])
    assert wrong_counts(store) == store.verify() == []
    assert wrong_counts(store) == store.verify() == []


def test_withdrawals_move_nothing_and_are_made_up_for_first(store: Storage) -> None:
    """A cell moves once it holds a batch more than it shows, however many have come and gone; pairs push nothing."""
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(25)])
    shown = store.cells(key)
    for number in range(25):
        store.withdraw(plan(key), identity(number))
        store.store([arrival(key, 100 + number)])
        assert store.withdraw(plan(key), identity(100 + number)) is Outcome.WITHDRAWN
        assert store.cells(key) == shown
    store.store([arrival(key, 200 + number, (0, 0, 0)) for number in range(49)])
    assert store.cells(key) == shown
    store.store([arrival(key, 300, (0, 0, 0))])

    assert {(cell.reports, cell.withdrawn) for cell in store.cells(key)} == {(50, 50)}
    assert {cell.tallies[0][0] for cell in store.cells(key)} == {50}
    assert all(1 not in cell.tallies[0] for cell in store.cells(key))


def test_only_the_first_close_shows_the_rest(store: Storage) -> None:
    """Who publishes and closes again does not see the few reports that came in between."""
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(3)])
    store.close_survey("exam", 20_000)
    later = store.publish(survey(revision=2)).key
    store.store([arrival(later, number) for number in range(24)])
    store.close_survey("exam", 20_001)

    assert [cell.reports for cell in store.cells(key)] == [cell.at_close for cell in store.cells(key)] == [3, 3]
    assert store.cells(later) == []
    assert [row.closed_on for row in store.revisions("exam")] == [20_000, 20_001]
    assert store.store([arrival(later, 30)]) == [Outcome.CLOSED]


def test_purge_forgets_ids_and_keeps_counts_and_values(store: Storage) -> None:
    key = store.publish(survey()).key
    store.store([arrival(key, number, (number % 2, 0, 0)) for number in range(40)])
    store.withdraw(plan(key), identity(0))
    store.add_tokens(key, [b"t" * 32])
    store.close_survey("exam", 20_000)
    before = store.live_counts(key), sorted(store.rows(key)), store.cells(key)
    store.purge(key)

    assert (store.live_counts(key), sorted(store.rows(key)), store.cells(key)) == before
    assert not any(store.find_report(key, identity(number)) for number in range(40))
    assert not store.is_withdrawn(key, identity(0))
    assert not store.has_token(key, b"t" * 32)
    assert store.surveys()[0].purged
    assert store.store([arrival(key, 1)]) == [Outcome.CLOSED]


def test_token_is_spent_by_one_report_and_no_other(store: Storage) -> None:
    key = store.publish(survey()).key
    good, other, gone = (bytes([number]) * 32 for number in range(3))
    store.add_tokens(key, [good, other, gone])
    assert store.revoke_tokens(key, [gone, b"x" * 32]) == 1
    group = [arrival(key, 1, token=good), arrival(key, 2, token=good), arrival(key, 3, token=gone)]

    assert store.store(group) == [Outcome.NEW, Outcome.TOKEN_INVALID, Outcome.TOKEN_INVALID]
    assert store.store([arrival(key, 1, token=good)]) == [Outcome.SAME]
    assert store.store([arrival(key, 1, (0, 0, 0), token=other)]) == [Outcome.CONFLICT]
    assert store.token_counts(key) == (3, 1, 1, 1, 0, None)
    assert store.store([arrival(key, 4, token=other)]) == [Outcome.NEW]
    assert store.token_counts(key) == (3, 2, 1, 0, 0, None)
    assert store.live_counts(key) == recount(store, store.surveys()[0])


@pytest.mark.parametrize("count", [40, pytest.param(10_000, marks=pytest.mark.slow)])
def test_tokens_redeemed_concurrently_count_once_each(store: Storage, count: int) -> None:
    key = store.publish(survey()).key
    tokens = [hashlib.sha256(b"token %d" % number).digest() for number in range(count)]
    kept = [hashlib.sha256(b"kept %d" % number).digest() for number in range(count)]
    store.add_tokens(key, tokens + kept)

    def redeem(attempt: int) -> int:
        group = [arrival(key, attempt * 10_000 + number, token=token) for number, token in enumerate(tokens)]
        return store.store(group[attempt:] + group[:attempt]).count(Outcome.NEW)

    with ThreadPoolExecutor(5) as pool:
        assert sum(pool.map(redeem, range(5))) == count
    assert store.token_counts(key) == (2 * count, count, 0, count, 0, None)
    assert len(list(store.rows(key))) == count
    assert store.live_counts(key) == recount(store, store.surveys()[0])
    rows, left = list(store.export_table("reports")), list(store.export_table("tokens"))
    assert {bytes(token) for _, token in left} == set(kept)
    # The survey's number is all that both tables have; nothing else of a report is in a token's row or made of it.
    of_tokens = {part for token in tokens + kept for part in (token, token[:16], hashlib.sha256(token).digest()[:16])}
    assert {tuple(row[:1]) for row in rows} == {tuple(row[:1]) for row in left} == {(key,)}
    assert {bytes(value) for row in rows for value in row[1:] if not isinstance(value, int)}.isdisjoint(of_tokens)
    assert {row[2] for row in rows} == {0}


@pytest.mark.parametrize("number", [1, 400])
def test_report_that_brings_no_token_is_refused_where_one_is_asked_for(store: Storage, number: int) -> None:
    """Also beside others that do bring theirs."""
    key = store.publish(survey()).key
    tokens = [hashlib.sha256(b"%d" % each).digest() for each in range(number)]
    store.add_tokens(key, tokens)
    without = replace(arrival(key, number), plan=plan(key, tokens=key))

    assert store.store([without]) == [Outcome.TOKEN_INVALID]
    group = [arrival(key, each, token=token) for each, token in enumerate(tokens)]
    assert store.store([*group, without]) == [Outcome.NEW] * number + [Outcome.TOKEN_INVALID]
    assert store.surveys()[0].reports == number
    assert store.token_counts(key).unspent == 0


def test_masks_are_counted_by_option(store: Storage) -> None:
    key = store.publish(survey()).key
    several = StoragePlan(key, None, 25, None, {1: 52, 2: 3})
    top = 1 << 51 | 1
    values = [(1, top, 0), (0, 1, 5), (0, None, 7)]
    reports = [arrival(key, number, each) for number, each in enumerate(values)]
    store.store([replace(report, plan=several) for report in reports])
    every = {0: 2, 1: 1, 2: 2, 3: 3}
    assert store.live_counts(key) == {0: {0: 2, 1: 1}, 1: {0: 2, 51: 1, 52: 2}, 2: every}
    store.withdraw(several, identity(0))

    assert store.live_counts(key) == {0: {0: 2}, 1: {0: 1, 52: 1}, 2: {0: 2, 1: 1, 2: 2, 3: 2}}


def test_nothing_is_wrong_with_a_fresh_database(store: Storage) -> None:
    store.check()
    store.scrub()

    assert store.verify() == []
    assert list(store.export_table("reports")) == []


@pytest.mark.parametrize("from_file", [True, False])
def test_copy_brings_every_row_of_every_table(store: Storage, tmp_path: Path, from_file: bool) -> None:
    other = SQLiteStorage(tmp_path / "other") if from_file else PostgresStorage(postgres.with_tables())
    key = other.publish(survey()).key
    wide = StoragePlan(key, None, 25, None, {1: 52})
    shapes = [(1, 2, 0), (None, 300, 1), (0, 1 << 51, None)]
    other.store([replace(arrival(key, number, shapes[number % 3]), plan=wide) for number in range(60)])
    other.withdraw(wide, identity(7))
    other.add_tokens(key, [hashlib.sha256(b"token").digest()])
    other.add_researcher("ada", hashlib.sha256(b"ada").digest())
    other.access.add_invitation(AccountInvitation(b"link", "exam", "viewer", None, 20_000))
    other.access.add_view(BoardView(b"view", "exam", "digest", True, 20_000))
    store.copy_from(other)

    for table in TABLES:
        assert [tuple(row) for row in store.export_table(table)] == [tuple(row) for row in other.export_table(table)]
    assert store.live_counts(key) == other.live_counts(key) != {}
    assert len(list(store.export_table("reports"))) == 59
    assert store.store([replace(arrival(key, 60), plan=wide)]) == [Outcome.NEW]
    other.close()


QUESTIONS = 3

VALUES = st.one_of(st.none(), st.integers(0, 3), st.sampled_from([253, 254, 255, 256, 65535, 2**32, 2**53 - 1]))

COHORTS = st.one_of(st.none(), st.integers(0, 2))

PLANS = [StoragePlan(1, 0, 25, None, {}), StoragePlan(2, None, 7, 2, {1: 53, 2: 9})]


def counted(plan: StoragePlan, question: int, value: int) -> list[int]:
    """What one reported value adds one to; bits beyond the options are nobody's."""
    options = plan.masks.get(question)
    return [value] if options is None else [*(bit for bit in range(options) if value >> bit & 1), options]


ARRIVALS = st.lists(
    st.builds(
        lambda plan, wave, report_id, values: ReportBatch(
            plan, wave, report_id, pack(values), () if plan.tokens is None else (report_id[::-1],)
        ),
        st.sampled_from(PLANS),
        st.integers(0, 1),
        st.binary(min_size=16, max_size=16),
        st.tuples(COHORTS, VALUES, VALUES),
    ),
    max_size=40,
)


@pytest.fixture(scope="module", params=[0, 128])
def small(request: pytest.FixtureRequest) -> Iterator[None]:
    """Reports up to which a group is sorted and counted without numpy: none, or all."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch_columns, "_SMALL", request.param)
        yield


@pytest.mark.usefixtures("small")
@given(ARRIVALS)
def test_merging_keeps_every_report_in_the_order_of_ids(arrivals: list[ReportBatch]) -> None:
    """Each is among its like, with its own token, and splitting gives the reports back."""
    merged = merge(arrivals)
    shapes = [(one.plan.survey, one.wave, one.size, one.packed[0]) for one in merged]
    reports = list(split(merged))

    assert shapes == sorted(set(shapes))
    assert sorted(reports, key=repr) == sorted(arrivals, key=repr)
    for one in merged:
        firsts = [report_id[:8] for _, report_id in report_ids([one])]
        assert firsts == sorted(firsts)
    assert list(split(merge(reports))) == reports
    assert count(merged) == len(arrivals)


@pytest.mark.usefixtures("small")
def test_merging_loses_no_report_whose_token_is_missing() -> None:
    """A group that lacks a token is stored in no part."""
    with pytest.raises((ValueError, IndexError)):
        merge([ReportBatch(PLANS[1], 0, bytes(15) + b"1" + bytes(16), pack([1, 0, 0]) * 2, (b"token",))])


@given(ARRIVALS)
def test_tallies_are_those_of_the_values_one_by_one(arrivals: list[ReportBatch]) -> None:
    """Column by column, masks bit by bit, nulls left out; each count is told once."""
    for one in merge(arrivals):
        expected = Counter(
            (question, key)
            for report in split([one])
            for question, value in enumerate(unpack(report.packed))
            if value is not None
            for key in counted(one.plan, question, value)
        )
        found = tallies(matrix(one.packed, len(one)), one.plan.masks).tolist()
        assert found == [[0, *key, number] for key, number in sorted(expected.items())]


@settings(deadline=None)
@given(st.integers(1, 52), st.data())
def test_masks_of_any_type_are_counted_bit_by_bit(options: int, data: st.DataObject) -> None:
    """Narrow and wide, signed and not, most or least significant byte first, every second of a larger array, none."""
    masks = data.draw(st.lists(st.integers(0, (1 << options) - 1), max_size=40))
    kinds = [kind for kind in ("u1", "<u2", ">u4", "<i8", ">u8") if 8 * np.dtype(kind).itemsize > options]
    array = np.array(masks, dtype=np.int64).astype(data.draw(st.sampled_from(kinds)))
    expected = Counter(bit for mask in masks for bit in range(options) if mask >> bit & 1)
    expected[options] = len(masks)

    assert tally(np.repeat(array, 2)[::2], options) == {key: number for key, number in expected.items() if number}


@given(st.lists(st.one_of(st.integers(0, 9), st.integers(0, 2**53)), max_size=40))
def test_values_are_counted_one_by_one(values: list[int]) -> None:
    assert tally(np.array(values, dtype=np.int64)) == Counter(values)


@pytest.mark.usefixtures("small")
@given(ARRIVALS)
def test_change_is_that_of_the_reports_one_by_one(arrivals: list[ReportBatch]) -> None:
    """Each report counts once, for its cohort or for none, for each of its questions what the mechanism counts."""
    cells: Counter[tuple[int, ...]] = Counter()
    counts: Counter[tuple[int, ...]] = Counter()
    for arrival in arrivals:
        plan, wave, values = arrival.plan, arrival.wave, unpack(arrival.packed)
        of = None if plan.cohort is None else values[plan.cohort]
        cohort = NO_COHORT if of is None else of
        cells[plan.survey, wave, cohort] += 1
        for question, value in enumerate(values):
            for key in () if value is None else counted(plan, question, value):
                counts[plan.survey, wave, cohort, question, key] += 1
    found = change(merge(arrivals))

    assert found.cells == [(*key, number) for key, number in sorted(cells.items())]
    assert found.counts == [(*key, number) for key, number in sorted(counts.items())]
    assert found.batches == {arrival.plan.survey: arrival.plan.release_batch for arrival in arrivals}


@given(
    st.lists(st.tuples(st.integers(0, 70_000) | st.just(2**53 - 1), st.integers(1, 5)), min_size=1, max_size=40),
    st.sampled_from([0, 17, 53]),
)
def test_values_that_stand_for_several_reports_are_counted_as_often(rows: list[tuple[int, int]], options: int) -> None:
    values, times = (
        np.array(column, dtype=kind) for column, kind in zip(zip(*rows, strict=True), ("u8", "u4"), strict=True)
    )

    assert tally(values, options, times) == tally(np.repeat(values, times), options)
