"""Meetings notice each of eleven faults that they once had, put back alone, and most of them in every run."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.meetings.faults import FAULTS, Patch
from tests.meetings.files import FILE_KINDS, faults_of_file
from tests.meetings.meet import Site, faults_of
from tests.meetings.surveys import Meeting, meeting
from tests.meetings.test_meetings import ALL, EACH_TIME, SLOW

IN_EVERY_RUN = 8
"""Of the eleven, the number that the meetings of every run must notice."""


@cache
def drawn(seed: int) -> Meeting:
    return meeting(seed, ALL[seed % len(ALL)])


def wrong(seed: int, folder: Path) -> set[str]:
    """What is wrong in the meeting of a seed, by Python alone."""
    folder.mkdir(parents=True)
    if ALL[seed % len(ALL)] in FILE_KINDS:
        return {*faults_of_file(seed, ALL[seed % len(ALL)], folder)}
    site = Site(folder)
    found = {*faults_of(drawn(seed), site, all_ways=False)[0]}
    site.storage.close()
    return found


def first_noticed(put_back: Callable[[Patch], None], folder: Path, patch: Patch) -> int | None:
    """The first meeting that a fault makes wrong, of those of the long runs too; None without one."""
    for seed in range(EACH_TIME + SLOW):
        before = wrong(seed, folder / put_back.__name__ / f"{seed}-before")
        with patch.context() as planted:
            put_back(planted)
            if wrong(seed, folder / put_back.__name__ / f"{seed}-after") - before:
                return seed
    return None


@pytest.mark.slow
def test_each_fault_is_noticed_within_300_meetings_and_eight_within_20(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Put back one at a time, each makes another figure wrong than those that are."""
    noticed = {fault.__name__: first_noticed(fault, tmp_path, monkeypatch) for fault in FAULTS}
    assert [name for name, seed in noticed.items() if seed is None] == []
    assert sum(seed is not None and seed < EACH_TIME for seed in noticed.values()) >= IN_EVERY_RUN, noticed
