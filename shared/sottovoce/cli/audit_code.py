"""The parts of an audit that prove: the survey's integers, and every branch of the code in Python and JavaScript."""

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from sottovoce.aggregator.audit.branching import TooManyPaths
from sottovoce.aggregator.audit.channels import (
    MAX_PATHS,
    MAX_WORK,
    Computed,
    Mismatch,
    check_code,
    compute,
    count_paths,
    input_count,
    inputs_of,
    prove_integers,
)
from sottovoce.cli.audit_check import FAILED, NOT_DONE, PASSED, Check
from sottovoce.client import page
from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.shared import rational
from sottovoce.shared.answers import Value
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parsing import parse_survey
from sottovoce.shared.questions import dump_question
from sottovoce.shared.rational import dump_decimal
from sottovoce.shared.spec import Question, Survey

SMALL = 6
"""Options, or steps of a grid, of the smaller question that stands for one with too many branches."""

_NODE_SECONDS = 240
_EXPORTED = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Task:
    """
    What of a question is run through all of its branches.

    Attributes:
        asked: the question as it stands in the survey.
        run: that question, or a smaller one of the same mechanism.
        inputs: the true values to try.
    """

    asked: Question
    run: Question
    inputs: tuple[Value, ...]

    @property
    def scope(self) -> str:
        """What is tried, in words."""
        count = input_count(self.run)
        every = len(self.inputs) == count
        inputs = f"all {count} inputs" if every else f"{len(self.inputs)} of {count:,} inputs"
        return inputs if self.run is self.asked else f"{inputs} of a smaller question, for the branches are too many"


def private(survey: Survey) -> list[Question]:
    """The questions that are randomized."""
    return [question for question in survey.questions if question.mechanism is not None]


def check_integers(question: Question) -> Check:
    """Epsilon from the survey's own integers."""
    try:
        odds, scope = prove_integers(question)
    except Mismatch as mismatch:
        return Check("integers", question.name, FAILED, question.epsilon, message=str(mismatch))
    return Check("integers", question.name, PASSED, question.epsilon, rational.log(odds), scope)


def plan(question: Question) -> Task | None:
    """What to run of a question; None if even a smaller one has too many branches."""
    for run in (question, smaller(question)):
        if run is None:
            continue
        count = count_paths(partial(_randomize, run), inputs_of(run, 2)[0])
        if count is not None:
            return Task(question, run, tuple(inputs_of(run, max(2, MAX_WORK // count))))
    return None


def smaller(question: Question) -> Question | None:
    """A question of the same type with the same mechanism and fewer true values; None if there is none."""
    document = dump_question(question)
    grid = question.domain.grid
    if "choices" in document:
        document["choices"] = document["choices"][:SMALL]
    if "coordinates" in document:
        document["coordinates"] = document["coordinates"][:2]
    if "max_choices" in document:
        document["max_choices"] = min(SMALL, document["max_choices"])
    if grid is not None:
        document["max"] = dump_decimal(grid.low + grid.step * min(grid.steps, SMALL))
    if "size" in document["mechanism"]:
        document["mechanism"] = {**document["mechanism"], "size": min(SMALL // 2, document["mechanism"]["size"])}
    try:
        return _alone(document)
    except SpecError:
        return None


def check_python(task: Task) -> Check:
    """The law of the Python client's randomizer."""
    try:
        computed = compute(partial(_randomize, task.run), task.inputs)
    except (TooManyPaths, ValueError):
        message = "its draws cannot be followed"
        return Check("python", task.asked.name, FAILED, task.asked.epsilon, scope=task.scope, message=message)
    return judge_code("python", task, computed)


def judge_code(part: str, task: Task, computed: Mapping[Value, Computed]) -> Check:
    """A law that was computed from code, against the mechanism."""
    claim = task.asked.epsilon
    try:
        odds = check_code(task.run, computed)
    except Mismatch as mismatch:
        return Check(part, task.asked.name, FAILED, claim, scope=task.scope, message=str(mismatch))
    # Of a smaller question the figure would not be the survey's.
    epsilon = rational.log(odds) if task.run is task.asked else None
    return Check(part, task.asked.name, PASSED, claim, epsilon, task.scope)


def script_with_exports(script: str) -> str:
    """The one script, with a last line that lets a test reach what its modules export."""
    names = _EXPORTED.findall("".join(page.modules().values()))
    return f"{script}export {{ {', '.join(names)} }};\n"


def check_javascript(tasks: list[Task], script: str) -> list[Check]:
    """The law of the JavaScript client's randomizers, in the script as it is served, under node."""
    node = shutil.which("node")
    if node is None:
        lack = "node is not installed; the JavaScript client was not run"
        return [Check("javascript", "all questions", NOT_DONE, message=lack)]
    orders = [{"question": dump_question(task.run), "inputs": task.inputs, "most": MAX_PATHS} for task in tasks]
    with tempfile.TemporaryDirectory() as folder:
        found = _node(node, Path(folder), orders, script)
    if found is None:
        lack = "the script does not run under node as it should"
        return [Check("javascript", "all questions", FAILED, message=lack)]
    return [_javascript(task, laws) for task, laws in zip(tasks, found, strict=True)]


def _node(node: str, folder: Path, orders: list[dict[str, Any]], script: str) -> list[Any] | None:
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    (folder / "respondent.js").write_text(script_with_exports(script), encoding="utf-8")
    (folder / "driver.js").write_bytes(files("sottovoce.cli").joinpath("audit_driver.mjs").read_bytes())
    try:
        run = subprocess.run(  # noqa: S603 - the program that was found, and our own driver
            [node, str(folder / "driver.js")],
            input=json.dumps(orders),
            capture_output=True,
            text=True,
            timeout=_NODE_SECONDS,
            check=True,
        )
        found = json.loads(run.stdout)
    except (subprocess.SubprocessError, OSError, ValueError):
        return None
    return found if isinstance(found, list) and len(found) == len(orders) else None


def _javascript(task: Task, laws: object) -> Check:
    try:
        computed = {
            value: Computed(
                {int(reported): Fraction(probability) for reported, probability in law["law"].items()},
                frozenset(tuple(bounds) for bounds in law["bounds"]),
            )
            for value, law in zip(task.inputs, laws, strict=True)  # type: ignore[call-overload]
        }
    except (TypeError, KeyError, ValueError, AttributeError):
        message = "its draws cannot be followed, or it reports what is no whole number"
        return Check("javascript", task.asked.name, FAILED, task.asked.epsilon, scope=task.scope, message=message)
    return judge_code("javascript", task, computed)


def _randomize(question: Question, value: Value, draws: Any) -> int:  # noqa: ANN401 - what stands in for Draws
    assert question.mechanism is not None  # noqa: S101 - only such questions are audited
    stand_in: Draws = draws
    return RANDOMIZERS[question.mechanism.name](question.mechanism, value, stand_in)


def _alone(document: Mapping[str, Any]) -> Question:
    """The one question of a survey made for it."""
    survey = {"format": "sottovoce-survey/1", "name": "audit", "revision": 1, "title": {"en": "Audit"}}
    label = {"en": "Q"}
    renamed = {**document, "label": label}
    renamed.pop("hint", None)
    for key in ("choices", "coordinates"):
        if key in renamed:
            renamed[key] = [{**item, "label": label} for item in renamed[key]]
    return parse_survey({**survey, "default_language": "en", "questions": [renamed]}).questions[0]
