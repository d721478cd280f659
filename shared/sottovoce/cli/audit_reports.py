"""
The part of an audit that samples: whole reports, as a device makes them, of four invented people.

The people differ in their answers: the first gives the first answer to every question and the second the last; the
third and the fourth alternate. Between the first two every question's report may differ by its own epsilon; between
the first and the third those of two neighbouring questions together by the epsilon of the one that was answered
otherwise, which finds draws that questions share. What is read from the source of randomness may not differ at all.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product

from sottovoce.aggregator.audit.bound import Comparison, Finding, judge
from sottovoce.aggregator.audit.channels import inputs_of
from sottovoce.aggregator.audit.events import READ_NAMES, Events, Observation, count_read
from sottovoce.cli.audit_check import FAILED, PASSED, Check, Tick
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import randomize
from sottovoce.shared.answers import Value
from sottovoce.shared.report import dump_report
from sottovoce.shared.spec import Question, Survey

PEOPLE = ((0, 0), (1, 1), (0, 1), (1, 0))
"""Which of two answers each of the four gives to questions with an even and with an odd number."""

DEFAULT_RUNS = 10_000
_MAX_READS = 1_500_000
_LISTED = 64
_PARTS = 4
_AT_ONCE = 512  # bytes asked of the operating system

Reported = tuple[tuple[object, ...], int, int]
"""The values of a report, the length of its body and the bytes that were read for it."""

Device = Callable[[tuple[Value, ...], int], Iterator[Reported]]
"""``device(true values, n)``: n reports."""


class _Counted:
    """Fresh random bytes of the operating system, and how many were taken in how many reads."""

    def __init__(self) -> None:
        self.taken = self.reads = 0
        self._rest = b""

    def __call__(self, count: int) -> bytes:
        self.taken += count
        self.reads += 1
        if len(self._rest) < count:
            self._rest = os.urandom(_AT_ONCE + count)
        data, self._rest = self._rest[:count], self._rest[count:]
        return data


def python_device(survey: Survey) -> Device:
    """The Python client, from true values to the bytes that it would send."""

    def device(values: tuple[Value, ...], runs: int) -> Iterator[Reported]:
        read = _Counted()
        for _ in range(runs):
            before = read.taken
            body = dump_report(randomize(survey, values, Draws(read)), survey)
            yield tuple(json.loads(body)["values"]), len(body), read.taken - before

    return device


def runs_for(survey: Survey) -> int:
    """So many runs by default: fewer where a report takes very many draws."""
    read = _Counted()
    randomize(survey, answers_of(survey, 0), Draws(read))
    return max(1000, min(DEFAULT_RUNS, _MAX_READS // read.reads))


def answers_of(survey: Survey, person: int) -> tuple[Value, ...]:
    """The true values of one of the four; all give the same answer to a public question, which hides nothing."""
    even_odd = PEOPLE[person]
    return tuple(
        _ends(question)[0 if question.mechanism is None else even_odd[index % 2]]
        for index, question in enumerate(survey.questions)
    )


def check_reports(part: str, survey: Survey, device: Device, runs: int, alpha: float, tick: Tick) -> list[Check]:
    """
    A line for every question, one for neighbours together and one for the form of the reports.

    Raises:
        ValueError: the number of runs or alpha is out of range.
    """
    seen: list[list[Reported]] = []
    for person in range(len(PEOPLE)):
        reports = []
        for number, reported in enumerate(device(answers_of(survey, person), runs), 1):
            reports.append(reported)
            if number % max(1, runs // 20) == 0:
                tick(1 / 20 / len(PEOPLE))
        seen.append(reports)
    form = _form(part, survey, seen)
    if form.outcome == FAILED:
        return [form]
    comparisons = [*_single(survey, seen), *_neighbours(survey, seen), _read(seen)]
    verdict = judge(comparisons, alpha)
    scope = f"{runs:,} reports each of {len(PEOPLE)} people, {verdict.events:,} events, alpha {alpha:g}"
    return [form, *(_line(part, finding, scope) for finding in verdict.findings)]


def _form(part: str, survey: Survey, seen: list[list[Reported]]) -> Check:
    """Every value whole and admitted, public answers as given, every body of one length."""
    problem = ""
    lengths = {length for reports in seen for _, length, _ in reports}
    if len(lengths) != 1:
        problem = "the length of a report is not the same for all"
    for person, reports in enumerate(seen):
        given = answers_of(survey, person)
        for values in Counter(values for values, _, _ in reports):
            if len(values) != len(survey.questions) or any(type(value) is not int for value in values):
                problem = "a report holds something else than one whole number for each question"
                break
            if not all(question.admits(y) for question, y in zip(survey.questions, values, strict=True)):  # type: ignore[arg-type]
                problem = "a report holds a value that the survey does not admit"
            public = zip(survey.questions, values, given, strict=True)
            if any(question.mechanism is None and y != x for question, y, x in public):
                problem = "a public answer is not sent as it was given"
    return Check(part, "form of the reports", FAILED if problem else PASSED, message=problem)


def _single(survey: Survey, seen: list[list[Reported]]) -> Iterator[Comparison]:
    for index, question in enumerate(survey.questions):
        if question.mechanism is None:
            continue
        events = _events(question)
        counts = [
            events.count(Observation(values[index], length) for values, length, _ in reports) for reports in seen[:2]
        ]
        yield _comparison(question.name, question.epsilon, events.names, counts, seen[:2])


def _neighbours(survey: Survey, seen: list[list[Reported]]) -> Iterator[Comparison]:
    """Parts of the ranges of two neighbours, for two people who answered one of them alike."""
    events = Events(tuple(product(range(_PARTS), repeat=2)))
    for (left, one), (right, other) in pairwise(enumerate(survey.questions)):
        if one.mechanism is None or other.mechanism is None:
            continue
        for pair in ((0, 2), (1, 2)):
            changed = one if PEOPLE[pair[0]][left % 2] != PEOPLE[pair[1]][left % 2] else other
            people = [seen[person] for person in pair]
            counts = [
                events.count(
                    Observation((_part(one, values[left]), _part(other, values[right]))) for values, _, _ in reports
                )
                for reports in people
            ]
            subject = f"{one.name} with {other.name}"
            yield _comparison(subject, changed.epsilon, events.names, counts, people)


def _read(seen: list[list[Reported]]) -> Comparison:
    counts = [count_read(Observation(None, 0, read) for _, _, read in reports) for reports in seen[:2]]
    return _comparison("bytes read", 0.0, READ_NAMES, counts, seen[:2])


def _comparison(
    subject: str, claim: float, names: Sequence[str], counts: Sequence[Sequence[int]], seen: list[list[Reported]]
) -> Comparison:
    return Comparison(subject, claim, names, counts[0], counts[1], (len(seen[0]), len(seen[1])))


def _events(question: Question) -> Events:
    """Each report where there are few, else bins; tails; and equality to both inputs."""
    size = question.largest + 1
    ends = tuple(value for value in _ends(question) if isinstance(value, int))
    step = -(-size // _LISTED)
    edges = tuple(float(edge) for edge in range(0, size, step))[:_LISTED]
    listed = tuple(range(size)) if size <= _LISTED else ends
    return Events(tuple(dict.fromkeys((*listed, *ends))), edges)


def _ends(question: Question) -> tuple[Value, Value]:
    first, last, *_ = inputs_of(question, 2)
    return first, last


def _part(question: Question, reported: object) -> int:
    """In which quarter of the range a reported value is."""
    assert isinstance(reported, int)  # noqa: S101 - checked with the form
    return reported * _PARTS // (question.largest + 1)


def _line(part: str, finding: Finding, scope: str) -> Check:
    message = "" if finding.passed else f"the lower bound on epsilon is above the claim, at the event: {finding.event}"
    outcome = PASSED if finding.passed else FAILED
    return Check(part, finding.subject, outcome, finding.claim, finding.epsilon, scope, message)
