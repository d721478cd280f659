"""Audit one question for pages of other systems: its integers, the core under node, and visits to its window."""

import json
import shutil
from dataclasses import replace
from functools import partial
from typing import Any

from sottovoce import records
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check, Tick
from sottovoce.audit.exact_channel import MAX_PATHS, MAX_WORK, QUICK_WORK
from sottovoce.audit.javascript_code import NODE_MISSING, UNREADABLE, computed_row, run_driver
from sottovoce.audit.python_code import Task, check_integers, judge_code, plan
from sottovoce.audit.run import FORMAT, judged
from sottovoce.audit.served.served_page import check_file
from sottovoce.audit.subprocess_worker import surely
from sottovoce.client.page import PageFile
from sottovoce.client.question_page import VERSION, question_assets, question_scripts
from sottovoce.shared.answers import Value
from sottovoce.shared.errors import TransportError
from sottovoce.shared.file_errors import install_command
from sottovoce.shared.questions import dump_question
from sottovoce.shared.single_question import SingleQuestion, parse_question
from sottovoce.shared.spec import Question

VISITS, QUICK_VISITS = 12, 4
BROWSER_MISSING = f"visits need a Chromium and {install_command('audit')}"
_OTHER_RECORD = "it hands over something else than the record of its report, or its draws cannot be followed"


def audit_question(asked: SingleQuestion, address: str | None, quick: bool, tick: Tick) -> dict[str, Any]:
    """Audit a question, and return the document sottovoce-audit/1, which lists no promises of a survey.

    A served question at ``address`` is compared with this release's. Raises TransportError if a file of it cannot be
    fetched.
    """
    question = asked.question
    checks = [*_served(address), check_integers(question)]
    checks += surely("core", question.name, lambda: [_check_core(asked, QUICK_WORK if quick else MAX_WORK)])
    tick(0.1)
    checks += surely("frame", "whole runs", lambda: [_visited(asked, QUICK_VISITS if quick else VISITS, tick)])
    title = question.label.get("en") or min(question.label.items())[1]
    about = {"survey": question.name, "revision": 1, "digest": asked.digest, "title": title}
    return {"format": FORMAT, **about, "epsilon": question.epsilon, "promises": [], **judged(checks)}


def answer_of(question: Question, value: Value) -> Any:  # noqa: ANN401 - in the form of the question's type
    """Return the answer with a true value; None where the question has a home for no answer, and this is it."""
    return None if question.domain.absent and value == question.absent else question.answer(value)


def _check_core(asked: SingleQuestion, work: int) -> Check:
    """Compare the exact distribution of the core's records with the channel."""
    task = plan(asked.question, work)
    node = shutil.which("node")
    if task is None or node is None:
        message = NODE_MISSING if node is None else "its branches are too many, those of a smaller question as well"
        return Check("core", asked.question.name, NOT_DONE, asked.question.epsilon, message=message)
    run = asked if task.run is task.asked else parse_question(dump_question(task.run))
    answers = [answer_of(run.question, value) for value in task.inputs]
    order = {"question": run.document, "answers": answers, "most": MAX_PATHS}
    rows = run_driver(node, question_scripts(), "question_driver.mjs", order)
    return _judge(task, run, rows)


def _judge(task: Task, run: SingleQuestion, rows: object) -> Check:
    try:
        read = partial(_report_of, run)
        computed = {value: computed_row(row, read) for value, row in zip(task.inputs, rows, strict=True)}  # type: ignore[call-overload]
    except UNREADABLE:
        return Check("core", task.asked.name, FAILED, task.asked.epsilon, scope=task.scope, message=_OTHER_RECORD)
    return judge_code("core", task, computed)


def _report_of(run: SingleQuestion, record: Any) -> int:  # noqa: ANN401 - whatever the driver printed
    """Return a record's report; a ``ValueError`` says that the record is not the one of this report."""
    report: int = record["report"]
    expected = replace(records.record_of(run, report, once=False), client=VERSION)
    if record != json.loads(records.write(expected)):
        raise ValueError
    return report


def _served(address: str | None) -> list[Check]:
    if address is None:
        return []
    return [check_file(name or "index.html", address + name, file.body) for name, file in frame_files().items()]


def frame_files() -> dict[str, PageFile]:
    """Return page and element by their paths below the question's address."""
    assets = question_assets()
    pages = {"": assets["question.html"], "block.html": assets["question_block.html"]}
    return {**pages, "element.js": assets["question.js"], "frame.js": assets["question_frame.js"]}


def _visited(asked: SingleQuestion, visits: int, tick: Tick) -> Check:
    try:
        from sottovoce.audit.served import chromium, frame_visits

        with chromium.Watchdog(chromium.TIMEOUT_SECONDS), chromium.browser() as browser:
            message = frame_visits.problem_of_visits(browser, asked, frame_files(), visits, tick)
    except ModuleNotFoundError:
        return Check("frame", "whole runs", NOT_DONE, message=BROWSER_MISSING)
    except TransportError as error:
        return Check("frame", "whole runs", NOT_DONE, message=str(error))
    return Check("frame", "whole runs", FAILED if message else PASSED, scope=f"{visits} visits", message=message)
