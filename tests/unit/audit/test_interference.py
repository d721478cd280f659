"""Of the runs that are planned, every one counts."""

import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check
from sottovoce.audit.instead import environment
from sottovoce.audit.interference import check_python_runs, compare_runs
from sottovoce.audit.library_person import run_once
from sottovoce.audit.runs import Run, plan_runs
from sottovoce.audit.watched_device import Event, Observation
from sottovoce.client import respondent
from sottovoce.shared.parse_survey import parse_survey

from tests.alone import alone
from tests.documents import question
from tests.documents import survey as document
from tests.surveys import months, survey

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
    taken = alone(lambda: [*map(in_empty_environment, RUNS, turns, homes)])
    return {
        run.tape: (without(events, home), count) for run, home, (events, count) in zip(RUNS, homes, taken, strict=True)
    }


def in_empty_environment(run: Run, turn: int, home: Path) -> tuple[Observation, int]:
    """One run where the environment says nothing of whom to trust, as in an audit."""
    with environment({}, alone=True):
        return run_once(ONE, run.answers, run.tape, turn, home)


def without(events: Observation, home: Path) -> Observation:
    """The same in a folder that has one name for all."""
    return tuple(event._replace(what=eval(repr(event.what).replace(str(home), "/home"))) for event in events)  # noqa: S307


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


@pytest.mark.parametrize("wave", [0, 2])
def test_client_that_tells_in_one_wave_only_is_found(wave: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the first wave or in the last one; in neither if it is honest."""
    panel = parse_survey(document(question({"name": "coin_flip"}), waves=months(3)))
    honest, plan = respondent.encode, plan_runs(panel, quick=True)

    def judged() -> tuple[str, str]:
        [runs, _] = alone(lambda: check_python_runs(panel, plan, lambda _share: None))
        return runs.outcome, runs.message

    assert judged() == (PASSED, "")

    def answer(me: respondent.Respondent, answers: dict[str, object]) -> object:
        if me.wave == wave and honest(me.survey, answers)[0]:
            print("yes")
        return ANSWER(me, answers)

    monkeypatch.setattr(respondent.Respondent, "answer", answer)
    outcome, message = judged()
    assert outcome == FAILED
    assert message.endswith("depends on the answer to 'q'")


ANSWER = respondent.Respondent.answer


def test_threads_that_were_there_wait_as_they_do() -> None:
    """A program that audits may have others: what they do is not the client's, and they are not kept from waiting."""

    def beside_one() -> tuple[list[Check], set[object]]:
        ended, waited = threading.Event(), list[object]()

        def wait() -> None:
            condition = threading.Condition()
            while not ended.is_set():
                with condition:
                    waited.append(condition.wait(0.001))

        thread = threading.Thread(target=wait)
        thread.start()
        try:
            return check_python_runs(ONE, PLAN, lambda _share: None), {*waited}
        finally:
            ended.set()
            thread.join()

    checks, waited = alone(beside_one)

    assert [check.message for check in checks if check.outcome != PASSED] == []
    assert waited == {False}
