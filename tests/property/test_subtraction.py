"""Who keeps every file of a survey and subtracts any two: what came between them, on random surveys and courses.

Each report can be told by its randomized answers, as in a survey of many questions. Nobody is added or gone between two
files but by whole steps of a cell (revision, wave, cohort); and two files of the same reports together leave out what
each of them does: at least five people agree in all that both show of public answers.
"""

import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.analysis.shown_columns import is_few
from sottovoce.aggregator.export.catalogue import Source
from sottovoce.aggregator.storage import Outcome, ReportBatch, StoragePlan
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.surveys.housekeeping import close_due
from sottovoce.aggregator.surveys.lifecycle import may_stay_closed, next_revision
from sottovoce.shared.errors import EstimateError, SpecError, StorageError
from sottovoce.shared.spec import Survey

from tests.exported import TODAY
from tests.surveys import survey

STEP, LEAST, EVENTS, MANY = 5, 5, 40, 40
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
ACTS = {"send": 8, "withdraw": 3, "correct": 2, "wait": 3, "close": 0.6, "reopen": 0.8}
"""What happens, and how often."""

Row = tuple[int, int, dict[str, Any]]
"""Revision, wave and public answers of a report, as a file has them; None for one that is left out."""


def question(name: str, options: int, **more: Any) -> dict[str, Any]:
    choices = [{"name": f"o{number}", "label": {"en": "O"}} for number in range(options)]
    return {"type": "select_one", "name": name, "label": {"en": name}, "choices": choices, **more}


class Course:
    """A survey of some waves, all that happens to it, and every file that was ever to be had."""

    def __init__(self, seed: int, storage: SQLiteStorage) -> None:
        self.chance, self.storage, self.now, self.sent = random.Random(seed), storage, BEGIN, 0  # noqa: S311
        self.windows = [[10 * wave, 10 * wave + 8] for wave in range(self.chance.choice([1, 2, 3]))]
        self.has_cohort = self.chance.random() < 0.5
        self.public = [("p", self.chance.randint(2, 4)), ("q", self.chance.randint(2, 3))]
        self.revisions: list[tuple[Survey, StoragePlan]] = []
        self.there: dict[bytes, int] = {}
        self.cells: dict[int, tuple[int, int, int | None]] = {}
        self.files: list[tuple[int | None, dict[int, Row]]] = []
        self.publish()

    def publish(self) -> None:
        """Correct the survey, or leave it as it is where that is refused."""
        asked = [question(name, MANY, mechanism={"name": "kary_rr", "odds": "3"}) for name in ("ten", "one")]
        asked += [question(name, options, public=True, in_files=True) for name, options in self.public]
        asked += [question("group", 3, public=True, cohort=True)] * self.has_cohort
        ends = [[(BEGIN + timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ") for day in each] for each in self.windows]
        waves = [dict(zip(("opens", "closes"), each, strict=True)) for each in ends]
        when = {"waves": waves} if len(waves) > 1 else {"closes": waves[0]["closes"]}
        number = len(self.revisions) + 1
        changed = survey(questions=asked, revision=number, title={"en": f"{number}"},
                         privacy={"release_batch": STEP}, **when)  # fmt: skip
        with suppress(SpecError):
            following = next_revision(self.storage, changed, lambda: self.now)
            stay = may_stay_closed(self.storage, following)
            key = self.storage.publish(following, stay_closed=stay).key
            self.revisions.append((following, StoragePlan(key, following.cohort, STEP, None, following.masks)))

    def open(self) -> list[tuple[int, int]]:
        """Places of the revisions and waves that take reports."""
        closed = [stored.closed for stored in self.storage.revisions("exam")]
        pairs = product(range(len(self.revisions)), range(3))
        waves = [(place, wave) for place, wave in pairs if wave < len(self.revisions[place][0].waves)]
        windows = {(place, wave): self.revisions[place][0].waves[wave] for place, wave in waves}
        return [
            (place, wave) for (place, wave), window in windows.items()
            if not closed[place] and (window.opens or BEGIN) <= self.now < (window.closes or self.now)
        ]  # fmt: skip

    def send(self) -> None:
        for place, wave in self.chance.sample(self.open(), min(1, len(self.open()))):
            asked, plan = self.revisions[place]
            for number in range(self.sent, self.sent + self.chance.choice([1, 1, 2, 5, 8, 20])):
                public = [min(int(self.chance.expovariate(1.1)), q.largest) for q in asked.questions[2:]]
                identity = os.urandom(16)
                values = pack((number // MANY, number % MANY, *public))
                assert self.storage.store([ReportBatch(plan, wave, identity, values)]) == [Outcome.NEW]
                self.there[identity] = number
                self.cells[number] = place, wave, public[-1] if asked.cohort else None
                self.sent = number + 1

    def withdraw(self) -> None:
        places = self.open()
        mine = [identity for identity, number in self.there.items() if self.cells[number][:2] in places]
        for identity in self.chance.sample(mine, min(1, len(mine))):
            plan = self.revisions[self.cells[self.there.pop(identity)][0]][1]
            assert self.storage.withdraw(plan, identity) is Outcome.WITHDRAWN

    def correct(self) -> None:
        """Change texts, the order or number of public questions, the cohort, or the end of a wave."""
        what, wave = self.chance.randrange(6), self.chance.randrange(len(self.windows))
        if what == 0:
            self.chance.shuffle(self.public)
        elif what == 1 and len(self.public) > 1:
            self.public.pop()
        elif what == 2:
            self.public.append((f"n{len(self.revisions)}", self.chance.randint(2, 3)))
        elif what == 3:
            self.has_cohort = not self.has_cohort
        elif what == 4:
            following = [*(opens for opens, _ in self.windows[wave + 1 :]), 99]
            self.windows[wave][1] = min(self.windows[wave][1] + 2, following[0])
        if len(self.revisions) < 7:
            self.publish()

    def wait(self) -> None:
        self.now += timedelta(days=self.chance.choice([0.3, 1, 3]))

    def close(self) -> None:
        self.storage.close_survey("exam", TODAY)

    def reopen(self) -> None:
        with suppress(StorageError):
            self.storage.reopen_survey("exam")

    def look(self) -> Iterator[tuple[int | None, dict[int, Row]]]:
        """Yield the files of all waves together and of each that are to be had now."""
        for wave in (None, *range(len(self.windows))):
            try:
                found = Source(self.storage, revisions_of(self.storage, "exam"), self.now, wave).reports
            except EstimateError:
                continue
            numbers = (MANY * found.columns["ten"] + found.columns["one"]).tolist()
            shown = {name: column for name, column in found.columns.items() if name not in {"ten", "one"}}
            answers = {
                name: [None if few else "" if null else value
                       for value, few, null in zip(column.tolist(), is_few(column), is_null(column), strict=True)]
                for name, column in shown.items()
            }  # fmt: skip
            public = [dict(zip(answers, row, strict=True)) for row in zip(*answers.values(), strict=True)]
            rows = zip(found.revision.tolist(), found.wave.tolist(), public, strict=True)
            yield wave, dict(zip(numbers, rows, strict=True))

    def check(self, one: tuple[int | None, dict[int, Row]], other: tuple[int | None, dict[int, Row]]) -> None:
        """Hold a file against a later one, as far as both are of the same waves."""
        waves = {one[0], other[0]} - {None}
        before, after = (
            {number: row for number, row in rows.items() if {row[1]} == (waves or {row[1]})} for _, rows in (one, other)
        )
        grown = Counter(self.cells[number] for number in after.keys() - before.keys())
        grown.subtract(self.cells[number] for number in before.keys() - after.keys())
        changed = {self.cells[number] for number in before.keys() ^ after.keys()}
        assert all(grown[cell] >= STEP for cell in changed)
        alike: dict[object, int] = defaultdict(int)
        for number in before if before.keys() == after.keys() else ():
            revision, wave, first = before[number]
            known = {name: value for shown in (first, after[number][2]) for name, value in shown.items() if value != ""}
            known |= {name: value for name, value in first.items() if known.get(name) is None and value != ""}
            alike[revision, wave, *sorted((name, value) for name, value in known.items() if value is not None)] += 1
        assert all(size >= LEAST for (_, _, *known), size in alike.items() if known)  # type: ignore[misc]


NOTICED = {0: "few", 4: "steps at a later close", 8: "columns that a correction takes away", 27: "waves that are over"}
"""Courses that fail without one of the rules, each."""


@pytest.mark.parametrize("seed", [*NOTICED, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(80, 160))])
def test_no_two_files_differ_by_a_handful(tmp_path: Path, seed: int) -> None:
    with closing(SQLiteStorage(tmp_path / "db.sqlite")) as storage:
        course = Course(seed, storage)
        for act in course.chance.choices(list(ACTS), list(ACTS.values()), k=EVENTS):
            getattr(course, act)()
            close_due(storage, course.now)
            found = list(course.look())
            for later in found:
                for earlier in [*course.files, *found]:
                    course.check(earlier, later)
            course.files += found
        assert course.sent < MANY**2
