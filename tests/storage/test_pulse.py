"""How long forgetting waits after a pause, or a clock that went back: the same on both back ends."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.aggregator.storage.copy import copy_all
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests import postgres
from tests.surveys import survey

NOON = 1_780_000_000
DAY = 86400


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    with closing(open_url(postgres.with_tables() if request.param == "postgres" else "", tmp_path)) as database:
        yield database


def run(store: Storage, since: int, seconds: int) -> int:
    """Run for so long, housekeeping each minute; for how long forgetting waits then."""
    for second in range(60, seconds + 1, 60):
        store.note_running(since + second)
    return store.forgetting_waits(since + seconds)


def test_new_database_waits_for_nothing(store: Storage) -> None:
    assert store.note_running(NOON) == 0
    assert run(store, NOON, 600) == 0


@pytest.mark.parametrize(
    ("away", "waits"), [(7 * DAY, 0), (7 * DAY + 1, DAY), (400 * DAY, DAY), (-60, 0), (-61, DAY), (-400 * DAY, DAY)]
)
def test_pause_of_a_week_and_a_step_back_make_forgetting_wait(store: Storage, away: int, waits: int) -> None:
    """Whoever only asks is told so, too."""
    store.note_running(NOON)
    assert store.forgetting_waits(NOON + away) == waits
    assert store.note_running(NOON + away) == waits
    assert store.forgetting_waits(NOON + away) == waits


def test_only_running_is_counted(store: Storage) -> None:
    store.note_running(NOON)
    begin = NOON + 30 * DAY
    store.note_running(begin)
    assert run(store, begin, 3600) == DAY - 3600
    again = begin + 5 * DAY
    assert store.note_running(again) == DAY - 3600
    # A node whose round comes a moment earlier by the same clock.
    assert [store.note_running(again + second) for second in (30, 29, 60)] == [DAY - 3630, DAY - 3630, DAY - 3661]
    store.note_running(again + 60)
    assert store.forgetting_waits(again + 60 + 300) == DAY - 3661 - 300
    assert store.forgetting_waits(again + 60 + 301) == DAY - 3661


def test_who_says_that_the_clock_is_right_ends_the_waiting(store: Storage) -> None:
    store.note_running(NOON)
    store.note_running(NOON + 30 * DAY)
    store.trust_clock(NOON + 30 * DAY)
    assert store.note_running(NOON + 30 * DAY + 60) == 0
    assert store.note_running(NOON) == DAY


def test_copy_knows_when_the_source_last_ran(store: Storage, tmp_path: Path) -> None:
    """A backup that lay for a month waits wherever it is restored."""
    with closing(SQLiteStorage(tmp_path / "source")) as source:
        source.publish(survey())
        source.note_running(NOON)
        copy_all(source, store)

    assert store.forgetting_waits(NOON + DAY) == 0
    assert store.forgetting_waits(NOON + 30 * DAY) == DAY
