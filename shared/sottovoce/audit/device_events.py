"""
The part of an audit that lets everything happen to a device, in every order: answers, kills at each step on the disk
and at each request, reloads, second tabs, other versions and waves, withdrawals, refusals, a clock that is wrong.

What must hold on every course, whatever the coins:

* each report that leaves the device is charged, and with one link no two different ones leave it for one wave;
* with one link one set of questions is asked in one wave;
* another link brings another report only after a receipt for the first, or once the person has given it up;
* the exact distribution of all that leaves, over the whole course, differs between any two truths - also where the
  person answers otherwise the second time - by no more than was charged.

A course is followed through states: the ledger's files and what the aggregator holds. Equal states are followed once,
so the courses are many and the runs few. Surveys that stand in for the audited one keep them small: the verdict is
about the client's files, and the same for every survey.
"""

import os
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from sottovoce.audit.branching_draws import TooManyPaths, paths
from sottovoce.audit.check import FAILED, PASSED, Check
from sottovoce.audit.device_world import EVENTS, KILLS, Happened, Scenario, State, charged, run_event
from sottovoce.audit.exact_channel import Mismatch, check_claim
from sottovoce.shared.report import parse_report

ASSIGNMENTS = ((0, 0), (1, 1), (0, 1), (1, 0))
"""The truth in the first event, and in all later ones: a person may answer otherwise the second time."""

_IN_MEMORY = "/dev/shm"  # noqa: S108 - a folder of our own is made in it

ANSWERED = "answered"
"""The event that is nothing but an answer."""

MOST_WAYS = 256
"""Ways of the coins through one event: the agreed client has 16 at most. What has more is not followed for hours."""

UNFOLLOWED = f"what it draws in one event goes more than {MOST_WAYS} ways, or never ends"

_ROUNDING = 1e-9
"""Charges are sums of doubles."""


@dataclass(frozen=True)
class Course:
    """
    What a course has come to, along some ways of the coins.

    Attributes:
        state: of the device and the aggregator.
        sent: (token, body) of every report that left, each once, in order.
        told: ids of reports whose receipt reached the device.
        asked: (link, questions) that were shown before the person gave a report up.
        ended: the person has given a report up.
        redrawn: another report of a wave left while nothing said that the earlier one had arrived or was given up.
        killed: the last event was ended by a kill.
    """

    state: State = State()
    sent: tuple[tuple[str, bytes], ...] = ()
    told: frozenset[str] = frozenset()
    asked: frozenset[tuple[str, bytes]] = frozenset()
    ended: bool = False
    redrawn: bool = False
    killed: bool = False


@dataclass
class Followed:
    """
    What following all courses has found.

    Attributes:
        courses: how many were followed to their end.
        problems: sentences, without any value, each with the course that it was first seen on.
    """

    courses: int = 0
    problems: dict[str, str] = field(default_factory=dict)


class Device(Protocol):
    """
    What events happen to, in whichever language its client is.

    Attributes:
        runs: of the client until now, one event each along one way of its coins.
    """

    runs: int

    def ways(self, state: State, event: str, truth: int) -> Iterator[tuple[Happened, Fraction]]:
        """
        What one event makes of a state, along each way of the coins, with its probability.

        Args:
            state: before it.
            event: one of ``EVENTS`` or ``KILLS``.
            truth: which of the scenario's answers are given, if any are.
        """

    def charged(self, state: State) -> float:
        """What the ledger says is spent."""


class PythonDevice:
    """
    The Python client, in this process.

    Args:
        scenario: the small survey.
        folder: for ledgers; empty.
    """

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.runs = 0
        self._scenario, self._folder = scenario, folder

    def ways(self, state: State, event: str, truth: int) -> Iterator[tuple[Happened, Fraction]]:
        """
        As in ``Device``.

        Args:
            state: before the event.
            event: one of ``EVENTS`` or ``KILLS``.
            truth: which of the scenario's answers are given, if any are.

        Raises:
            TooManyPaths: there are more than ``MOST_WAYS``.
        """
        run = partial(run_event, self._scenario, state, event, truth, folder=self._folder)
        for path in paths(run, MOST_WAYS):
            self.runs += 1
            yield path.reported, path.probability

    def charged(self, state: State) -> float:
        """As in ``Device``."""
        return charged(state, self._folder)


Weights = dict[Course, Fraction]
Ends = Mapping[tuple[int, int], Weights]
After = Callable[[State, str, int], tuple[tuple[Happened, Fraction], ...]]


def check_events(part: str, scenario: Scenario, length: int) -> Check:
    """
    Every course of up to ``length`` events of the Python client.

    Args:
        part: one of ``check.PARTS``.
        scenario: the small survey.
        length: most events in a course.
    """
    # In memory where the system has such a folder: thousands of ledgers are written.
    with TemporaryDirectory(dir=_IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None) as folder:
        try:
            return check_device(part, scenario, length, PythonDevice(scenario, Path(folder)))
        except TooManyPaths:
            return Check(part, subject_of(scenario), FAILED, message=UNFOLLOWED)


def check_device(part: str, scenario: Scenario, length: int, device: Device) -> Check:
    """
    Every course of up to ``length`` events of any client.

    Args:
        part: one of ``check.PARTS``.
        scenario: the small survey.
        length: most events in a course.
        device: with its client.
    """
    found = follow(scenario, length, device)
    scope = f"{found.courses:,} courses of up to {length} events, {device.runs:,} runs: {scenario.words}"
    message = "; ".join(f"{problem} (first seen after: {course})" for problem, course in found.problems.items())
    return Check(part, subject_of(scenario), FAILED if message else PASSED, scope=scope, message=message)


def subject_of(scenario: Scenario) -> str:
    """For the report."""
    return f"life of a device: {scenario.name}"


def follow(scenario: Scenario, length: int, device: Device) -> Followed:
    """
    Follow every course of up to so many events.

    Args:
        scenario: the small survey.
        length: most events in a course.
        device: with its client.
    """
    found = Followed()

    @cache
    def after(state: State, event: str, truth: int) -> tuple[tuple[Happened, Fraction], ...]:
        if event in KILLS and max(happened.steps for happened, _ in after(state, ANSWERED, truth)) <= KILLS[event]:
            return after(state, ANSWERED, truth)  # it does not come so far
        ways: dict[Happened, Fraction] = {}
        for happened, likely in device.ways(state, event, truth):
            ways[happened] = ways.get(happened, Fraction(0)) + likely
        return tuple(ways.items())

    spent = cache(device.charged)
    begin: Ends = {truths: {Course(): Fraction(1)} for truths in ASSIGNMENTS}
    wrong: set[tuple[str, ...]] = set()
    for course, ends in _courses((), begin, after, length, wrong):
        found.courses += 1
        problems = judge(scenario, ends, spent)
        for problem in (*_silent(ends), *problems) if course == (ANSWERED,) else problems:
            found.problems.setdefault(problem, ", ".join(course))
            wrong.add(course)
    return found


def _silent(ends: Ends) -> Iterator[str]:
    """A client that sends nothing does nothing wrong, and has not been tried."""
    if not all(course.sent for weights in ends.values() for course in weights):
        yield "no report leaves the device after an answer"


def _courses(
    course: tuple[str, ...], ends: Ends, after: After, left: int, wrong: Container[tuple[str, ...]]
) -> Iterator[tuple[tuple[str, ...], Ends]]:
    """Each course that begins with this one, and what it has come to, for each truth; none goes on that is wrong."""
    if left == 0 or course in wrong:
        return
    later = 1 if course else 0
    for event in (*EVENTS, *KILLS):
        further = {truths: _pushed(weights, event, truths[later], after) for truths, weights in ends.items()}
        # A step that no way of the coins reaches: this course is one of those without a kill.
        if event in KILLS and not any(each.killed for weights in further.values() for each in weights):
            continue
        yield (*course, event), further
        yield from _courses((*course, event), further, after, left - 1, wrong)


def _pushed(weights: Weights, event: str, truth: int, after: After) -> Weights:
    further: Weights = {}
    for course, weight in weights.items():
        for happened, share in after(course.state, event, truth):
            end = _continued(course, happened)
            further[end] = further.get(end, Fraction(0)) + weight * share
    return further


@cache
def _continued(course: Course, happened: Happened) -> Course:
    course = replace(course, state=happened.state, killed=happened.killed)
    for kind, name, body in happened.wire:
        if kind == "told":
            course = replace(course, told=course.told | {name})
        elif kind == "ended":
            course = replace(course, ended=True)
        elif kind == "asked":
            course = course if course.ended else replace(course, asked=course.asked | {(name, body)})
        elif (name, body) not in course.sent:
            redrawn = course.redrawn or (not course.ended and _is_redrawn(course, body))
            course = replace(course, sent=(*course.sent, (name, body)), redrawn=redrawn)
    return course


def _is_redrawn(course: Course, body: bytes) -> bool:
    """Another report of this wave is on its way, as far as the device knows."""
    earlier = {other for _, other in course.sent} - {body}
    return any(_wave(other) == _wave(body) and _id(other) not in course.told for other in earlier)


def judge(scenario: Scenario, ends: Ends, spent: Callable[[State], float]) -> Iterator[str]:
    """
    What is wrong with what a course has come to, in words.

    Args:
        scenario: the small survey.
        ends: what it has come to, for each truth.
        spent: what the ledger of a state says.
    """
    for course in {course for weights in ends.values() for course in weights}:
        reports = {body for _, body in course.sent}
        if course.redrawn or len(reports) > len({(token, _wave(body)) for token, body in course.sent}):
            yield "two different reports of one wave leave the device"
        elif spent(course.state) + _ROUNDING < scenario.epsilon * len(reports):
            yield "a report leaves the device that is not charged"
        if len(course.asked) > len({link for link, _ in course.asked}):
            yield "one person is asked two different sets of questions in one wave"
    try:
        check_laws(scenario, [_law(weights) for weights in ends.values()])
    except Mismatch as mismatch:
        yield str(mismatch)


Sent = tuple[tuple[str, bytes], ...]


def check_laws(scenario: Scenario, laws: list[dict[Sent, Fraction]]) -> None:
    """
    Distributions of all that leaves a device, one for each truth, against what was charged.

    Raises:
        Mismatch: two of them differ by more.
    """
    for sent in dict.fromkeys(sent for law in laws for sent in law):
        likely = [law.get(sent, Fraction(0)) for law in laws]
        if min(likely) == 0:
            raise Mismatch("what leaves the device is impossible after another answer")
        check_claim(max(likely) / min(likely), scenario.epsilon * len({body for _, body in sent}))


def _law(weights: Weights) -> dict[Sent, Fraction]:
    law: dict[Sent, Fraction] = {}
    for course, weight in weights.items():
        law[course.sent] = law.get(course.sent, Fraction(0)) + weight
    return law


@cache
def _wave(body: bytes) -> int:
    return parse_report(body).wave


@cache
def _id(body: bytes) -> str:
    return parse_report(body).report_id
