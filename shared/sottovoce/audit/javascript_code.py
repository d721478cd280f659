"""The part of an audit that runs the browser's client, as it is assembled for browsers, through all branches."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

from sottovoce.audit.check import FAILED, NOT_DONE, Check
from sottovoce.audit.device_histories import ASKED, Life, judge_life, judge_set, set_survey
from sottovoce.audit.exact_channel import MAX_PATHS, Computed
from sottovoce.audit.python_code import (
    Task,
    alone,
    check_instructions,
    judge_code,
    judge_refusals,
    outside,
    possible,
)
from sottovoce.shared.questions import dump_question
from sottovoce.shared.spec import Survey

SECONDS = 240
"""What takes longer is stopped, and has failed."""

_UNREADABLE = (TypeError, KeyError, ValueError, AttributeError, ArithmeticError)
_LACK = "node is not installed; the JavaScript client was not run"
_BROKEN = "the scripts do not run under node as they should"


def check_javascript(
    survey: Survey, tasks: Sequence[Task], scripts: Mapping[str, str], lives: Sequence[Life] = ()
) -> list[Check]:
    """
    The laws of the JavaScript client's randomizers and whole lives, or the law of its instructions; what it refuses.

    Args:
        survey: the survey.
        tasks: what to run, in the survey's order.
        scripts: from ``page.opened()``.
        lives: what to follow.
    """
    node = shutil.which("node")
    if node is None:
        return [Check("javascript", "all questions", NOT_DONE, message=_LACK)]
    found = _run(node, scripts, _order(survey, tasks, lives, list(scripts)))
    try:
        laws, procedures, accepted, refused = (found[key] for key in ("laws", "procedures", "accepted", "refused"))
        if survey.own_coin:
            pairs = zip(tasks, procedures, strict=True)
            checks = [check_instructions("javascript", task.asked, _procedure(told)) for task, told in pairs]
        else:
            checks = [_check_law(task, law) for task, law in zip(tasks, laws, strict=True)]
        drawn = set_survey(survey)
        checks += [] if drawn is None else [_check_set(survey, drawn, found["set"])]
        checks += [_check_life(life, law) for life, law in zip(lives, found["lives"], strict=True)]
        if len(refused) < len(outside(survey)) or len(accepted) != len(survey.questions):
            raise ValueError
    except (TypeError, KeyError, ValueError):
        return [Check("javascript", "all questions", FAILED, message=_BROKEN)]
    return [*checks, judge_refusals("javascript", accepted, refused)]


def _order(survey: Survey, tasks: Sequence[Task], lives: Sequence[Life], scripts: list[str]) -> dict[str, Any]:
    questions = [
        {"question": dump_question(alone(dump_question(task.run))), "inputs": task.inputs, "most": MAX_PATHS}
        for task in tasks
    ]
    drawn = set_survey(survey)
    return {
        "scripts": scripts,
        "questions": questions,
        "survey": survey.canonical.decode(),
        "possible": possible(survey),
        "outside": outside(survey),
        "set": None if drawn is None else drawn.canonical.decode(),
        "lives": [{"survey": life.survey.canonical.decode(), "answers": life.answers} for life in lives],
        "most": MAX_PATHS,
    }


def _run(node: str, scripts: Mapping[str, str], order: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever it printed
    """What the driver printed; None if it failed, or printed no JSON."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
        (folder / "driver.js").write_bytes(files("sottovoce.audit").joinpath("javascript_driver.mjs").read_bytes())
        for script, text in scripts.items():
            (folder / script).write_text(text, encoding="utf-8")
        try:
            run = subprocess.run(  # noqa: S603 - the program that was found, and our own driver
                [node, str(folder / "driver.js")],
                input=json.dumps(order),
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=True,
            )
            return json.loads(run.stdout)
        except (subprocess.SubprocessError, OSError, ValueError):
            return None


def _check_law(task: Task, laws: object) -> Check:
    try:
        computed = {value: _computed(law, int) for value, law in zip(task.inputs, laws, strict=True)}  # type: ignore[call-overload]
    except _UNREADABLE:
        message = "its draws cannot be followed, or it reports what is no whole number"
        return Check("javascript", task.asked.name, FAILED, task.asked.epsilon, scope=task.scope, message=message)
    return judge_code("javascript", task, computed)


def _check_set(survey: Survey, drawn: Survey, law: object) -> Check:
    try:
        return judge_set("javascript", survey, drawn, _computed(law, str).law)
    except _UNREADABLE:
        return Check("javascript", ASKED, FAILED, message="its draws cannot be followed")


def _check_life(life: Life, laws: object) -> Check:
    try:
        computed = {truths: _computed(law, str) for truths, law in zip(life.truths, laws, strict=True)}  # type: ignore[call-overload]
    except _UNREADABLE:
        message = "its draws cannot be followed"
        return Check("javascript", life.subject, FAILED, life.figure, scope=life.scope, message=message)
    return judge_life("javascript", life, computed)


def _computed(law: Any, told: Callable[[str], Any]) -> Computed:  # noqa: ANN401 - whatever the driver printed
    return Computed(
        {told(reported): Fraction(probability) for reported, probability in law["law"].items()},
        frozenset(tuple(bounds) for bounds in law["bounds"]),
    )


def _procedure(told: object) -> object:
    """(flips, parts), as Python has them."""
    return (told["flips"], told["parts"]) if isinstance(told, dict) and {"flips", "parts"} <= set(told) else None
