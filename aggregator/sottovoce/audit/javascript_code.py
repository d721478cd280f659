"""Audit the browser's client, as it is assembled for browsers, under node."""

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from sottovoce.audit.branching_draws import Distribution
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check
from sottovoce.audit.client_process import laid_out
from sottovoce.audit.exact_channel import MAX_PATHS, Computed
from sottovoce.audit.histories import ASKED, DeviceHistory, judge_history, judge_set, set_survey
from sottovoce.audit.python_code import Task, alone, check_instructions, judge_code, judge_refusals, outside, possible
from sottovoce.audit.randomness import SOURCE
from sottovoce.shared.questions import dump_question
from sottovoce.shared.spec import Survey

SECONDS = 900
"""What takes longer is stopped, and has failed."""

UNREADABLE = (TypeError, KeyError, ValueError, AttributeError, ArithmeticError)
NODE_MISSING = "node is not installed; the JavaScript client was not run"
_BROKEN = "the scripts do not run under node as they should"


def check_javascript(
    survey: Survey, tasks: Sequence[Task], scripts: Mapping[str, str], histories: Sequence[DeviceHistory] = ()
) -> list[Check]:
    """Check the JavaScript client: distributions of its randomizers and whole histories, or what its instructions say;
    what it refuses; where its randomness is from. ``scripts`` are from ``page.opened()``.
    """
    node = shutil.which("node")
    if node is None:
        return [Check("javascript", "all questions", NOT_DONE, message=NODE_MISSING)]
    order = {**_order(survey, tasks, histories), "scripts": list(scripts)}
    found = run_driver(node, scripts, "javascript_driver.mjs", order)
    try:
        accepted, refused = found["accepted"], found["refused"]
        if survey.own_coin:
            pairs = zip(tasks, found["procedures"], strict=True)
            checks = [check_instructions("javascript", task.asked, _procedure(steps)) for task, steps in pairs]
        else:
            pairs = zip(tasks, found["distributions"], strict=True)
            checks = [_check_distributions(task, rows) for task, rows in pairs]
        drawn = set_survey(survey)
        checks += [] if drawn is None else [_check_set(survey, drawn, found["set"])]
        checks += [_check_history(history, rows) for history, rows in zip(histories, found["histories"], strict=True)]
        checks.append(_judge_source(found))
        if len(refused) < len(outside(survey)) or len(accepted) != len(survey.questions):
            raise ValueError
    except (TypeError, KeyError, ValueError):
        return [Check("javascript", "all questions", FAILED, message=_BROKEN)]
    return [*checks, judge_refusals("javascript", accepted, refused)]


def _order(survey: Survey, tasks: Sequence[Task], histories: Sequence[DeviceHistory]) -> dict[str, Any]:
    questions = [
        {"question": dump_question(alone(dump_question(task.run))), "inputs": task.inputs, "most": MAX_PATHS}
        for task in tasks
    ]
    drawn = set_survey(survey)
    return {
        "questions": questions,
        "survey": survey.canonical.decode(),
        "possible": possible(survey),
        "outside": outside(survey),
        "set": None if drawn is None else drawn.canonical.decode(),
        "histories": [{"survey": each.survey.canonical.decode(), "answers": each.answers} for each in histories],
        "most": MAX_PATHS,
    }


def run_driver(node: str, scripts: Mapping[str, str], driver: str, order: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Run the audit's script ``driver`` with the input ``order``, and ``scripts`` beside it by name.

    Return the JSON that it prints, parsed; None if it fails or prints none.
    """
    with laid_out(node, scripts, driver) as command:
        try:
            run = subprocess.run(  # noqa: S603 - the program that was found, and our own driver
                command, input=json.dumps(order), capture_output=True, text=True, timeout=SECONDS, check=True
            )
            return json.loads(run.stdout)
        except (subprocess.SubprocessError, OSError, ValueError):
            return None


_SOURCE = {
    "protocol": "its draws are not made of all its random bytes, in their order, as the protocol says",
    "unused": "it reads random bytes and does not use them",
    "fallback": "it draws where there is no randomness",
    "missing": "it asks for answers where randomness or secrecy is missing",
}


def _judge_source(found: Mapping[str, Any]) -> Check:
    """Judge the source of randomness."""
    elsewhere = "it has values from elsewhere than crypto.getRandomValues: {}"
    problems = [_SOURCE.get(kind, elsewhere.format(str(kind).removeprefix("source "))) for kind in found["source"]]
    scope = "draws from bytes of crypto.getRandomValues"
    return Check("javascript", SOURCE, FAILED if problems else PASSED, scope=scope, message="; ".join(problems))


def _check_distributions(task: Task, rows: object) -> Check:
    try:
        computed = {value: computed_row(row, int) for value, row in zip(task.inputs, rows, strict=True)}  # type: ignore[call-overload]
    except UNREADABLE:
        message = "its draws cannot be followed, or it reports what is no whole number"
        return Check("javascript", task.asked.name, FAILED, task.asked.epsilon, scope=task.scope, message=message)
    return judge_code("javascript", task, computed)


def _check_set(survey: Survey, drawn: Survey, row: object) -> Check:
    try:
        return judge_set("javascript", survey, drawn, computed_row(row, str).distribution)
    except UNREADABLE:
        return Check("javascript", ASKED, FAILED, message="its draws cannot be followed")


def _check_history(history: DeviceHistory, rows: object) -> Check:
    try:
        computed = {truths: computed_row(row, str) for truths, row in zip(history.truths, rows, strict=True)}  # type: ignore[call-overload]
    except UNREADABLE:
        message = "its draws cannot be followed"
        return Check("javascript", history.subject, FAILED, history.figure, scope=history.scope, message=message)
    return judge_history("javascript", history, computed)


def computed_row(row: Any, read: Callable[[Any], Any]) -> Computed:  # noqa: ANN401 - whatever the driver printed
    """Read one printed distribution; ``read`` makes a reported value comparable.

    ``row`` should be (what was reported, bounds of what was read, probability) of each way, whatever it is in fact.
    """
    distribution: Distribution = {}
    for reported, _, probability in row:
        distribution[read(reported)] = distribution.get(read(reported), Fraction(0)) + Fraction(probability)
    return Computed(distribution, frozenset(tuple(bounds) for _, bounds, _ in row))


def _procedure(found: object) -> object:
    """Return (flips, parts), as Python has them."""
    return (found["flips"], found["parts"]) if isinstance(found, dict) and {"flips", "parts"} <= set(found) else None
