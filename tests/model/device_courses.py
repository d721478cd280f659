"""What a course of events has come to, and what is wrong with it: too many reports, too few charges, too much told."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

from sottovoce.audit.exact_channel import Mismatch, check_claim
from sottovoce.shared.report import parse_report

from tests.model.device_state import Happened, State
from tests.model.pretended_aggregator import ASTRAY
from tests.model.small_surveys import Scenario

_ROUNDING = 1e-9
"""Charges are sums of doubles."""


@dataclass(frozen=True)
class Course:
    """What a course has come to, along some ways of the coins.

    Attributes:
        state: of the device and the aggregator.
        sent: (token, body) of every report that left, each once, in order.
        told: ids of reports whose receipt reached the device.
        asked: (link, questions) that were shown before the person gave a report up.
        redeemed: (link, numbers) that were sent to be signed, each once, in order.
        ended: the person has given a report up.
        redrawn: another report of a wave left while nothing said that the earlier one had arrived or was given up.
    """

    state: State = State()
    sent: tuple[tuple[str, bytes], ...] = ()
    told: frozenset[str] = frozenset()
    asked: frozenset[tuple[str, bytes]] = frozenset()
    redeemed: tuple[tuple[str, bytes], ...] = ()
    ended: bool = False
    redrawn: bool = False


Weights = dict[Course, Fraction]
Ends = Mapping[tuple[int, int], Weights]


@cache
def continued(course: Course, happened: Happened) -> Course:
    """What a course comes to with one more event."""
    course = replace(course, state=happened.state)
    for kind, name, body in happened.wire:
        if kind == "told":
            course = replace(course, told=course.told | {name})
        elif kind == "ended":
            course = replace(course, ended=True)
        elif kind == "asked":
            course = course if course.ended else replace(course, asked=course.asked | {(name, body)})
        elif kind == "redeemed":
            known = (name, body) in course.redeemed
            course = course if known else replace(course, redeemed=(*course.redeemed, (name, body)))
        elif (name, body) not in course.sent:
            redrawn = course.redrawn or (not course.ended and _is_redrawn(course, body))
            course = replace(course, sent=(*course.sent, (name, body)), redrawn=redrawn)
    return course


def _is_redrawn(course: Course, body: bytes) -> bool:
    """Another report of this wave is on its way, as far as the device knows."""
    earlier = {other for _, other in course.sent} - {body}
    return any(_wave(other) == _wave(body) and _id(other) not in course.told for other in earlier)


def judge(scenario: Scenario, ends: Ends, spent: Callable[[State], float]) -> Iterator[str]:
    """What is wrong, in words, with what a course has come to for each truth; ``spent`` reads a state's ledger."""
    for course in {course for weights in ends.values() for course in weights}:
        yield from _wrong_with(scenario, course, spent)
    try:
        check_laws(scenario, [_law(weights) for weights in ends.values()])
    except Mismatch as mismatch:
        yield str(mismatch)


def _wrong_with(scenario: Scenario, course: Course, spent: Callable[[State], float]) -> Iterator[str]:
    reports = {body for _, body in course.sent}
    if course.redrawn or len(reports) > len({(token, _wave(body)) for token, body in course.sent}):
        yield "two different reports of one wave leave the device"
    elif spent(course.state) + _ROUNDING < scenario.epsilon * len(reports):
        yield "a report leaves the device that is not charged"
    if len(reports) > len({_id(body) for body in reports}):
        yield "two different reports have one id"
    if len(course.redeemed) > len({link for link, _ in course.redeemed}):
        yield "one invitation is redeemed for different ids"
    if any(token == ASTRAY for token, _ in course.sent):
        yield "a report leaves the device without the signature of its id, or with more than that"
    if len(course.asked) > len({link for link, _ in course.asked}):
        yield "one person is asked two different sets of questions in one wave"


Sent = tuple[tuple[str, bytes], ...]
Left = tuple[Sent, Sent]
"""All that leaves a device: reports, and what is to be signed."""


def check_laws(scenario: Scenario, laws: list[dict[Left, Fraction]]) -> None:
    """Raise Mismatch if the laws of all that leaves a device, one for each truth, differ by more than was charged."""
    for left in dict.fromkeys(left for distribution in laws for left in distribution):
        likely = [distribution.get(left, Fraction(0)) for distribution in laws]
        sent, _ = left
        if min(likely) == 0:
            raise Mismatch("what leaves the device is impossible after another answer")
        check_claim(max(likely) / min(likely), scenario.epsilon * len({body for _, body in sent}))


def _law(weights: Weights) -> dict[Left, Fraction]:
    distribution: dict[Left, Fraction] = {}
    for course, weight in weights.items():
        left = (course.sent, course.redeemed)
        distribution[left] = distribution.get(left, Fraction(0)) + weight
    return distribution


@cache
def _wave(body: bytes) -> int:
    return parse_report(body).wave


@cache
def _id(body: bytes) -> str:
    return parse_report(body).report_id
