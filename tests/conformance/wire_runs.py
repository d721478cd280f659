"""Run whole clients and compare them from outside: on the wire and on the disk.

Each run must send exactly the report that its random bytes make of its answers. Beside the reported values, and what
follows from them, runs may differ in nothing, whatever was answered: neither in the bytes on the wire nor in the files,
in what is printed, or in what the library tells the program that uses it. The client runs in a process of its own; what
it does where neither the wire nor its folders show it is not seen.

Choose the course of events that whole runs of a client go through, as visits and what the aggregator does.

Each vector of reports goes through one of them, so that all its runs go through the same: a plain report, one that is
refused or cut off and sent again, the corrected survey afterwards, a second wave, another survey before, and an answer
in vain before the right one.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check, Tick
from sottovoce.audit.python_code import standing_in
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.report import Report, dump_report
from sottovoce.shared.spec import Survey

from tests.conformance.client_process import (
    BUSY,
    CUT,
    REFUSED,
    ClientProcess,
    ClientStopped,
    MockAggregator,
    RunObservation,
    Visit,
    link_to,
)
from tests.conformance.listener import Disk, MockReply, WireRequest
from tests.conformance.request_rules import NOT_AGREED, is_agreed, is_for_reports, unlike_redemption
from tests.conformance.run_plan import Run, RunPlan, VectorPlan, plan_runs, present_of

SUBJECT = "whole runs"
IDENTITY = "id of the report"

_NOTCH = 1e-9
"""Tolerance: charges are sums of numbers with a fraction."""

PLAIN = "plain"
RETRY = "a retry"
CORRECTION = "a correction"
SECOND_WAVE = "a second wave"
EARLIER = "an earlier survey"
IN_VAIN = "an answer in vain"

WITHDRAW, FORGET = "withdraw", "forget"

_NO_QUESTION = {"no question at all": ""}
_OF_BUSY: tuple[tuple[MockReply | None, ...], ...] = ((BUSY, CUT), (REFUSED, BUSY))


@dataclass(frozen=True)
class Course:
    """A sequence of events that every run of one vector goes through; ``wave`` is the first that reports are for."""

    kind: str
    survey: Survey
    vector: VectorPlan
    wave: int
    end: str

    def reports(self, place: int) -> list[Report]:
        """Return the reports that leave the device in one run of the vector, one for each wave."""
        given = [self.vector.runs[place], *([self._other(place)] if self.kind == SECOND_WAVE else [])]
        about = (self.survey.name, self.survey.digest)
        return [
            Report(*about, self.wave + turn, self.vector.id_in(self.survey, self.wave + turn, turn > 0), run.outputs)
            for turn, run in enumerate(given)
        ]

    @property
    def cost(self) -> float:
        """Return epsilon of these reports, including the part that all waves share."""
        return self.survey.epsilon + (self.survey.epsilon_of_wave if self.kind == SECOND_WAVE else 0.0)

    @property
    def surveys(self) -> list[Survey]:
        """Return the latest revision of each survey that the aggregator serves."""
        return [versions[-1] for versions in self.site().surveys.values()]

    def _other(self, place: int) -> Run:
        """Return the next run, whose answers come before or after those of one run."""
        return self.vector.runs[(place + 1) % len(self.vector.runs)]

    @cached_property
    def corrected(self) -> Survey:
        survey = self.survey
        title = {**survey.title, survey.default_language: f"{survey.text(survey.title)}."}
        document = {**survey.document, "title": title, "revision": survey.revision + 1, "replaces": survey.digest}
        return parse_survey(document)

    def site(self) -> MockAggregator:
        """Return the aggregator of one run."""
        versions = [self.corrected, self.survey] if self.kind == CORRECTION else [self.survey]
        earlier = _earlier(self.survey.name).survey
        failures = _OF_BUSY[self.vector.number % 2] if self.kind == RETRY else ()
        return MockAggregator({self.survey.name: versions, earlier.name: [earlier]}, list(failures))

    def visits(self, origin: str, place: int) -> list[Visit]:
        """Return the visits of one run; earlier and later visits take their answers from other runs."""
        runs = self.vector.runs
        other = self._other(place)
        if self.kind == CORRECTION:
            again = self._visit(origin, self.corrected, other, end=self.end)
            return [self._visit(origin, self.survey, runs[place]), again]
        if self.kind == SECOND_WAVE:
            again = self._visit(origin, self.survey, other, is_again=True, end=self.end)
            return [self._visit(origin, self.survey, runs[place]), again]
        if self.kind == EARLIER:
            return [self._before(origin, place), self._visit(origin, self.survey, runs[place], end=self.end)]
        before = {**other.answers, **_NO_QUESTION} if self.kind == IN_VAIN else None
        return [self._visit(origin, self.survey, runs[place], before=before, end=self.end)]

    def _visit(
        self,
        origin: str,
        survey: Survey,
        run: Run,
        *,
        before: dict[str, object] | None = None,
        is_again: bool = False,
        end: str = "",
    ) -> Visit:
        wave = self.wave + is_again
        tape = self.vector.tape(run, is_again).hex()
        return Visit(link_to(origin, survey, wave), tape, run.answers, before, None, present_of(survey, wave), end)

    def _before(self, origin: str, place: int) -> Visit:
        """Return the visit to another survey: yes in one run and no in the next."""
        earlier = _earlier(self.survey.name)
        run = earlier.vector.runs[place % 2]
        return Visit(link_to(origin, earlier.survey), earlier.vector.tape(run).hex(), run.answers)


def course_of(survey: Survey, vector: VectorPlan) -> Course:
    """Choose the sequence of events for the runs of one vector."""
    kinds = [PLAIN, RETRY, CORRECTION, IN_VAIN, EARLIER]
    last = len(survey.waves) - 1
    if last:
        kinds.insert(1, SECOND_WAVE)
    number = vector.number
    turn, place = divmod(number, len(kinds))
    kind = kinds[place]
    # Each kind meets both ends, whether the number of kinds is odd or even.
    end = (FORGET, WITHDRAW)[(turn + place) % 2]
    return Course(kind, survey, vector, 0 if kind == SECOND_WAVE or number % 4 < 2 else last, end)


@cache
def _earlier(name: str) -> Course:
    """Return a survey of one coin with another name, and two runs: with either answer, and the same report."""
    own = "earlier" if name != "earlier" else "before"
    survey = standing_in({"type": "boolean", "name": "q", "mechanism": {"name": "coin_flip"}}, name=own)
    vector = plan_runs(survey).vectors[0]
    no, yes = (next(run for run in vector.runs if (run.answers["q"], run.outputs) == (each, (1,))) for each in _ANSWERS)
    return Course(PLAIN, survey, replace(vector, runs=(no, yes)), 0, "")


_ANSWERS = ("no", "yes")


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
        return seen.used[0] == given[0] if self._course.kind == CORRECTION else list(seen.used) == given

    def _unlike_disk(self, seen: RunObservation, reports: Sequence[Report], sent: Sequence[WireRequest]) -> str:
        """Check the ledger: each report is stored before it is sent, charged once, and deleted in time."""
        for report in reports:
            if not _holds(next(each for each in sent if report.report_id.encode() in each.body).disk, report.report_id):
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
    return replace(seen, requests=requests, messages=messages, disk=on_disk(seen.disk), used=(0,) * len(seen.used))


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
