"""
What an audit says of the browser's client as a whole, once it was run under node: its way from answers to bytes that
leave it or stay, its ids, its source of randomness, and what it must refuse.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check
from sottovoce.audit.exact_channel import MAX_PATHS, count_paths
from sottovoce.audit.interference import IDENTITY, SUBJECT
from sottovoce.audit.page_style import check_styles
from sottovoce.audit.python_code import Task
from sottovoce.audit.randomness import FEW, ID_LAW, SOURCE, alone_with
from sottovoce.audit.redeemed_runs import BESIDE, KEPT, NOT_BLINDED, NOT_SIGNED, TWICE
from sottovoce.audit.runs import RunPlan, VectorPlan
from sottovoce.audit.waiting import present_of
from sottovoce.client.page import PageFile
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.shared.answers import Value
from sottovoce.shared.report import Report, dump_report
from sottovoce.shared.spec import Question, Survey

FORM, REFUSALS = "the form's own steps", "what it must refuse"

TOOK_NO_ANSWER = "it takes what is no answer, repeats it in an error, or draws before it refuses"

_REDUCED = 4

_PARTS = {
    "read 1": "how many random bytes it reads at a time",
    "read 2": "into what it reads random bytes",
    "request 1": "the method of a request",
    "request 2": "the address of a request",
    "request 3": "the headers of a request",
    "request 4": "the body of a request",
    "request 5": "the options of a request",
    "timer 1": "how long it waits",
    "kept waiting": "what lies on the device while the report waits",
    "kept sent": "what lies on the device when the report was sent",
    "kept withdrawn": "what lies on the device when the report was withdrawn",
    "kept forgotten": "what lies on the device when the report was forgotten",
}
_EVENTS = {
    "read": "how often it reads random bytes",
    "request": "which requests it makes, or when",
    "timer": "when it waits",
    "clock": "how often it looks at the clock",
    "write": "what it writes on the device",
    "kept": "when it sends",
    "shown": "what the page shows when the report was sent or forgotten",
    "outcome": "what it shows when the report was sent",
    "threw": "whether it fails",
    "broken": "whether it fails",
    "console": "what it prints",
    "page": "what it does with the page",
    "beyond": "what else it uses of the browser",
    "source": "where its random values are from",
}
_ALWAYS = {
    "broken": "it does not send a report as it should",
    "law": "the report is not the one that its draws make: other values, another id or other bytes",
    "used": "it does not use just the random bytes that its draws take",
    "agreed": "it makes a request that is not agreed, or with more than is agreed",
    "redeemed": TWICE,
    "blinded": NOT_BLINDED,
    "signed": NOT_SIGNED,
    "besides": BESIDE,
    "longer": KEPT,
    "beyond": "it uses something of the browser that nobody needs to answer",
    "worker": "its service worker changes requests, answers or makes them itself, or keeps what passes",
    "time": "what it does hangs on the time at which it runs",
    "remembered": "the browser may remember what is entered",
    "forgotten": "what is left after forgetting hangs on what was reported",
}
_UNREACHED = "runs were left out: no way was found from an answer to a report"
_SOURCE = {
    "protocol": "its draws are not made of all its random bytes, in their order, as the protocol says",
    "unused": "it reads random bytes and does not use them",
    "fallback": "it draws where there is no randomness",
    "missing": "it asks for answers where randomness or secrecy is missing",
}
_REFUSALS = {
    "digest": "it takes another survey than the one that its link names",
    "tampered": "it takes a survey that was changed on the way",
    "dear": "it takes a survey that costs more than is allowed",
    "everything": "it refuses the survey of its link",
    "answers": TOOK_NO_ANSWER,
}


def plan_document(survey: Survey, plan: RunPlan) -> dict[str, Any] | None:
    """A plan as JSON for the driver: with each vector the body that has to come of it; None if nothing is drawn."""
    if not plan.vectors:
        return None
    vectors = [
        {"body": _body(survey, vector), "redemption": vector.redemption, "runs": list(map(_run, vector.runs))}
        for vector in plan.vectors
    ]
    return {"wave": 0, "present": present_of(survey, 0) if survey.send_within_hours else None, "vectors": vectors}


def id_document(tasks: Sequence[Task]) -> dict[str, Any] | None:
    """Of the first question that has few ways, what to follow together with an id of four values; None without one."""
    for task in tasks:
        if count_paths(partial(_reported, task.run), task.inputs[0], FEW) is not None:
            return {"survey": alone_with(task).canonical.decode(), "inputs": task.inputs[:2], "most": MAX_PATHS}
    return None


def _reported(question: Question, value: Value, draws: Any) -> int:  # noqa: ANN401 - what stands in for Draws
    assert question.mechanism is not None  # noqa: S101 - only such questions are audited
    randomizer: Callable[[Any, Any, Any], int] = RANDOMIZERS[question.mechanism.name]
    return randomizer(question.mechanism, value, draws)


def form_document(survey: Survey, plan: RunPlan, files: Mapping[str, PageFile]) -> dict[str, Any] | None:
    """
    Some runs of each vector as JSON for the driver of the form, with its sentences; None if nothing is drawn.

    Args:
        survey: the survey.
        plan: of all runs.
        files: from ``page.assemble()``.
    """
    most = max(2, plan.forms // max(1, len(plan.vectors)))
    few = plan_document(survey, replace(plan, vectors=tuple(_first_of(vector, most) for vector in plan.vectors)))
    if few is None:
        return None
    form = {"catalogue": json.loads(files["catalogues/en.json"].body), "worker": files["sw.js"].body.decode()}
    return {"survey": survey.canonical.decode(), "plan": few, "form": form}


def _first_of(vector: VectorPlan, most: int) -> VectorPlan:
    return replace(vector, runs=vector.runs[:most])


def _body(survey: Survey, vector: VectorPlan) -> str:
    report = Report(survey.name, survey.digest, 0, vector.report_id, vector.outputs)
    return dump_report(report, survey).decode()


def _run(run: Any) -> dict[str, Any]:  # noqa: ANN401 - of whatever plan
    return {"answers": run.answers, "tape": run.tape.hex()}


def judge_way(found: Mapping[str, Any], plan: RunPlan) -> Iterator[Check]:
    """
    Lines about what the driver found.

    Args:
        found: what it printed.
        plan: of the runs that it made.

    Raises:
        KeyError, TypeError, ValueError: it did not print what it should.
    """
    if plan.vectors:
        runs = found["runs"]
        if runs["count"] != plan.runs:
            raise ValueError
        check = _line(SUBJECT, [_told(**finding) for finding in runs["found"]], plan.scope)
        yield replace(check, outcome=NOT_DONE, message=_UNREACHED) if plan.unreached and not check.message else check
    scope = "each value of each of its 16 bytes, and 256 whole ids"
    yield _line(IDENTITY, [] if found["ids"] is True else ["an id is not just its 16 random bytes"], scope)
    if found["id"] is not None:
        problem = "the id of a report depends on the answer, or on what is reported"
        scope = f"an id of {_REDUCED} values, with every way of a report"
        yield _line(ID_LAW, [] if found["id"] and all(map(_is_even, found["id"])) else [problem], scope)
    yield _line(SOURCE, [_of_source(kind) for kind in found["source"]], "all reads traced, of all runs")
    yield _line(REFUSALS, [_REFUSALS[kind] for kind in found["way"]])


def judge_form(found: Mapping[str, Any], files: Mapping[str, PageFile]) -> Check:
    """
    The line about the form.

    Args:
        found: what its driver printed.
        files: from ``page.assemble()``.

    Raises:
        KeyError, TypeError, ValueError: it did not print what it should.
    """
    problems = [*(_told(**finding) for finding in found["found"]), *check_styles(files)]
    return _line(FORM, problems, f"{found['count']:,} of these runs, from the link to what is forgotten")


def _is_even(law: Sequence[tuple[str, object, str]]) -> bool:
    """Whether with every reported value each id is as likely as any other."""
    found: dict[str, dict[str, Fraction]] = {}
    for outcome, _, probability in law:
        values, identity = outcome.split(" ")
        ids = found.setdefault(values, {})
        ids[identity] = ids.get(identity, Fraction(0)) + Fraction(probability)
    return all(len(ids) == _REDUCED and len({*ids.values()}) == 1 for ids in found.values())


def _line(subject: str, problems: Sequence[str], scope: str = "") -> Check:
    message = "; ".join(problems)
    return Check("javascript", subject, FAILED if problems else PASSED, scope=scope, message=message)


def _told(kind: str, questions: Sequence[str]) -> str:
    """One finding in words: what differs, and by whose answers; no answer is repeated."""
    if kind.startswith("source "):
        return _of_source(kind)
    if kind in _ALWAYS:
        return _ALWAYS[kind]
    what = _PARTS.get(kind) or _EVENTS[kind.removeprefix("order ").split(" ")[0]]
    if not questions:
        return f"{what} changes from run to run"
    names = " and ".join(f"'{name}'" for name in questions[:2])
    more = f" and {len(questions) - 2} more" if len(questions) > 2 else ""
    return f"{what} depends on the answer to {names}{more}"


def _of_source(kind: str) -> str:
    if kind.startswith("early "):
        return f"it does something while it is loaded: {kind.removeprefix('early ')}"
    if kind.startswith("source "):
        return f"it has values from elsewhere than crypto.getRandomValues: {kind.removeprefix('source ')}"
    return _SOURCE[kind]
