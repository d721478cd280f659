"""A survey that is closed again and again: what is shown moves by whole steps, and all results are one state."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest
from sottovoce.aggregator.analysis.availability import check_closed
from sottovoce.aggregator.analysis.report_columns import read_columns
from sottovoce.aggregator.storage import ReportBatch, Storage
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.surveys.lifecycle import reports_so_far
from sottovoce.shared.errors import EstimateError

from tests import postgres
from tests.storage.test_contract import identity
from tests.storage.test_snapshots import planned
from tests.surveys import survey

BATCH = 25
NOW = datetime(2026, 11, 28, tzinfo=UTC)
ORDERS = [order for length in (1, 2, 3) for order in product(("close", "reopen", "withdraw"), repeat=length)]
ARRIVALS = (1, 24, 25, 26)


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
    """An empty database in a file."""
    database = SQLiteStorage(tmp_path / "data.sqlite")
    yield database
    database.close()


def test_no_two_states_after_the_first_close_differ_by_a_few(sqlite: Storage) -> None:
    """All orders of three steps, with arrivals about a step of results; while it is open nothing moves."""
    played = [play(sqlite, f"s{place}n{number}", order, number)
              for number in ARRIVALS for place, order in enumerate(ORDERS)]  # fmt: skip
    moved = [len(set(watched.states)) > 1 for watched in played]

    assert min(watched.smallest_difference() for watched in played) >= BATCH
    assert 20 < sum(moved) < len(moved)


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
