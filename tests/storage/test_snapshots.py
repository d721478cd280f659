"""The observer who sends, withdraws, and subtracts what is shown: what he can be left with."""

from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pytest
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.storage import Cell, Outcome, ReportBatch, Storage, StoragePlan
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.aggregator.storage.postgres.storage import PostgresStorage
from sottovoce.shared.spec import Survey

from tests import postgres
from tests.recount import recount
from tests.storage.test_contract import identity
from tests.surveys import months, survey

BATCH = 5
COHORTS = ("first", "second")
Place = tuple[int, int, int]
"""(revision's key, wave, cohort)."""
Tallies = tuple[int, dict[int, dict[int, int]]]
"""Number of reports, and of each value of each question."""


@dataclass
class Report:
    """One report; the observer's own, or somebody else's."""

    place: Place
    values: tuple[int, int, int]
    his: bool


@dataclass
class Watched:
    """A survey of two revisions and two waves, and all that was ever shown of it.

    Attributes:
        live: numbers of the reports that are there, by cell.
        versions: what each cell has shown, one set of reports after the other; at first nothing.
        shown: the tallies of the last of them.
        views: for all that could be asked at some moment, which version of which cell it added up.
    """

    storage: Storage
    plans: dict[int, StoragePlan]
    sent: dict[int, Report] = field(default_factory=dict)
    live: dict[Place, set[int]] = field(default_factory=lambda: defaultdict(set))
    versions: dict[Place, list[set[int]]] = field(default_factory=lambda: defaultdict(lambda: [set()]))
    shown: dict[Place, Tallies] = field(default_factory=lambda: defaultdict(lambda: (0, {})))
    views: set[frozenset[tuple[Place, int]]] = field(default_factory=set)

    def send(self, place: Place, values: list[tuple[int, int]], his: bool) -> None:
        """So many reports come at once, to one cell."""
        key, wave, cohort = place
        reports = [Report(place, (*value, cohort), his) for value in values]
        numbers = range(len(self.sent), len(self.sent) + len(reports))
        self.sent |= dict(zip(numbers, reports, strict=True))
        self.live[place] |= set(numbers)
        group = [
            ReportBatch(self.plans[key], wave, identity(number), pack(self.sent[number].values)) for number in numbers
        ]
        assert set(self.storage.store(group)) <= {Outcome.NEW}

    def withdraw(self, number: int) -> None:
        place = self.sent[number].place
        assert self.storage.withdraw(self.plans[place[0]], identity(number)) is Outcome.WITHDRAWN
        self.live[place].remove(number)

    def look(self) -> None:
        """Note what is shown now: each cell is as it was, or it is the reports that are live at this moment."""
        moved = False
        for key in self.plans:
            found = {(key, cell.wave, cell.cohort): cell for cell in self.storage.cells(key) if cell.cohort != ALL}
            for place in [(key, wave, cohort) for wave in (0, 1) for cohort in (0, 1)]:
                moved |= self._note(place, found.get(place))
        if moved:
            self.views |= set(self._views())

    def _note(self, place: Place, cell: Cell | None) -> bool:
        if told(cell) == self.shown[place]:
            return False
        self.versions[place].append(set(self.live[place]))
        self.shown[place] = self._tallies(self.live[place])
        assert told(cell) == self.shown[place]
        return True

    def _tallies(self, numbers: set[int]) -> Tallies:
        tallies: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
        for number in numbers:
            for question, value in enumerate(self.sent[number].values):
                tallies[question][value] += 1
        return len(numbers), {question: dict(tally) for question, tally in tallies.items()}

    def _views(self) -> Iterator[frozenset[tuple[Place, int]]]:
        """Every result that one may ask for, held against the cells that it must be the sum of; and each cell."""
        revisions = revisions_of(self.storage, "exam")
        names = {group.name for group in analyse(revisions).cohorts}
        for wave in (None, 0, 1):
            for name in {None, *(name for name in COHORTS if name in names)}:
                parts = {
                    place: len(sets) - 1
                    for place, sets in self.versions.items()
                    if wave in {None, place[1]} and name in {None, COHORTS[place[2]]}
                }
                results = analyse(revisions, name, wave=wave)
                held = set().union(*(self.versions[place][version] for place, version in parts.items()))
                assert (results.reports, results.questions[0].tally) == (
                    len(held), dict(sorted(self._tallies(held)[1].get(0, {}).items())),
                )  # fmt: skip
                yield frozenset(parts.items())
        yield from (frozenset({(place, len(sets) - 1)}) for place, sets in self.versions.items())

    def differences(self) -> np.ndarray:
        """For all pairs of views, reports in the difference that he has not withdrawn; a cell left out shows none."""
        views = [dict(view) for view in self.views]
        total = np.zeros((len(views), len(views)), dtype=np.int64)
        for place, sets in self.versions.items():
            table = np.array([[self._between(*sorted((one, other)), sets) for other in range(len(sets))]
                              for one in range(len(sets))])  # fmt: skip
            shown = np.array([view.get(place, 0) for view in views])
            total += table[shown[:, None], shown]
        return total

    def _between(self, older: int, newer: int, sets: list[set[int]]) -> int:
        gone = sets[older] - sets[newer]
        return len(sets[newer] - sets[older]) + sum(not self.sent[number].his for number in gone)


def told(cell: Cell | None) -> Tallies:
    return (0, {}) if cell is None else (cell.reports, {key: dict(tally) for key, tally in cell.tallies.items()})


def watched(storage: Storage) -> Watched:
    more = {"waves": months(2), "privacy": {"release_batch": BATCH}, "fresh_samples": True}
    asked = [survey(revision=number, **more) for number in (1, 2)]
    return Watched(storage, {(key := storage.publish(each).key): planned(each, key) for each in asked})


def planned(asked: Survey, key: int) -> StoragePlan:
    return StoragePlan(key, asked.cohort, asked.release_batch, None, asked.masks)


@pytest.mark.parametrize("moments", [400, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_two_shown_things_differ_by_a_handful(store: Storage, moments: int) -> None:
    """Whatever he sends and withdraws: cohorts, waves, revisions and the whole, each from each, at many moments."""
    seen, chance = watched(store), np.random.default_rng(13)
    places = [(key, wave, cohort) for key in seen.plans for wave in (0, 1) for cohort in (0, 1)]
    for _ in range(moments):
        # Few cells at a time, or none would be near its next step.
        place = places[min(chance.geometric(0.3) - 1, len(places) - 1)]
        there = {his: [number for number in seen.live[place] if seen.sent[number].his == his] for his in (True, False)}
        values = [(int(chance.integers(2)), int(chance.integers(3))) for _ in range(BATCH - 1)]
        act = chance.random()
        if act < 0.3:
            seen.send(place, values[:1], his=False)
        elif act < 0.55:
            seen.send(place, values[: chance.integers(1, BATCH)], his=True)
        elif act < 0.95 and there[True]:
            seen.withdraw(int(chance.choice(there[True])))
        elif there[False]:
            seen.withdraw(int(chance.choice(there[False])))
        seen.look()
    held = seen.differences()
    moves = [len(versions) - 1 for versions in seen.versions.values()]

    assert sum(moves) > moments * 15 // 1000
    assert sum(move > 0 for move in moves) > 2
    assert held[held > 0].min() >= BATCH


def test_pairs_of_sending_and_withdrawing_push_nothing(store: Storage) -> None:
    """However often, beside one report of somebody else."""
    seen = watched(store)
    place = (next(iter(seen.plans)), 0, 0)
    seen.send(place, [(1, 2)], his=False)
    for _ in range(10 * BATCH):
        seen.send(place, [(0, 0)], his=True)
        seen.withdraw(len(seen.sent) - 1)
        seen.look()

    assert store.cells(place[0]) == []
    assert seen.versions[place] == [set()]


def test_who_leaves_all_others_sees_the_last_report_as_it_was_reported(store: Storage) -> None:
    """The stated limit: what he sent and left counts; less his own, the step holds one report, randomized."""
    seen = watched(store)
    place = (next(iter(seen.plans)), 0, 0)
    seen.send(place, [(0, 0)] * (BATCH - 1), his=True)
    assert store.cells(place[0]) == []
    seen.send(place, [(1, 2)], his=False)
    (whole, cohort) = store.cells(place[0])

    assert whole == replace(cohort, cohort=ALL)
    assert cohort.tallies == {0: {0: BATCH - 1, 1: 1}, 1: {0: BATCH - 1, 2: 1}, 2: {0: BATCH}}
    # Taking his own back afterwards shows nothing more: they must first be made up for.
    for number in range(BATCH - 1):
        seen.withdraw(number)
    seen.send(place, [(0, 1)] * (2 * BATCH - 2), his=False)
    assert store.cells(place[0]) == [whole, cohort]


def test_watcher_of_three_nodes_sees_whole_steps_only() -> None:
    """All write and withdraw at once; every look shows counts that belong together, no step is small, none is left."""
    url = postgres.with_tables()
    nodes, reader = [PostgresStorage(url) for _ in range(3)], PostgresStorage(url)
    asked = survey(privacy={"release_batch": BATCH})
    key = reader.publish(asked).key
    plan = planned(asked, key)

    def come_and_go(number: int) -> None:
        values = pack((number % 2, number % 3, number // 2 % 2))
        nodes[number % 3].store([ReportBatch(plan, 0, identity(number), values)])
        if number % 4 == 0:
            assert nodes[number // 4 % 3].withdraw(plan, identity(number)) is Outcome.WITHDRAWN

    looks: list[list[Cell]] = [[]]
    with ThreadPoolExecutor(6) as pool:
        sent = [pool.submit(come_and_go, number) for number in range(240)]
        while not all(each.done() for each in sent):
            looks.append(reader.cells(key))
        for each in sent:
            each.result()
    for node in nodes:
        node.close()
    reader.show_grown({key: BATCH})
    looks.append(reader.cells(key))
    shown = [{cell.cohort: cell for cell in look} for look in looks]
    steps = [
        after[cohort].reports - (before[cohort].reports if cohort in before else 0)
        for before, after in pairwise(shown)
        for cohort in after
    ]
    sums = {sum(tally.values()) - cell.reports for look in looks for cell in look for tally in cell.tallies.values()}
    slots = "SELECT count(DISTINCT slot) > 1, sum(withdrawn) FROM cells"
    with reader.read() as db:
        assert db.execute(slots).fetchone() == (True, 60)

    assert sums == {0}
    assert min(step for step in steps if step) >= BATCH
    assert all(live - shown[-1][cohort].reports < BATCH for cohort, live in enumerate((60, 120)))
    assert reader.live_counts(key) == recount(reader, reader.surveys()[0])
    reader.close()
