"""
The part of an audit that holds runs of a whole client against each other: with the same reported values, everything
else is the same, whatever the answers.

The randomizers' laws are proven elsewhere, each by itself. What is shown here is that there is nothing beside them: an
answer reaches the outside through its randomizer or not at all.
"""

import math
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sottovoce.audit.agreed_requests import NOT_AGREED, is_agreed
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check, Tick
from sottovoce.audit.earlier_report import answer_before
from sottovoce.audit.instead import environment
from sottovoce.audit.library_person import run_once, wave_of
from sottovoce.audit.redeemed_runs import unlike_redemption
from sottovoce.audit.runs import Run, RunPlan, VectorPlan
from sottovoce.audit.untold import LATER, NEVER
from sottovoce.audit.watched_device import (
    CHARGED,
    END,
    FILES,
    PRINTED,
    READ,
    REQUEST,
    SYSTEM,
    WAIT,
    Event,
    Observation,
    is_for_reports,
)
from sottovoce.shared.errors import SurveyError
from sottovoce.shared.report import parse_report
from sottovoce.shared.spec import Survey

SUBJECT = "whole runs"
IDENTITY = "id of the report"

_BODY = "the report, or what else is sent,"
_REQUEST_PARTS = ("the kind of a request", "the address of a request", "a header", _BODY, "how a request goes")
_PASSWORDS = "machine audit.invalid login known password again\n"
_FOLDERS = ("TMPDIR", "TEMP", "TMP")
_TURNS = 8
"""In so many turns all has come that a turn chooses; the memo that a withdrawn report leaves differs."""
_NOTCH = 1e-9
"""Charges are sums of numbers with a fraction."""

_KINDS = {
    READ: "the number of random bytes read",
    SYSTEM: "which files are written, or what else is asked of the system",
    WAIT: "a wait",
    PRINTED: "what is printed or logged",
    CHARGED: "what is charged",
    END: "what the person is told",
    LATER: "what is left to be done later",
    NEVER: "what else is asked of the system",
}
_NOT_DONE = {
    LATER: "something is left to be done later, when nobody looks",
    NEVER: "something is asked of the system that nobody needs to answer: a connection, another program, another wait",
}
"""Whatever is answered."""

Execute = Callable[[Mapping[str, Any], bytes, int], tuple[Observation, int]]
"""``execute(answers, tape, turn)``: what one run shows, and how many random bytes it took."""


@dataclass(frozen=True)
class Difference:
    """
    What differs between two runs that should look alike.

    Attributes:
        what: in words.
        questions: names of those whose answers differ.
    """

    what: str
    questions: tuple[str, ...]

    def __str__(self) -> str:
        """For the report."""
        if len(self.questions) == 1:
            return f"{self.what} depends on the answer to '{self.questions[0]}'"
        if len(self.questions) == 2:
            return f"{self.what} depends on the answers to '{self.questions[0]}' and '{self.questions[1]}' together"
        return f"{self.what} depends on several answers together"


def check_python_runs(survey: Survey, plan: RunPlan, tick: Tick) -> list[Check]:
    """
    All runs of the Python client.

    Args:
        survey: the survey.
        plan: its runs.
        tick: told of the progress.
    """
    # What the person's own environment holds is looked through at each request, and is nothing to compare.
    few = {name: os.environ[name] for name in _FOLDERS if name in os.environ}
    with tempfile.TemporaryDirectory(dir=_fast_folder()) as folder:
        # No request may take with it what the device knows of whom it goes to.
        passwords = Path(folder) / "netrc"
        passwords.write_text(_PASSWORDS, encoding="utf-8")
        few["NETRC"] = str(passwords)
        home = Path(folder) / "home"

        given: list[Mapping[str, Any]] = []

        def execute(answers: Mapping[str, Any], tape: bytes, turn: int) -> tuple[Observation, int]:
            # In every fourth vector what somebody else has answered is tried before, in vain.
            before = given.pop() if given and turn % 4 == 1 else None
            given[:] = [answers]
            # A new folder of the same name for each run, since names can be seen.
            home.mkdir(0o700)
            try:
                answer_before(survey, turn, home)
                return run_once(survey, answers, tape, turn, home, before)
            finally:
                shutil.rmtree(home)

        with environment(few, alone=True):
            return compare_runs("python", survey, plan, execute, tick)


def _fast_folder() -> str | None:
    """A folder in memory, if there is one: the client waits for the disk at every step."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - a new folder is made in it


def compare_runs(part: str, survey: Survey, plan: RunPlan, execute: Execute, tick: Tick) -> list[Check]:
    """
    The runs of each vector against its first one, and that one against what the randomizers report.

    Args:
        part: one of ``check.PARTS``.
        survey: the survey.
        plan: its runs.
        execute: makes one.
        tick: told of the progress.
    """
    if not plan.vectors:
        return []
    execute(plan.vectors[0].runs[0].answers, plan.vectors[0].runs[0].tape, 0)  # what is loaded once is loaded now
    problem = ""
    left: dict[int, object] = {}
    for turn, vector in enumerate(plan.vectors):
        problem = problem or _vector(survey, vector, turn, execute, left)
        tick(1 / len(plan.vectors))
    identity = Check(part, IDENTITY, PASSED, scope="the 16 bytes that its source gave, in every run")
    if problem:
        identity = Check(part, IDENTITY, NOT_DONE, message="the runs differ in something; see above")
        return [Check(part, SUBJECT, FAILED, scope=plan.scope, message=problem), identity]
    if plan.unreached:
        message = f"{plan.unreached:,} runs were left out: no way was found from an answer to a report"
        return [Check(part, SUBJECT, NOT_DONE, scope=plan.scope, message=message), identity]
    return [Check(part, SUBJECT, PASSED, scope=plan.scope), identity]


def _vector(survey: Survey, vector: VectorPlan, turn: int, execute: Execute, left: dict[int, object]) -> str:
    """What is wrong with the runs of one vector; an empty text if nothing is. ``left`` is of those before."""
    first = vector.runs[0]
    expected, taken = execute(first.answers, first.tape, turn)
    wrong = _unlike_plan(survey, vector, turn, expected, taken)
    if wrong:
        return wrong
    for run in vector.runs[1:]:
        seen, _ = execute(run.answers, run.tape, turn)
        if seen != expected:
            return str(_reason(vector, run, expected, seen, turn, execute))
    wrong = _unlike_others(expected, turn, left)
    return wrong or _beside(survey, expected, vector.id_in(survey, wave_of(survey, turn)))


def _unlike_plan(survey: Survey, vector: VectorPlan, turn: int, seen: Observation, taken: int) -> str:
    """Whether the first run is what the survey says: one report, the randomizers' values, its id, all bytes read."""
    requests = [event for event in seen if event.kind == REQUEST]
    bodies = {event.what[3] for event in requests if is_for_reports(event)}
    if len(bodies) != 1:
        return "the client sends no report, or several; or it stops with an error"
    try:
        report = parse_report(bodies.pop() or b"")
    except (SurveyError, ValueError):
        return "what is sent is no report"
    wave = wave_of(survey, turn)
    about, expected = (survey.digest, wave), vector.id_in(survey, wave)
    if (report.digest, report.wave) != about or report.values != vector.outputs:
        return "a report holds other values than its randomizers give for these random bytes"
    if report.report_id != expected:
        return "the id of a report is not what the source of randomness gave"
    if taken < len(vector.runs[0].tape):
        return "fewer random bytes are read than the randomizers need"
    redemption = vector.runs[0].tape[slice(*vector.redemption)]
    wrong = unlike_redemption(survey, report, seen, redemption) if survey.is_blind else ""
    return wrong or _unlike_ledger(survey, seen, expected.encode())


def _unlike_others(seen: Observation, turn: int, left: dict[int, object]) -> str:
    """Whether what is left in the end hangs on what was reported, which is to be forgotten."""
    kept = [event.what for event in seen if event.kind == FILES][-1]
    same = left.setdefault(turn % _TURNS, kept) == kept
    return "" if same or turn // 2 % 2 else "what is left after forgetting hangs on what was reported"


def _beside(survey: Survey, seen: Observation, report_id: str) -> str:
    """Whether something is done that is not agreed, whatever is answered."""
    wrong = next((_NOT_DONE[event.kind] for event in seen if event.kind in _NOT_DONE), "")
    if wrong:
        return wrong
    requests = [event for event in seen if event.kind == REQUEST]
    return "" if all(is_agreed(survey, event, report_id) for event in requests) else NOT_AGREED


def _unlike_ledger(survey: Survey, seen: Observation, report_id: bytes) -> str:
    """Whether the report lay in the ledger before it was sent, and was charged with what it costs."""
    first = next(place for place, event in enumerate(seen) if event.kind == REQUEST and is_for_reports(event))
    files = [event.what for event in seen[:first] if event.kind == FILES]
    if not any(report_id in content and b"report_id" in content for _, _, content in (files[-1] if files else ())):
        return "the report is sent before the device remembers it"
    left = [event.what for event in seen if event.kind == FILES][-1]
    if any(report_id in content for _, _, content in left):
        return "the device keeps the report when it was withdrawn or forgotten"
    charged = [event.what[0] for event in seen if event.kind == CHARGED]
    right = charged and all(math.isclose(each, survey.epsilon, rel_tol=_NOTCH) for each in charged)
    return "" if right else "the device is charged with something else than the report costs"


def _reason(
    vector: VectorPlan, run: Run, expected: Observation, seen: Observation, turn: int, execute: Execute
) -> Difference:
    """The first difference, with the fewest answers that show it among runs like this one."""
    for other in vector.runs[1:]:
        if len(_questions(vector, other)) <= 2:
            shown, _ = execute(other.answers, other.tape, turn)
            if shown != expected:
                return Difference(first_difference(expected, shown), _questions(vector, other))
    return Difference(first_difference(expected, seen), _questions(vector, run))


def _questions(vector: VectorPlan, run: Run) -> tuple[str, ...]:
    first = vector.runs[0].answers
    names = dict.fromkeys([*first, *run.answers])
    return tuple(name for name in names if first.get(name) != run.answers.get(name))


def first_difference(expected: Sequence[Event], seen: Sequence[Event]) -> str:
    """In words what the first event is in which two runs differ, or a report wherever it is; never a value."""
    bodies = [[event.what[3] for event in events if event.kind == REQUEST] for events in (expected, seen)]
    if any(one != other for one, other in zip(*bodies, strict=False)):
        return _BODY
    for one, other in zip(expected, seen, strict=False):
        if one == other:
            continue
        if (one.kind, one.stage) != (other.kind, other.stage):
            return "what is done, and in which order,"
        if one.kind == FILES:
            return f"what the device keeps {one.stage}"
        if one.kind == REQUEST:
            parts = zip(_REQUEST_PARTS, one.what, other.what, strict=True)
            return next(part for part, mine, theirs in parts if mine != theirs)
        return _KINDS[one.kind]
    return "how much is done"
