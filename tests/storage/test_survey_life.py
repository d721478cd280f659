"""Surveys are published, retired, closed, reopened and deleted: what stays, what goes, and what is remembered."""

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import psycopg
import pytest
from sottovoce.aggregator.analysis.availability import check_closed
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.analysis.report_columns import read_columns
from sottovoce.aggregator.storage import Outcome, ReportBatch, Storage
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage.table_catalogue import OF_SURVEYS
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.aggregator.surveys.lifecycle import reports_so_far
from sottovoce.shared.errors import EstimateError, StorageError

from tests import postgres
from tests.invited import blind_survey
from tests.recount import recount
from tests.storage.test_contract import arrival, identity, plan
from tests.storage.test_snapshots import planned
from tests.surveys import document, months, survey

HELD = bytes(31) + b"\1"
RELEASED = b"what a budget's ledger says of this survey\n"
MARK = "sentinel-of-this-survey"


def shown(store: Storage, key: int) -> dict[int, int]:
    return {cell.cohort: cell.reports for cell in store.cells(key)}


def test_changes_since_what_is_shown_are_counted_by_cell(store: Storage) -> None:
    key = store.publish(survey(waves=months(2))).key
    store.store([arrival(key, number, (1, 2, number % 2)) for number in range(60)])
    store.close_survey("exam", 1)
    assert store.changed_since_shown("exam") == 0

    store.reopen_survey("exam")
    store.store([arrival(key, 100 + number, (1, 2, 0)) for number in range(30)])
    assert (store.changed_since_shown("exam"), store.changed_since_shown("exam", 1)) == (1, 0)

    store.withdraw(plan(key), identity(1))
    store.close_survey("exam", 2)
    assert store.changed_since_shown("exam") == 2
    store.reopen_survey("exam")
    store.store([arrival(key, 200 + number, (1, 2, 1)) for number in range(26)])
    store.close_survey("exam", 3)
    assert store.changed_since_shown("exam") == 0


def test_question_that_public_answers_hid_counts_everyone_while_reopened(store: Storage) -> None:
    """Also after a later close that shows nothing: the reminders of both say so."""
    cheated, reason, year = document()["questions"]
    asked = {**cheated, "visible_if": {"year": "second"}, "when_absent": "no"}
    key = store.publish(survey(questions=[year, reason, asked])).key
    found = []
    for step, more in ((store.close_survey, 60), (store.reopen_survey, 0), (store.close_survey, 1)):
        store.store([arrival(key, len(found) * 100 + number, (number % 2, 2, 0)) for number in range(more)])
        step("exam", *[1] * (step == store.close_survey))
        found.append(analyse(revisions_of(store, "exam")).questions[2].n)
    assert found == [30, 60, 60]


def told(store: Storage) -> list[tuple[str, str]]:
    """What the record says, without numbers and days."""
    return [(line.what, line.about.split()[0]) for line in store.record()]


def test_record_remembers_each_step_and_every_line_follows_from_the_one_before(store: Storage) -> None:
    """Published with number and digest, retired, closed, reopened, deleted; a step that changes nothing adds none."""
    first, second = survey(), survey(revision=2, replaces=survey().digest)
    for one in (first, first, second):
        store.publish(one, retire=one is second)
    for _ in range(2):
        store.close_survey("exam", 1)
    for _ in range(2):
        store.reopen_survey("exam")
    store.delete_survey("exam")
    lines = store.record()

    assert [(line.number, line.what, line.about) for line in lines] == [
        (1, "published", f"exam 1 {first.digest}"), (2, "published", f"exam 2 {second.digest}"),
        (3, "retired", f"exam 1 {first.digest}"), (4, "closed", "exam"), (5, "reopened", "exam"),
        (6, "deleted", "exam"),
    ]  # fmt: skip
    assert [line.previous for line in lines] == [bytes(32), *(line.hash for line in lines[:-1])]
    assert store.verify() == []


@pytest.mark.parametrize(
    ("change", "line"),
    [("UPDATE record SET about = 'other' WHERE number = 2", 3), ("DELETE FROM record WHERE number = 2", 3),
     ("DELETE FROM record WHERE number = 1", 2), ("UPDATE record SET day = day + 1 WHERE number = 1", 2)],
)  # fmt: skip
def test_record_that_was_changed_is_found(store: Storage, change: str, line: int) -> None:
    store.publish(survey())
    store.close_survey("exam", 1)
    store.reopen_survey("exam")
    with store.write() as db:  # type: ignore[attr-defined]
        db.execute(change)

    assert store.verify() == [f"the record was changed before its line {line}"]


def test_survey_that_is_there_and_was_deleted_is_found(store: Storage) -> None:
    """As after rows were brought back by hand."""
    store.publish(survey())
    with store.write() as db:  # type: ignore[attr-defined]
        db.execute("UPDATE record SET what = 'deleted', about = 'exam'")

    assert store.verify() == [
        "exam revision 1 is there, and the record does not say that it was published",
        "the survey exam is there, and was deleted",
    ]


def test_retire_marks_every_earlier_revision(store: Storage) -> None:
    """Also later on, by publishing the same one again; what was drawn for them is still stored."""
    first = store.publish(survey())
    store.publish(survey(revision=2, replaces=first.digest))
    assert [row.retired for row in store.revisions("exam")] == [False, False]
    last = survey(revision=3, replaces=store.revisions("exam")[-1].digest)
    store.publish(last)
    store.publish(last, retire=True)

    assert [row.retired for row in store.revisions("exam")] == [True, True, False]
    assert store.store([arrival(first.key, 1)]) == [Outcome.NEW]


def test_publish_refuses_a_predecessor_that_is_not_the_newest(store: Storage) -> None:
    """Of two corrections of one revision, made at the same time on two nodes, one is refused."""
    first = store.publish(survey())
    store.publish(survey(revision=2, replaces=first.digest))
    with pytest.raises(StorageError, match="later revision"):
        store.publish(survey(revision=3, replaces=first.digest))

    assert [row.revision for row in store.revisions("exam")] == [1, 2]


@pytest.mark.parametrize(("day", "refused"), [("2027-04-01", True), (None, True), ("2027-03-31", False),
                                              ("2027-03-30", False)])  # fmt: skip
def test_publish_refuses_a_later_day_of_deletion(store: Storage, day: str | None, refused: bool) -> None:
    """Who has answered was told the day."""
    store.publish(survey(retention={"delete_on": "2027-03-31"}))
    correction = survey(revision=2, retention={"delete_on": day} if day else {})
    if refused:
        with pytest.raises(StorageError, match="not later"):
            store.publish(correction)
    else:
        store.publish(correction)


def test_total_is_what_the_results_add_up(store: Storage) -> None:
    key = store.publish(survey()).key

    def totals() -> tuple[int, int]:
        added_up = shown(store, key)[ALL]
        return reports_so_far(store.revisions("exam")[-1]), added_up

    store.store([arrival(key, number, (1, 2, number % 2)) for number in range(62)])
    assert totals() == (62, 62)
    store.store([arrival(key, 100, (1, 2, 0))])
    assert totals() == (62, 62)
    store.close_survey("exam", 1)
    assert totals() == (63, 63)
    store.reopen_survey("exam")
    assert totals() == (63, 63)


def test_reopened_survey_moves_at_a_close_only_and_by_a_batch(store: Storage) -> None:
    key = store.publish(survey()).key
    store.store([arrival(key, number) for number in range(30)])
    store.close_survey("exam", 1)
    assert store.store([arrival(key, 30)]) == [Outcome.CLOSED]
    store.reopen_survey("exam")
    assert shown(store, key) == {ALL: 30, 0: 30}
    assert store.store([arrival(key, number) for number in range(30, 54)]) == [Outcome.NEW] * 24
    store.close_survey("exam", 2)
    assert shown(store, key) == {ALL: 30, 0: 30}
    store.reopen_survey("exam")
    store.store([arrival(key, number) for number in range(54, 90)])
    store.show_grown({key: 25})
    assert shown(store, key) == {ALL: 30, 0: 30}
    store.close_survey("exam", 3)

    assert shown(store, key) == {ALL: 90, 0: 90}
    assert store.live_counts(key) == recount(store, store.surveys()[0])


def test_reopening_ends_with_the_forgetting_of_ids(store: Storage) -> None:
    """A report that comes again would count twice."""
    key = store.publish(survey()).key
    store.close_survey("exam", 1)
    store.purge(key)
    with pytest.raises(StorageError, match="forgotten"):
        store.reopen_survey("exam")
    with pytest.raises(StorageError, match="no survey"):
        store.reopen_survey("other")

    assert store.surveys()[0].closed


def test_purge_leaves_a_survey_that_was_reopened(store: Storage) -> None:
    """Whoever saw that it is due may be late."""
    key = store.publish(survey()).key
    store.store([arrival(key, 1)])
    store.purge(key)

    assert store.find_report(key, identity(1)) is not None
    assert not store.surveys()[0].purged


def test_purge_of_a_revision_leaves_the_tokens_that_a_later_one_asks_for(store: Storage) -> None:
    """A correction after a close is open by itself; the links were sent long before, and name no revision."""
    key = store.publish(survey(access="token")).key
    good, other, left = (bytes([number]) * 32 for number in range(3))
    store.add_tokens(key, [good, other, left])
    store.store([arrival(key, 1, token=good)])
    store.close_survey("exam", 20_000)
    later = store.publish(survey(access="token", revision=2, replaces=survey(access="token").digest)).key
    store.purge(key)

    assert store.has_token(key, other)
    assert store.token_counts(key)[:4] == (3, 1, 0, 2)
    asked = ReportBatch(plan(later, tokens=key), 0, identity(2), arrival(later, 2).packed, (other,))
    assert store.store([asked]) == [Outcome.NEW]
    assert store.token_counts(key)[:4] == (3, 2, 0, 1)
    assert wrong_counts(store) == []
    store.close_survey("exam", 20_001)
    store.purge(later)
    assert not store.has_token(key, left)
    assert store.token_counts(key)[:4] == (3, 2, 0, 0)
    assert wrong_counts(store) == []


@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize("used", [0, 1])
def test_counts_of_tokens_are_true_whoever_purges_twice_and_corrects_after_it(
    store: Storage, used: int, blind: bool
) -> None:
    """Two nodes see that a survey is due; then a correction has new links, but not where old ones would count."""
    first = blind_survey() if blind else survey(access="token")
    key = store.publish(first).key

    def add_and_use(number: int, used: int) -> None:
        good, left = b"%032d" % number, b"%032d" % (number + 1)
        store.add_tokens(key, [good, left], blind=blind)
        for _ in range(used):
            if blind:
                store.redeem_invitation(key, good, good)
            else:
                newest = store.revisions("exam")[-1].key
                store.store([ReportBatch(plan(newest, tokens=key), 0, identity(number), arrival(1, 1).packed, (good,))])

    add_and_use(10, used)
    store.close_survey("exam", 20_000)
    for _ in range(2):
        store.purge(key)
    assert store.token_counts(key)[:4] == (2, used, 0, 0)
    assert wrong_counts(store) == []
    if blind:
        # Signatures outlive their invitations, and nobody knows the ids any more that had a report.
        with pytest.raises(StorageError, match="could report again"):
            store.publish(blind_survey(revision=2, replaces=first.digest))
        assert wrong_counts(store) == []
        return
    store.publish(survey(access="token", revision=2, replaces=first.digest))
    add_and_use(20, 1)
    assert store.token_counts(key)[:4] == (4, used + 1, 0, 1)
    assert wrong_counts(store) == []


def filled(store: Storage) -> tuple[int, int]:
    """Two surveys with something in every table, by their keys."""
    keys = store.publish(survey(title={"en": MARK})).key, store.publish(survey(name="other")).key
    for key in keys:
        hashes = [hashlib.sha256(b"%d %d" % (key, number)).digest() for number in range(2)]
        store.add_tokens(key, [*hashes, HELD])
        store.add_tokens(key, [hashlib.sha256(b"invitation").digest()], blind=True)
        store.store([arrival(key, 100 * key + number) for number in range(30)])
        store.store([arrival(key, 100 * key + 40, token=hashes[0])])
        store.withdraw(plan(key), identity(100 * key))
        store.revoke_tokens(key, hashes[1:])
    store.releases.begin("exam", RELEASED)
    return keys


def test_delete_leaves_no_row_of_the_survey_and_every_row_of_the_other(store: Storage) -> None:
    _, kept = filled(store)
    for name in ("exam", "other"):
        store.drafts.add(name, b"{}")
    before = {table: [row for row in store.export_table(table) if row[0] == kept] for table in OF_SURVEYS}
    assert all(before.values())
    store.delete_survey("exam")

    assert [row.name for row in store.surveys()] == ["other"]
    for table in OF_SURVEYS:
        assert list(store.export_table(table)) == before[table], table
    assert [draft.name for draft in store.drafts.drafts()] == ["other"]
    assert store.verify() == []


def test_name_of_a_deleted_survey_is_never_given_again(store: Storage) -> None:
    """Devices remember it. Deleting it again, or another that is not there, is refused."""
    store.publish(survey())
    store.delete_survey("exam")
    for again in (survey(), survey(revision=2)):
        with pytest.raises(StorageError, match="another name"):
            store.publish(again)
    for name in ("exam", "other"):
        with pytest.raises(StorageError, match="no survey"):
            store.delete_survey(name)

    assert store.surveys() == []


def test_key_of_a_deleted_survey_is_never_given_again(store: Storage) -> None:
    """A node that still remembers it would store its reports in the new one."""
    gone = store.publish(survey()).key
    store.delete_survey("exam")
    new = store.publish(survey(name="other")).key

    assert new != gone
    assert store.store([arrival(gone, 1)]) == [Outcome.UNKNOWN]
    assert store.store([arrival(gone, 2), arrival(new, 2)]) == [Outcome.UNKNOWN, Outcome.NEW]
    assert store.withdraw(plan(gone), identity(1)) is Outcome.UNKNOWN
    for late in (store.add_tokens, store.revoke_tokens):
        with pytest.raises(StorageError, match="no survey"):
            late(gone, [HELD])
    assert store.verify() == []


def test_keys_go_on_from_those_that_are_older_than_the_record(store: Storage) -> None:
    """The record of a database of an earlier version begins empty."""
    old = store.publish(survey()).key
    with store.write() as db:  # type: ignore[attr-defined]
        db.execute("DELETE FROM record")
    store.delete_survey("exam")

    assert [line.number for line in store.record()] == [old + 1]
    assert store.publish(survey(name="other")).key == old + 2


def test_copy_remembers_what_was_deleted(store: Storage, tmp_path: Path) -> None:
    """So does a backup, which is the whole file."""
    store.publish(survey())
    store.delete_survey("exam")
    other = SQLiteStorage(tmp_path / "copy.sqlite")
    other.copy_from(store)

    assert other.record() == store.record()
    with pytest.raises(StorageError, match="another name"):
        other.publish(survey())
    other.close()


def searched(found: bytes, gone: int) -> list[str]:
    """What of the first of the two surveys is in these bytes."""
    ids = {f"id {number}": identity(100 * gone + number) for number in (*range(30), 40)}
    hashes = {f"token {number}": hashlib.sha256(b"%d %d" % (gone, number)).digest() for number in range(2)}
    texts = {"text": MARK.encode(), "text as digits": MARK.encode().hex().encode()}
    tombstone = {"tombstone": hashlib.sha256(identity(100 * gone)).digest()}
    ledger = {"ledger": RELEASED}
    return [name for name, one in (ids | hashes | texts | tombstone | ledger).items() if one in found]


def test_nothing_of_a_deleted_survey_is_in_any_file(tmp_path: Path) -> None:
    store = SQLiteStorage(tmp_path / "db.sqlite")
    gone, kept = filled(store)
    found = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert {"text", "id 1", "tombstone", "ledger"} <= set(searched(found, gone))
    store.delete_survey("exam")
    found = b"".join(path.read_bytes() for path in tmp_path.iterdir())

    assert searched(found, gone) == []
    assert identity(100 * kept + 1) in found
    store.close()


def test_nothing_of_a_deleted_survey_is_in_the_servers_tables() -> None:
    """Neither in the pages of its database nor in the planner's statistics, which keep samples of what they are of."""
    server, folder = postgres.own()
    url = postgres.fresh(server)
    store = PostgresStorage(url)
    gone, kept = filled(store)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")
        connection.execute("CHECKPOINT")
        number = connection.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()
    assert {"id 1", "tombstone", "ledger"} <= set(searched(pages(folder, number[0]), gone))
    store.delete_survey("exam")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
    found = pages(folder, number[0])

    assert searched(found, gone) == []
    assert identity(100 * kept + 1) in found
    store.close()


def pages(folder: Path, database: int) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob(f"**/base/{database}/*") if path.is_file())


def test_nodes_that_store_while_one_deletes_leave_no_row() -> None:
    """Whoever is storing is waited for; whoever comes later is told that there is no such survey."""
    url = postgres.with_tables()
    nodes = [PostgresStorage(url), PostgresStorage(url)]
    key = nodes[0].publish(survey()).key

    def send(first: int) -> list[Outcome]:
        outcomes: list[Outcome] = []
        while Outcome.UNKNOWN not in outcomes:
            outcomes += nodes[first % 2].store([arrival(key, 10_000 * first + len(outcomes))])
        return outcomes

    with ThreadPoolExecutor(4) as pool:
        sending = [pool.submit(send, first) for first in range(4)]
        while nodes[0].surveys()[0].reports < 20:
            pass
        nodes[1].delete_survey("exam")
        outcomes = [one.result() for one in sending]

    assert all(set(one) <= {Outcome.NEW, Outcome.UNKNOWN} for one in outcomes)
    assert nodes[0].verify() == []
    assert [list(nodes[0].export_table(table)) for table in ("reports", "cells", "counts")] == [[], [], []]
    for node in nodes:
        node.close()


def test_two_nodes_that_correct_one_revision_at_once_make_one_correction() -> None:
    url = postgres.with_tables()
    nodes = [PostgresStorage(url), PostgresStorage(url)]
    first = nodes[0].publish(survey())
    corrections = [survey(revision=number, replaces=first.digest) for number in (2, 3)]

    def correct(number: int) -> bool:
        try:
            nodes[number].publish(corrections[number])
        except StorageError:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(correct, range(2)))

    assert done.count(True) == 1
    assert [line.number for line in nodes[0].record()] == [1, 2]
    for node in nodes:
        node.close()


def test_one_node_closes_reopens_and_deletes_and_the_other_follows() -> None:
    """What the other stores is decided by the database, whatever it remembers."""
    url = postgres.with_tables()
    one, other = PostgresStorage(url), PostgresStorage(url)
    key = one.publish(survey()).key
    outcomes = other.store([arrival(key, 0)])
    one.close_survey("exam", 1)
    outcomes += other.store([arrival(key, 1)])
    one.reopen_survey("exam")
    outcomes += other.store([arrival(key, 2)])
    one.delete_survey("exam")
    outcomes += other.store([arrival(key, 3)])

    assert outcomes == [Outcome.NEW, Outcome.CLOSED, Outcome.NEW, Outcome.UNKNOWN]
    one.close()
    other.close()


BATCH = 25

NOW = datetime(2026, 11, 28, tzinfo=UTC)

ORDERS = [order for length in (1, 2, 3) for order in product(("close", "reopen", "withdraw"), repeat=length)]

ARRIVALS = (1, 24, 25, 26)
AROUND = (24, 25)
"""On either side of a whole step."""


class Watched:
    """A survey that was closed with 63 reports of one cohort and 30 of another, and all that it has shown since."""

    def __init__(self, storage: Storage, name: str) -> None:
        self.storage, self.name, self.sent, self.is_open = storage, name, 0, True
        asked = survey(name=name, privacy={"release_batch": BATCH})
        self.plan = planned(asked, storage.publish(asked).key)
        self.live: tuple[set[int], set[int]] = (set(), set())
        self.states: list[tuple[frozenset[int], ...]] = []
        self.arrive(63, 0)
        self.arrive(30, 1)
        self.act("close")

    def arrive(self, number: int, cohort: int) -> None:
        """So many reports come, if the survey is open."""
        if self.is_open:
            numbers = range(self.sent, self.sent + number)
            group = [ReportBatch(self.plan, 0, identity(each), pack((each % 2, each % 3, cohort))) for each in numbers]
            self.storage.store(group)
            self.sent += number
            self.live[cohort].update(numbers)

    def act(self, step: str) -> None:
        """Close, reopen, or withdraw the oldest report of the first cohort; then note what is shown."""
        if step == "close":
            self.storage.close_survey(self.name, 1)
        elif step == "reopen":
            self.storage.reopen_survey(self.name)
        elif self.is_open:
            oldest = min(self.live[0])
            self.storage.withdraw(self.plan, identity(oldest))
            self.live[0].remove(oldest)
        self.is_open = {"close": False, "reopen": True}.get(step, self.is_open)
        self.look()

    def look(self) -> None:
        """Each cell is as it was, or it is the reports that are live now; lists, tables and files agree with it."""
        cells = {cell.cohort: cell for cell in self.storage.cells(self.plan.survey)}
        last = self.states[-1] if self.states else (frozenset(), frozenset())
        now = tuple(map(frozenset, self.live))
        sizes = [cells[cohort].reports for cohort in (0, 1)]
        shown = next(state for state in (last, now) if [len(numbers) for numbers in state] == sizes)
        for cohort, numbers in enumerate(shown):
            tally = cells[cohort].tallies[0]
            assert tally == {value: sum(each % 2 == value for each in numbers) for value in (0, 1)}
        self.states.append(shown)
        (stored,) = self.storage.revisions(self.name)
        assert reports_so_far(stored) == cells[ALL].reports == sum(map(len, shown))
        try:
            check_closed(self.storage, [stored], None, NOW)
        except EstimateError:
            assert self.is_open or shown != now
        else:
            assert not self.is_open
            assert len(read_columns(self.storage, [stored])) == cells[ALL].reports

    def smallest_difference(self) -> int:
        """Of a cell between any two states, 0 apart."""
        apart = {len(one[cohort] ^ other[cohort]) for one in self.states for other in self.states for cohort in (0, 1)}
        return min(apart - {0}, default=BATCH)


def play(storage: Storage, name: str, order: Sequence[str], number: int) -> Watched:
    """Play the steps with so many arrivals of the first cohort before each, and of the second one before the last."""
    watched = Watched(storage, name)
    watched.act("reopen")
    for place, step in enumerate(order):
        watched.arrive(number, 0)
        if place and place == len(order) - 1:
            watched.arrive(BATCH, 1)
        watched.look()
        watched.act(step)
    watched.act("close")
    return watched


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Storage]:
    database = SQLiteStorage(tmp_path / "data.sqlite")
    yield database
    database.close()


@pytest.mark.parametrize("arrivals", [AROUND, pytest.param(ARRIVALS, marks=pytest.mark.slow)])
def test_no_two_states_after_the_first_close_differ_by_a_few(sqlite: Storage, arrivals: Sequence[int]) -> None:
    """All orders of three steps, with arrivals about a step of results; while it is open nothing moves."""
    played = [play(sqlite, f"s{place}n{number}", order, number)
              for number in arrivals for place, order in enumerate(ORDERS)]  # fmt: skip
    moved = [len(set(watched.states)) > 1 for watched in played]

    assert min(watched.smallest_difference() for watched in played) >= BATCH
    assert 5 * len(arrivals) < sum(moved) < len(moved)


def test_postgresql_shows_the_same_states() -> None:
    """A part of the orders, each as SQLite showed it."""
    storage = PostgresStorage(postgres.with_tables())
    orders = [(order, number) for place, order in enumerate(ORDERS) for number in ARRIVALS if place % 6 == 5]
    played = [play(storage, f"s{place}", order, number) for place, (order, number) in enumerate(orders)]
    storage.close()

    assert min(watched.smallest_difference() for watched in played) >= BATCH
    assert any(len(set(watched.states)) > 1 for watched in played)


def test_close_of_an_empty_survey_is_the_first_one(sqlite: Storage) -> None:
    """What comes after it is shown by whole steps, although no cell was there to be shown."""
    watched = Watched.__new__(Watched)
    watched.storage, watched.name, watched.sent, watched.is_open, watched.states = sqlite, "exam", 0, True, []
    asked = survey(name="exam", privacy={"release_batch": BATCH})
    watched.plan, watched.live = planned(asked, sqlite.publish(asked).key), (set(), set())
    sqlite.close_survey("exam", 1)
    sqlite.reopen_survey("exam")
    watched.arrive(24, 0)
    sqlite.close_survey("exam", 2)
    assert sqlite.cells(watched.plan.survey) == []
    sqlite.reopen_survey("exam")
    watched.arrive(1, 0)
    assert sqlite.cells(watched.plan.survey) == []
    sqlite.close_survey("exam", 3)

    assert [cell.reports for cell in sqlite.cells(watched.plan.survey)] == [25, 25]
    assert sqlite.verify() == []
