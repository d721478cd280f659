"""Every figure of random surveys and files is that of an independent reference, on all pages and in all files."""

from pathlib import Path

import pytest

from tests.meetings.files import FILE_KINDS, faults_of_file
from tests.meetings.meet import Site, faults_of
from tests.meetings.surveys import KINDS, meeting

ALL = (*KINDS, *FILE_KINDS)
EACH_TIME, SLOW, CHUNK = 20, 300, 30


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sottovoce.aggregator.api.joint_results.WAIT_SECONDS", 120)


def meet(seeds: range, folder: Path) -> tuple[dict[str, list[str]], int]:
    """Hold the meetings of these seeds; what was wrong in each, and how many were mostly refused."""
    site, wrong, refused = Site(folder), {}, 0
    for seed in seeds:
        kind = ALL[seed % len(ALL)]
        if kind in FILE_KINDS:
            found = faults_of_file(seed, kind, folder)
        else:
            held = meeting(seed, kind)
            found, refusals = faults_of(held, site)
            refused += 2 * refusals > len(held.cases)
        wrong |= {f"{seed} {kind}": found} if found else {}
    site.storage.close()
    return wrong, refused


def told(wrong: dict[str, list[str]]) -> str:
    return "\n".join(f"{name}: {each[:300]}" for name, found in wrong.items() for each in found)


MANY = [range(first, first + CHUNK) for first in range(EACH_TIME, EACH_TIME + SLOW, CHUNK)]


@pytest.mark.parametrize("seeds", [range(EACH_TIME), *(pytest.param(each, marks=pytest.mark.slow) for each in MANY)])
def test_printed_figures_are_those_of_the_reference(seeds: range, tmp_path: Path) -> None:
    """In each meeting: points, limits, n, in all ways; at most a third of them end in a refusal."""
    wrong, refused = meet(seeds, tmp_path)
    assert not wrong, told(wrong)
    assert refused <= len(seeds) / 3
