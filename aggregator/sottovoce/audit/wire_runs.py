"""Run whole clients and compare them from outside: on the wire and on the disk.

Each run must send exactly the report that its random bytes make of its answers. Beside the reported values, and what
follows from them, runs may differ in nothing, whatever was answered: neither in the bytes on the wire nor in the files,
in what is printed, or in what the library tells the program that uses it. The client runs in a process of its own; what
it does where neither the wire nor its folders show it is not seen.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check, Tick
from sottovoce.audit.client_process import ClientProcess, ClientStopped, RunObservation
from sottovoce.audit.courses import CORRECTION, EARLIER, WITHDRAW, Course, course_of
from sottovoce.audit.listener import Disk, WireRequest
from sottovoce.audit.request_rules import NOT_AGREED, is_agreed, is_for_reports, unlike_redemption
from sottovoce.audit.runs import RunPlan
from sottovoce.shared.report import Report, dump_report
from sottovoce.shared.spec import Survey

SUBJECT = "whole runs"
IDENTITY = "id of the report"

_NOTCH = 1e-9
"""Tolerance: charges are sums of numbers with a fraction."""


@dataclass(frozen=True)
class RunDifference:
    """A difference between two runs that should look alike, and the names of the questions whose answers differ."""

    what: str
    questions: tuple[str, ...]

    def __str__(self) -> str:
        if not self.questions:
            return f"{self.what} changes from run to run"
        if len(self.questions) == 1:
            return f"{self.what} depends on the answer to '{self.questions[0]}'"
        return f"{self.what} depends on several answers together"


def check_runs(part: str, survey: Survey, plan: RunPlan, client: ClientProcess, tick: Tick) -> list[Check]:
    """Check each run against what its random bytes make of its answers, and the runs of each vector against each
    other.
    """
    if not plan.vectors:
        return []
    problem = ""
    for vector in plan.vectors:
        try:
            problem = problem or _Vector(course_of(survey, vector), client).problem()
        except ClientStopped:
            problem = problem or "the client stops with an error, or never ends"
        tick(1 / len(plan.vectors))
    if problem:
        identity = Check(part, IDENTITY, NOT_DONE, message="the runs differ in something; see above")
        return [Check(part, SUBJECT, FAILED, scope=plan.scope, message=problem), identity]
    identity = Check(part, IDENTITY, PASSED, scope="the 16 bytes that its source gave, in every run")
    return [Check(part, SUBJECT, PASSED, scope=plan.scope), identity]


class _Vector:
    """The runs of one vector."""

    def __init__(self, course: Course, client: ClientProcess) -> None:
        self._course = course
        self._client = client
        self._survey = course.survey

    def problem(self) -> str:
        """Describe the first fault of the runs; "" if there is none."""
        count = len(self._course.vector.runs)
        seen = []
        for place in range(count):
            found = self._run(place)
            reports = self._course.reports(place)
            wrong = self._unlike_plan(found, place, reports)
            if wrong:
                return wrong
            seen.append(_masked(found, [dump_report(report, self._survey) for report in reports]))
        differing = next((each for each in seen if each != seen[0]), None)
        if differing is None:
            return ""
        return str(
            RunDifference(first_difference(seen[0], differing), self._questions([each == seen[0] for each in seen]))
        )

    def _run(self, place: int) -> RunObservation:
        course = self._course
        return self._client.run(course.site(), course.visits(self._client.listener.origin, place))

    def _questions(self, alike: Sequence[bool]) -> tuple[str, ...]:
        """Return the question whose answers go with what differs; all of them if there is no such one."""
        runs = self._course.vector.runs
        names = [question.name for question in self._survey.questions]
        for name in names:
            kinds: dict[object, set[bool]] = {}
            for run, same in zip(runs, alike, strict=True):
                kinds.setdefault(str(run.answers.get(name)), set()).add(same)
            if all(len(found) == 1 for found in kinds.values()):
                return (name,)
        return tuple(names) if len(names) > 1 else ()

    def _unlike_plan(self, seen: RunObservation, place: int, reports: Sequence[Report]) -> str:
        """Describe how one run deviates from the survey and its random bytes; "" if it does not."""
        own = [each for each in seen.requests if each.address.startswith(f"/api/v1/surveys/{self._survey.name}/")]
        sent = [each for each in own if is_for_reports(each)]
        bodies = list(dict.fromkeys(each.body for each in sent))
        if seen.status or len(bodies) != len(reports):
            return "the client sends no report, or several; or it stops with an error"
        wrong = next(filter(None, map(self._unlike_report, reports, bodies)), "")
        if not wrong and not self._is_whole_tape_used(seen, place):
            wrong = "other random bytes are read than the randomizers need"
        if not wrong and self._survey.is_blind:
            wrong = unlike_redemption(self._survey, reports, seen, self._course.vector.beginning.redemption)
        if not wrong and not all(is_agreed(each, self._course.surveys) for each in seen.requests):
            wrong = NOT_AGREED
        return wrong or self._unlike_disk(seen, reports, sent)

    def _unlike_report(self, report: Report, body: bytes) -> str:
        if body == dump_report(report, self._survey):
            return ""
        if report.report_id.encode() not in body:
            return "the id of a report is not what the source of randomness gave"
        return "a report holds other values, or is spelled otherwise, than its randomizers give for these random bytes"

    def _is_whole_tape_used(self, seen: RunObservation, place: int) -> bool:
        """Check that after a correction nothing is drawn again but a set of questions and memos, which the ledger's
        replace.
        """
        given = [len(visit.tape) // 2 for visit in self._course.visits("", place)]
        if self._course.kind == CORRECTION:
            return seen.used[0] == given[0]
        return list(seen.used) == given

    def _unlike_disk(self, seen: RunObservation, reports: Sequence[Report], sent: Sequence[WireRequest]) -> str:
        """Check the ledger: each report is stored before it is sent, charged once, and deleted in time."""
        for report in reports:
            first = next(each for each in sent if report.report_id.encode() in each.body)
            if not _holds(first.disk, report.report_id):
                return "the report is sent before the device remembers it"
        if _holds(seen.disk, reports[-1].report_id):
            return "the device keeps the report when it was withdrawn or forgotten"
        if self._course.end == WITHDRAW and not any(each.address.endswith("/withdraw") for each in seen.requests):
            return "the report is not withdrawn though the person says so"
        spent = seen.spent[-1] - (seen.spent[0] if self._course.kind == EARLIER else 0.0)
        if math.isclose(spent, self._course.cost, rel_tol=_NOTCH):
            return ""
        return "the device is charged with something else than the report costs"


def _holds(disk: Disk, report_id: str) -> bool:
    return any(report_id.encode() in content for _, _, content in disk)


def _masked(seen: RunObservation, bodies: Sequence[bytes]) -> RunObservation:
    """Replace each report's values, and bytes that depend on them, by a mark in all that was observed."""
    marks: list[bytes] = []
    for body in bodies:
        # With the id, so that no other report's equal values are masked.
        values = body[body.index(b'"report_id"') :]
        escaped = values.replace(b'"', b'\\"')
        marks += [values, escaped, hashlib.sha256(body).hexdigest().encode()]

    def mask(content: bytes) -> bytes:
        for value in marks:
            content = content.replace(value, b"<report>")
        return content

    def on_disk(disk: Disk) -> Disk:
        return tuple((name, mode, mask(content)) for name, mode, content in disk)

    requests = tuple(replace(each, body=mask(each.body), disk=on_disk(each.disk)) for each in seen.requests)
    messages = tuple(tuple(mask(text.encode()).decode() for text in visit) for visit in seen.messages)
    used = (0,) * len(seen.used)  # compared with the tape's length by now
    return replace(seen, requests=requests, messages=messages, disk=on_disk(seen.disk), used=used)


def first_difference(expected: RunObservation, seen: RunObservation) -> str:
    """Say in words what the first thing is in which two runs differ; never a value."""
    for one, other in list(zip(expected.requests, seen.requests, strict=False)):
        for name, words in _OF_REQUESTS.items():
            if getattr(one, name) != getattr(other, name):
                return words
    if len(expected.requests) != len(seen.requests):
        return "the number of requests"
    return next(words for name, words in _PARTS.items() if getattr(expected, name) != getattr(seen, name))


_OF_REQUESTS = {
    "line": "the address of a request",
    "headers": "a header",
    "connection": "the connection of a request",
    "body": "the report, or what else is sent,",
    "disk": "what the device keeps while it sends",
}
_PARTS = {
    "disk": "what the device keeps in the end",
    "printed": "what is printed or logged",
    "messages": "the messages to the person",
    "spent": "what is charged",
    "status": "how the program ends",
}
