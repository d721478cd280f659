"""Run a whole audit: integers, Python and JavaScript of this installation, then what an aggregator serves.

JavaScript is the browser's client, as it is assembled for browsers, under node. Of one question for pages of other
systems it is the core under node, and visits to its window.
"""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from sottovoce import records
from sottovoce.audit.check import FAILED, NOT_DONE, NOT_FOLLOWED, PARTS, PASSED, Check, Tick
from sottovoce.audit.exact_channel import MAX_PATHS, MAX_WORK, QUICK_WORK, Computed, Distribution
from sottovoce.audit.histories import (
    ASKED,
    DeviceHistory,
    answer_of,
    check_histories,
    check_set,
    histories_of,
    judge_history,
    judge_set,
    set_survey,
)
from sottovoce.audit.promises import promise_results, statement
from sottovoce.audit.python_code import (
    Task,
    alone,
    check_instructions,
    check_integers,
    check_python,
    check_python_refusals,
    check_written,
    judge_code,
    judge_refusals,
    outside,
    plan,
    possible,
    private,
)
from sottovoce.audit.randomness import SOURCE, begin_programs, check_source
from sottovoce.audit.served import served_page
from sottovoce.audit.subprocess_worker import start_in_fork, surely
from sottovoce.client.link import Link
from sottovoce.client.page import PageFile, opened
from sottovoce.client.question_page import VERSION, question_assets, question_scripts
from sottovoce.shared.by_hand.own_coin import procedure
from sottovoce.shared.by_hand.protection import hidden_by_facts
from sottovoce.shared.errors import TransportError, install_command
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.questions import dump_question
from sottovoce.shared.single_question import SingleQuestion, parse_question
from sottovoce.shared.spec import Survey

FORMAT = "sottovoce-audit/1"
INCOMPLETE = "incomplete"

SECONDS = 900
"""What takes longer is stopped, and has failed."""

UNREADABLE = (TypeError, KeyError, ValueError, AttributeError, ArithmeticError)
NODE_MISSING = "node is not installed; the JavaScript client was not run"
_BROKEN = "the scripts do not run under node as they should"
_NO_NUMBER = f"{NOT_FOLLOWED}, or it reports what is no whole number"


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
            checks = [_check_distributions("javascript", task, rows, int, _NO_NUMBER) for task, rows in pairs]
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


_FRUGAL = ("--single-threaded", "--max-semi-space-size=64", "--always-sparkplug", "--interrupt-budget=200000")
"""Node uses no further threads for garbage, since the other core has work, and optimizes only what runs very often."""


@contextmanager
def laid_out(node: str, scripts: Mapping[str, str], driver: str) -> Iterator[list[str]]:
    """Yield the command that runs the audit's script ``driver`` beside the browser's ``scripts`` from
    ``page.opened()``.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
        for part in files("sottovoce.audit").joinpath("javascript").iterdir():
            if part.name.endswith(".mjs"):
                (folder / part.name).write_bytes(part.read_bytes())
        for script, text in scripts.items():
            (folder / script).write_text(text, encoding="utf-8")
        yield [node, *_FRUGAL, str(folder / driver)]


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


def _check_distributions(part: str, task: Task, rows: object, read: Callable[[Any], int], unread: str) -> Check:
    """Check the printed distributions of a task; ``unread`` says what is wrong if they cannot be read."""
    try:
        computed = {value: computed_row(row, read) for value, row in zip(task.inputs, rows, strict=True)}  # type: ignore[call-overload]
    except UNREADABLE:
        return Check(part, task.asked.name, FAILED, task.asked.epsilon, scope=task.scope, message=unread)
    return judge_code(part, task, computed)


def _check_set(survey: Survey, drawn: Survey, row: object) -> Check:
    try:
        return judge_set("javascript", survey, drawn, computed_row(row, str).distribution)
    except UNREADABLE:
        return Check("javascript", ASKED, FAILED, message=NOT_FOLLOWED)


def _check_history(history: DeviceHistory, rows: object) -> Check:
    try:
        computed = {truths: computed_row(row, str) for truths, row in zip(history.truths, rows, strict=True)}  # type: ignore[call-overload]
    except UNREADABLE:
        return Check("javascript", history.subject, FAILED, history.figure, scope=history.scope, message=NOT_FOLLOWED)
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


@dataclass(frozen=True)
class Order:
    """The scope and size of one audit.

    Attributes:
        survey: whose claims.
        link: of the survey at an aggregator whose files are compared too; None for this installation only.
        quick: fewer true values, for use while the survey is edited.
    """

    survey: Survey
    link: Link | None = None
    quick: bool = False


Begin = Callable[[str, float], Tick]
"""``begin(name, total)`` when a part begins; its result is called with each share of the total that is done."""


def audit(order: Order, begin: Begin) -> list[Check]:
    """Make all checks. If the aggregator serves another survey, nothing else is tried.

    Raises:
        TransportError: the aggregator cannot be reached.
        SpecError: what it serves is no survey.
    """
    if order.link is None:
        return _audit_here(order, begin)
    served = served_page.fetch_survey(order.link)
    first = served_page.check_survey(order.link, order.survey, served)
    if first.outcome != PASSED:
        return [first]
    # What is served may say what it replaces, and so have another digest than the file's, which reports name.
    return [first, *_audit_here(replace(order, survey=served), begin), *served_page.check_files(order.link)]


def _audit_here(order: Order, begin: Begin) -> list[Check]:
    """Check integers, Python and JavaScript of this installation."""
    # No draw depends on who may take part, and a file has no keys before it is published.
    survey = parse_survey({**order.survey.document, "access": "open"}) if order.survey.is_blind else order.survey
    tick = begin("distributions of both clients", 2)
    tasks = {question.name: plan(question, QUICK_WORK if order.quick else MAX_WORK) for question in private(survey)}
    run = [task for task in tasks.values() if task is not None]
    found, lacking = histories_of(survey)
    enumerated = start_in_fork("python", "all questions", lambda: _enumerated(survey, tasks, found))
    javascript = surely("javascript", "all questions", lambda: check_javascript(survey, run, opened(), found))
    tick(1)
    checks = [*enumerated(), *lacking, *javascript]
    tick(1)
    return [*statement(survey, checks), *checks]


def _enumerated(survey: Survey, tasks: Mapping[str, Task | None], found: Sequence[DeviceHistory]) -> list[Check]:
    """Check the distributions of the Python client, and what its randomizers refuse."""
    return [
        *_computed_distributions(survey, tasks),
        *surely("python", "histories", lambda: [*check_set(survey), *check_histories(found)]),
        check_python_refusals(survey),
        *check_source(begin_programs()),
    ]


def _computed_distributions(survey: Survey, tasks: Mapping[str, Task | None]) -> list[Check]:
    """Check the numbers and the running Python randomizers."""
    together = [survey.questions[place] for block in survey.blocks for place in block.questions]
    checks = [check_written(survey), *map(check_integers, together)]
    for question in private(survey):
        checks.append(check_integers(question))
        task = tasks[question.name]
        if task is None:
            message = "its branches are too many, those of a smaller question as well"
            checks.append(Check("python", question.name, NOT_DONE, question.epsilon, message=message))
        else:
            steps = procedure(question.randomizer)
            checks.append(check_instructions("python", question, steps) if survey.own_coin else check_python(task))
    message = "not randomized by the device, not tested"
    facts = hidden_by_facts(survey)
    return [*checks, *(Check("python", each.name, NOT_DONE, each.epsilon, message=message) for each in facts)]


def report(order: Order, checks: list[Check]) -> dict[str, Any]:
    """Build the document with the format name sottovoce-audit/1."""
    survey = order.survey
    about = {
        "survey": survey.name,
        "revision": survey.revision,
        "digest": survey.digest,
        "title": survey.text(survey.title),
        "epsilon": survey.epsilon,
    }
    return {"format": FORMAT, **about, "promises": promise_results(checks), **judged(checks)}


def judged(checks: list[Check]) -> dict[str, Any]:
    """Return the verdict and the checks by part, as an audit's document has them."""
    outcomes = {check.outcome for check in checks}
    verdict = FAILED if FAILED in outcomes else PASSED if outcomes == {PASSED} else INCOMPLETE
    ordered = sorted(checks, key=lambda check: PARTS.index(check.part))
    return {"verdict": verdict, "checks": [asdict(check) for check in ordered]}


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
    return _check_distributions("core", task, rows, partial(_report_of, run), _OTHER_RECORD)


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
    check = served_page.check_file
    return [check(name or "index.html", address + name, file.body) for name, file in frame_files().items()]


def frame_files() -> dict[str, PageFile]:
    """Return page and element by their paths below the question's address."""
    assets = question_assets()
    pages = {"": assets["question.html"], "block.html": assets["question_block.html"]}
    return {**pages, "element.js": assets["question.js"], "frame.js": assets["question_frame.js"]}


def _visited(asked: SingleQuestion, visits: int, tick: Tick) -> Check:
    try:
        from sottovoce.audit.served import chromium, frame_visits

        with chromium.limited(), chromium.browser() as browser:
            message = frame_visits.problem_of_visits(browser, asked, frame_files(), visits, tick)
    except ModuleNotFoundError:
        return Check("frame", "whole runs", NOT_DONE, message=BROWSER_MISSING)
    except TransportError as error:
        return Check("frame", "whole runs", NOT_DONE, message=str(error))
    return Check("frame", "whole runs", FAILED if message else PASSED, scope=f"{visits} visits", message=message)
