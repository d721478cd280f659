"""The part of an audit that lets everything happen to a device, in every order: answers, kills at each step on the disk
and at each request, reloads, second tabs, other versions and waves, withdrawals, refusals, a clock that is wrong.

What must hold on every course, whatever the coins:

* each report that leaves the device is charged, and with one link no two different ones leave it for one wave;
* with one link one set of questions is asked in one wave;
* another link brings another report only after a receipt for the first, or once the person has given it up;
* the exact distribution of all that leaves, over the whole course, differs between any two truths - also where the
  person answers otherwise the second time - by no more than was charged.

A course is followed through states: the ledger's files and what the aggregator holds. What can only come out the same
is followed once: an event from equal states; with any answer, where the client did not look at it; at any time, where
it did not look at the clock; and all that goes on from two courses that have come to the same. So the courses are many
and the runs few. In longer courses a survey is read from the same bytes once; each first event is run both ways, and
has to do the same: a client could do something else when it reads a survey again. Surveys that stand in for the audited
one keep them small: the verdict is about the client's files, and the same for every survey.
"""

import os
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from sottovoce.audit.check import FAILED, PASSED, Check
from sottovoce.audit.exact_channel import TooManyPaths

from tests.model.device_courses import Course, Ends, Weights, continued, judge
from tests.model.device_state import Happened, State, Way
from tests.model.device_world import ANSWERED, KILLS, LATE, REFUSED, charged, events_of, run_event, same_event
from tests.model.small_surveys import Scenario
from tests.property.channels import paths

ASSIGNMENTS = ((0, 0), (1, 1), (0, 1), (1, 0))
"""The truth in the first event, and in all later ones: a person may answer otherwise the second time."""

_IN_MEMORY = "/dev/shm"  # noqa: S108 - a folder of our own is made in it

MOST_WAYS = 256
"""Ways of the coins through one event: the agreed client has 16 at most. What has more is not followed for hours."""

REREAD = "what it does hangs on whether it has read the same survey before"

UNFOLLOWED = f"what it draws in one event goes more than {MOST_WAYS} ways, or never ends"


@dataclass
class Followed:
    """How many courses were followed to their end, and sentences, without any value, with the course first seen on."""

    courses: int = 0
    problems: dict[str, str] = field(default_factory=dict)


Ways = tuple[tuple[Way, Fraction], ...]
Occasion = tuple[State, str, int]
"""A state, an event, and which of the scenario's answers are given."""


class Device(Protocol):
    """What events happen to, in whichever language its client is."""

    def ways(self, state: State, event: str, truth: int) -> Iterable[tuple[Way, Fraction]]:
        """What one of ``EVENTS`` makes of a state: ways with their chances; ``truth`` says whose answers, if any."""

    def charged(self, state: State) -> float:
        """What the ledger says is spent."""


class CountedDevice(Device, Protocol):
    """A device that runs a client; ``runs`` are one event each along one way of its coins."""

    runs: int


class PythonDevice:
    """The Python client in this process, ledgers in an empty folder; ``remembers``: a survey's bytes are read once."""

    def __init__(self, scenario: Scenario, folder: Path, remembers: bool = False) -> None:
        self.runs = 0
        self._scenario, self._folder, self._remembers = scenario, folder, remembers

    def ways(self, state: State, event: str, truth: int) -> Iterator[tuple[Way, Fraction]]:
        """As in ``Device``; TooManyPaths if there are more than ``MOST_WAYS``."""
        run = partial(run_event, self._scenario, state, event, truth, folder=self._folder, remembers=self._remembers)
        for path in paths(run, MOST_WAYS):
            self.runs += 1
            yield path.reported, path.probability

    def charged(self, state: State) -> float:
        return charged(state, self._folder)


Distribution = tuple[tuple[Happened, Fraction], ...]


def check_events(part: str, scenario: Scenario, length: int) -> Check:
    """Every course of up to ``length`` events of the Python client; ``part`` is one of ``check.PARTS``."""
    # In memory where the system has such a folder: thousands of ledgers are written.
    with TemporaryDirectory(dir=_IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None) as folder:
        device, quicker = (PythonDevice(scenario, Path(folder), remembers) for remembers in (False, True))
        try:
            return check_device(part, scenario, length, device, quicker if length > 1 else None)
        except TooManyPaths:
            return Check(part, subject_of(scenario), FAILED, message=UNFOLLOWED)


def check_device(
    part: str, scenario: Scenario, length: int, device: CountedDevice, quicker: CountedDevice | None
) -> Check:
    """Every course of up to ``length`` events; ``quicker`` remembers surveys, None for courses of one event."""
    kept = _Kept(device)
    found = follow(scenario, 1, kept)
    runs = device.runs
    if quicker is not None:
        compared = _Compared(quicker, kept.seen)
        longer = follow(scenario, length, compared)
        found = Followed(longer.courses, {**found.problems, **longer.problems, **compared.problems})
        runs += quicker.runs
    scope = f"{found.courses:,} courses of up to {length} events, {runs:,} runs: {scenario.words}"
    message = "; ".join(f"{problem} (first seen after: {course})" for problem, course in found.problems.items())
    return Check(part, subject_of(scenario), FAILED if message else PASSED, scope=scope, message=message)


class _Kept:
    """A device, with what came of each state, event and truth."""

    def __init__(self, device: Device) -> None:
        self.seen: dict[Occasion, Ways] = {}
        self.charged = device.charged
        self._device = device

    def ways(self, state: State, event: str, truth: int) -> Ways:
        found = self.seen[state, event, truth] = tuple(self._device.ways(state, event, truth))
        return found


class _Compared:
    """A device that has to do what was seen before; ``problems`` is a sentence with the event, if it does not."""

    def __init__(self, device: Device, before: Mapping[Occasion, Ways]) -> None:
        self.problems: dict[str, str] = {}
        self.charged = device.charged
        self._device, self._before = device, before

    def ways(self, state: State, event: str, truth: int) -> Ways:
        found = tuple(self._device.ways(state, event, truth))
        if self._before.get((state, event, truth), found) != found:
            self.problems.setdefault(REREAD, event)
        return found


def subject_of(scenario: Scenario) -> str:
    return f"life of a device: {scenario.name}"


def follow(scenario: Scenario, length: int, device: Device) -> Followed:
    """Follow every course of up to ``length`` events."""
    following = _Following(scenario, device)
    begin: Ends = {truths: {Course(): Fraction(1)} for truths in ASSIGNMENTS}
    following.found.courses = following.go_on((), begin, length)
    return following.found


class _Following:
    """Follows the courses of one device, and remembers what was followed already."""

    def __init__(self, scenario: Scenario, device: Device) -> None:
        self.found = Followed()
        self._scenario, self._device = scenario, device
        self._events = events_of(scenario)
        self._spent = cache(device.charged)
        self._ways = cache(self._run)
        self._after = cache(self._law)
        self._counts: dict[Hashable, int] = {}

    def go_on(self, course: tuple[str, ...], ends: Ends, left: int) -> int:
        """Follow all courses of up to ``left`` more events from what one has come to; tells how many."""
        if not left:
            return 0
        later = 1 if course else 0
        count = 0
        for event in (*self._events, *KILLS):
            if self._happens(ends, event, later):
                further = {truths: self._pushed(weights, event, truths[later]) for truths, weights in ends.items()}
                count += self._follow((*course, event), further, left - 1)
        return count

    def _happens(self, ends: Ends, event: str, later: int) -> bool:
        """Not a kill at a step that no way of the coins reaches: that course is one of those without a kill."""
        return event not in KILLS or any(
            happened.killed
            for truths, weights in ends.items()
            for course in weights
            for happened, _ in self._after(course.state, event, truths[later])
        )

    def _follow(self, course: tuple[str, ...], ends: Ends, left: int) -> int:
        """Judge one course and follow those that begin with it, if it is not wrong; tells how many."""
        come_to = (left, *(frozenset(weights.items()) for weights in ends.values()))
        if come_to not in self._counts:
            problems = [*(_silent(ends) if course == (ANSWERED,) else ()), *judge(self._scenario, ends, self._spent)]
            for problem in problems:
                self.found.problems.setdefault(problem, ", ".join(course))
            self._counts[come_to] = 1 + (0 if problems else self.go_on(course, ends, left))
        return self._counts[come_to]

    def _pushed(self, weights: Weights, event: str, truth: int) -> Weights:
        further: Weights = {}
        for course, weight in weights.items():
            for happened, share in self._after(course.state, event, truth):
                end = continued(course, happened)
                further[end] = further.get(end, Fraction(0)) + weight * share
        return further

    def _law(self, state: State, event: str, truth: int) -> Distribution:
        """What an event, or a kill at a step of an answer, makes of a state."""
        ways = self._ways(state, ANSWERED if event in KILLS else same_event(state, event), truth)
        if event in KILLS:
            step = KILLS[event]
            return _summed((way.kills[step] if step < len(way.kills) else way.happened, likely) for way, likely in ways)
        distribution = _summed((way.happened, likely) for way, likely in ways)
        return _summed(self._answered_next(distribution, truth)) if event == REFUSED else distribution

    def _answered_next(self, distribution: Distribution, truth: int) -> Iterator[tuple[Happened, Fraction]]:
        for happened, likely in distribution:
            for answered, share in self._after(happened.state, ANSWERED, truth):
                yield replace(answered, wire=(*happened.wire, *answered.wire)), likely * share

    def _run(self, state: State, event: str, truth: int) -> tuple[tuple[Way, Fraction], ...]:
        """The ways of an event; those of another one, or of another answer, where they cannot but be the same."""
        if event == LATE and not any(way.timed for way, _ in self._ways(state, ANSWERED, truth)):
            return self._ways(state, ANSWERED, truth)
        if truth and not any(way.looked for way, _ in self._ways(state, event, 0)):
            return self._ways(state, event, 0)
        return tuple(self._device.ways(state, event, truth))


def _summed(ways: Iterable[tuple[Happened, Fraction]]) -> Distribution:
    distribution: dict[Happened, Fraction] = {}
    for happened, likely in ways:
        distribution[happened] = distribution.get(happened, Fraction(0)) + likely
    return tuple(distribution.items())


def _silent(ends: Ends) -> Iterator[str]:
    """A client that sends nothing does nothing wrong, and has not been tried."""
    if not all(course.sent for weights in ends.values() for course in weights):
        yield "no report leaves the device after an answer"
