"""What can be seen on the wire of people whose truth is known, and checks of it; all raise ``AssertionError``.

Every check by chance has a false alarm rate of at most ``ALARM`` for all of its cells together (Holm), whatever the
load of the machine: people of different truths come in random order.
"""

import itertools
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sottovoce.client.ledger import MemoryLedger
from sottovoce.client.respondent import Respondent, encode
from sottovoce.client.transport import Transport
from sottovoce.shared.arms.arms import ARM, Block, is_arm
from sottovoce.shared.report import dump_report, parse_report
from sottovoce.shared.spec import Survey

from tests.listener import Captured, honest, listening
from tests.statistical.exact import binomial

ALARM = 1e-3
ALARM_TIME = 1e-6
"""Ranks of times are compared by a normal approximation, which is good far out, but not to the last digit."""

Answers = Mapping[str, object]


@dataclass(frozen=True)
class Seen:
    """One person's requests; ``truth`` is the index of the answers that were given."""

    truth: int
    requests: tuple[Captured, ...]

    @property
    def report(self) -> Captured:
        return self.requests[-1]

    @property
    def values(self) -> tuple[int, ...]:
        return parse_report(self.report.body).values  # type: ignore[return-value]


def watch(survey: Survey, truths: Sequence[Answers], count: int, whole: bool = False) -> list[Seen]:
    """What ``count`` people of each truth send, in random order, to a real socket; if ``whole``, after the survey."""
    people = [truth for truth in range(len(truths)) for _ in range(count)]
    random.SystemRandom().shuffle(people)
    seen = []
    with listening(honest(survey)) as server:
        transport = Transport(server.url)
        link = f"{server.url}/s/{survey.name}#d={survey.digest[:32]}"
        for truth in people:
            before = len(server.captured)
            me = Respondent.connect(link, MemoryLedger()) if whole else Respondent(survey, transport, MemoryLedger())
            me.answer(truths[truth])
            seen.append(Seen(truth, tuple(server.captured[before:])))
    return seen


def check_form(survey: Survey, seen: Sequence[Seen]) -> None:
    """All that is not a reported value or a random id is the same for everybody: heads, keys, length, number."""
    assert len({tuple(request.path for request in person.requests) for person in seen}) == 1, "other requests"
    for position in range(len(seen[0].requests)):
        assert len({_without_port(person.requests[position].head) for person in seen}) == 1, "other headers"
    assert len({len(person.report.body) for person in seen}) == 1, "another length"
    for person in seen:
        body = person.report.body
        try:
            report = parse_report(body)
        except Exception as error:
            raise AssertionError("not the canonical report") from error
        assert body == dump_report(report, survey), "not the canonical bytes"
        asked = [(q, v) for q, v in zip(survey.questions, report.values, strict=True) if v is not None]
        assert all(question.admits(value) for question, value in asked)
        assert survey.asks_for(report.values), "values of other questions than those of the arm"


def check_ids(seen: Sequence[Seen]) -> None:
    """Ids are never repeated, and each of their bits is a fair coin, whatever the truth and the first report."""
    ids = [parse_report(person.report.body).report_id for person in seen]
    assert len(set(ids)) == len(ids), "an id twice"
    groups: dict[tuple[int, int], list[int]] = {}
    for person, identity in zip(seen, ids, strict=True):
        groups.setdefault((person.truth, person.values[0]), []).append(int(identity, 16))
    cells = [
        (sum(number >> bit & 1 for number in numbers), len(numbers), 0.5)
        for numbers in groups.values()
        for bit in range(128)
    ]
    _holm([_two_sided(*cell) for cell in cells], ALARM, "a bit of the id depends on the truth")


def check_times(seen: Sequence[Seen]) -> None:
    """How long a client takes does not depend on the truth, given the first reported value."""
    probabilities = []
    for value in {person.values[0] for person in seen}:
        waits: dict[int, list[float]] = {}
        for person in seen:
            if person.values[0] == value:
                waits.setdefault(person.truth, []).append(person.report.waited)
        probabilities += [_ranks(one, other) for one, other in itertools.combinations(waits.values(), 2)]
    _holm(probabilities, ALARM_TIME, "the time depends on the truth")


def check_frequencies(survey: Survey, truths: Sequence[Answers], seen: Sequence[Seen]) -> None:
    """Every reported value of every question comes as often as its channel says, by exact binomial tests.

    So does every combination of the values of a block, which by themselves would not show that they are drawn together.
    So does every random arm, by its weight, and within an arm every value of the questions that it asks.
    """
    probabilities = []
    for truth, answers in enumerate(truths):
        reports = [person.values for person in seen if person.truth == truth]
        values = _true_values(survey, answers)
        for block in survey.blocks:
            probabilities += _of_block(block, [values[index] for index in block.questions], reports)
        for index, (question, value) in enumerate(zip(survey.questions, values, strict=True)):
            asked = [report[index] for report in reports if report[index] is not None]
            counts = Counter(asked)
            if is_arm(survey, question):
                shares = [arm.weight / sum(each.weight for each in survey.arms) for arm in survey.arms]
                probabilities += [_two_sided(counts[arm], len(asked), share) for arm, share in enumerate(shares)]
                continue
            if question.mechanism is None:
                assert set(counts) <= {value}, "a public answer was changed"
                continue
            for reported in filter(question.admits, range(question.largest + 1)):
                expected = float(question.mechanism.probability(reported, value))
                probabilities.append(_two_sided(counts[reported], len(asked), expected))
    _holm(probabilities, ALARM, "another frequency than the channel's")


def _of_block(block: Block, true: Sequence[int], reports: Sequence[Sequence[int | None]]) -> list[float]:
    """P-values of every combination of the values of each set of questions that a block may ask."""
    probabilities = []
    for asked in itertools.combinations(range(len(true)), block.mechanism.asked):
        rows = [tuple(report[block.questions[place]] for place in asked) for report in reports]
        counts = Counter(row for row in rows if None not in row)
        for reported in itertools.product(*map(range, block.mechanism.asked_sizes)):
            chance = float(block.mechanism.probability([true[place] for place in asked], reported))
            probabilities.append(_two_sided(counts[reported], counts.total(), chance))
    return probabilities


def _true_values(survey: Survey, answers: Answers) -> list[object]:
    """The encoded truths of all questions, those of all arms together."""
    if not survey.arms:
        return list(encode(survey, answers))
    pairs = zip(survey.arms, survey.places_by_arm, strict=True)
    by_arm = [encode(survey, {**answers, ARM: arm.name}, places) for arm, places in pairs]
    return [next(value for value in values if value is not None) for values in zip(*by_arm, strict=True)]


def check(survey: Survey, truths: Sequence[Answers], seen: Sequence[Seen]) -> None:
    """All of the above but the times."""
    check_form(survey, seen)
    check_ids(seen)
    check_frequencies(survey, truths, seen)


def _without_port(head: bytes) -> bytes:
    return b"\r\n".join(line for line in head.split(b"\r\n") if not line.startswith(b"Host: 127.0.0.1:"))


def _two_sided(count: int, n: int, p: float) -> float:
    """The exact two-sided binomial p-value: twice the smaller tail."""
    if not 0 < p < 1:
        return float(count == n * p)
    distribution = binomial(n, np.array([p]))[0]
    return min(1.0, 2 * min(distribution[: count + 1].sum(), distribution[count:].sum()))


def _ranks(one: Sequence[float], other: Sequence[float]) -> float:
    """The two-sided p-value of the Mann-Whitney test, by its normal approximation."""
    order = np.argsort(np.argsort(np.array([*one, *other]))) + 1
    m, n = len(one), len(other)
    mean, spread = m * (m + n + 1) / 2, math.sqrt(m * n * (m + n + 1) / 12)
    return math.erfc(abs(float(order[:m].sum()) - mean) / spread / math.sqrt(2))


def _holm(probabilities: Sequence[float], alarm: float, message: str) -> None:
    # Holm's procedure rejects something exactly when the smallest p-value is below alarm / number.
    smallest = min(probabilities)
    assert smallest > alarm / len(probabilities), f"{message} (p = {smallest:.1e} among {len(probabilities)})"
