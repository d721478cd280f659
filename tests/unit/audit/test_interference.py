"""Of the runs that are planned, every one counts."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED
from sottovoce.audit.interference import compare_runs
from sottovoce.audit.runs import plan_runs
from sottovoce.audit.watched_device import Event, Observation, run_once

from tests.alone import alone
from tests.surveys import survey

ONE = survey()
PLAN = plan_runs(ONE, quick=True)
RUNS = [run for vector in PLAN.vectors for run in vector.runs]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[bytes, tuple[Observation, int]]:
    """What the honest client shows in each run."""
    turns = [turn for turn, vector in enumerate(PLAN.vectors) for _ in vector.runs]
    homes = [tmp_path_factory.mktemp("parent") / "home" for _ in RUNS]
    for home in homes:
        home.mkdir()
    taken = alone(
        lambda: [
            run_once(ONE, run.answers, run.tape, turn, home) for run, turn, home in zip(RUNS, turns, homes, strict=True)
        ]
    )
    return {
        run.tape: (without(events, home), count) for run, home, (events, count) in zip(RUNS, homes, taken, strict=True)
    }


def without(events: Observation, home: Path) -> Observation:
    """The same in a folder that has one name for all."""
    return tuple(replace(event, what=eval(repr(event.what).replace(str(home), "/home"))) for event in events)  # noqa: S307


@pytest.mark.parametrize("other", range(len(RUNS)))
def test_one_run_that_differs_is_found(seen: dict[bytes, tuple[Observation, int]], other: int) -> None:
    """Whichever it is, by one event at its end."""

    def execute(_answers: Mapping[str, Any], tape: bytes, _turn: int) -> tuple[Observation, int]:
        events, taken = seen[tape]
        return (*events, Event("wait", "after forgetting", (1,))) if tape == RUNS[other].tape else events, taken

    [runs, identity] = compare_runs("python", ONE, PLAN, execute, lambda _share: None)
    assert (runs.outcome, identity.outcome) == (FAILED, NOT_DONE)
    assert runs.message.startswith("how much is done depends on")


def test_runs_that_were_left_out_are_no_pass(seen: dict[bytes, tuple[Observation, int]]) -> None:
    """No way was found from an answer to a report."""
    lacking = replace(PLAN, unreached=1)
    checks = [
        compare_runs("python", ONE, plan, lambda _, tape, __: seen[tape], lambda _: None) for plan in (PLAN, lacking)
    ]
    assert [each[0].outcome for each in checks] == [PASSED, NOT_DONE]
