"""
The part of an audit that samples: whole reports, as a device makes them, of four invented people.

The people differ in their answers: the first gives the first answer to every question and the second the last; the
third and the fourth alternate. Between the first two every question's report may differ by its own epsilon; between
the first and the third those of two neighbouring questions together by the epsilon of the one that was answered
otherwise, which finds draws that questions share. Reports of the first two in turn find draws that people share. What
is read from the source of randomness may not differ at all.
"""

import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, product
from types import NoneType
from typing import Any

from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check, Tick
from sottovoce.audit.events import READ_NAMES, Events, Observation, count_read
from sottovoce.audit.exact_channel import claim_of_one, inputs_of
from sottovoce.audit.lower_bound import BoundFinding, Comparison, judge
from sottovoce.client import respondent
from sottovoce.client.draws import Draws
from sottovoce.client.ledger import Key, MemoryLedger
from sottovoce.client.memo import keep_memo
from sottovoce.client.question_sample import draw_asked
from sottovoce.shared.answers import Value
from sottovoce.shared.report import dump_report
from sottovoce.shared.spec import Question, Survey

PEOPLE = ((0, 0), (1, 1), (0, 1), (1, 0))
"""Which of two answers each of the four gives to questions with an even and with an odd number."""

TURNS = ((0,), (1,), (2,), (3,), (0, 1))
"""Whose reports are made: each person's by themselves, then the first two people's in turn."""

DEFAULT_RUNS = 5_000
_MAX_READS = 750_000
_LISTED = 64
_PARTS = 4
_AT_ONCE = 512  # bytes asked of the operating system

Reported = tuple[tuple[object, ...], int, int]
"""The values of a report, the length of its body and the bytes that were read for it."""

Truth = tuple[Value, ...]
"""The true values of one person, also of what she may not be asked."""

Device = Callable[[Sequence[Truth], int], Iterator[Reported]]
"""``device(truths, n)``: n reports of people with these true values, in turn."""


class _System(io.RawIOBase):
    """The operating system's random bytes as a file without an end, which a buffer counts and gives out quickly."""

    def __init__(self) -> None:
        self._given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:  # noqa: ANN401 - what the buffer has to be filled
        into[:] = os.urandom(len(into))
        self._given += len(into)
        return len(into)

    def tell(self) -> int:
        return self._given


def python_device(survey: Survey, ids: list[tuple[str, object]] | None = None) -> Device:
    """
    The Python client, from true values to the bytes that it would send; each report is a new device's first.

    ``ids`` gets the id of each report, and its values, in order.
    """

    def device(truths: Sequence[Truth], runs: int) -> Iterator[Reported]:
        source = io.BufferedReader(_System(), _AT_ONCE)
        for run in range(runs):
            before = source.tell()
            body = _drawn(survey, truths[run % len(truths)], Draws(source.read))
            report = json.loads(body)
            if ids is not None:
                ids.append((report["report_id"], report["values"]))
            yield tuple(report["values"]), len(body), source.tell() - before

    return device


def _drawn(survey: Survey, truth: Truth, draws: Draws) -> bytes:
    """Draw the questions and the memo, then randomize. Return the body of the report."""
    places = draw_asked(survey, draws)
    values = tuple(value if index in places else None for index, value in enumerate(truth))
    memo = keep_memo(MemoryLedger(), Key("", survey.name), survey, draws)
    return dump_report(respondent.randomize(survey, values, draws, memo=memo), survey)


def runs_for(survey: Survey) -> int:
    """So many runs by default: fewer where a report takes very many draws."""
    reads: list[int] = []

    def read(count: int) -> bytes:
        reads.append(count)
        return os.urandom(count)

    _drawn(survey, truth_of(survey, 0), Draws(read))
    return max(1000, min(DEFAULT_RUNS, _MAX_READS // len(reads)))


def truth_of(survey: Survey, person: int) -> Truth:
    """The true values of one of the four; all give the same answer to a public question, which hides nothing."""
    even_odd = PEOPLE[person]
    return tuple(
        _ends(question)[0 if question.mechanism is None else even_odd[index % 2]]
        for index, question in enumerate(survey.questions)
    )


@dataclass(frozen=True)
class Sampling:
    """
    Settings of an audit by sampling.

    Attributes:
        runs: reports of each of ``turns``.
        alpha: probability that an honest client fails, at most.
        tick: called with the progress.
        truth: from the survey and a person's number to her true values.
        turns: whose reports are made, the first ones of ``TURNS``.
        wave: in which the reports are made.
    """

    runs: int
    alpha: float
    tick: Tick
    truth: Callable[[Survey, int], Truth] = truth_of
    turns: tuple[tuple[int, ...], ...] = TURNS
    wave: int = 0


def check_reports(part: str, survey: Survey, device: Device, sampling: Sampling) -> list[Check]:
    """
    A line for every question, one for neighbours together, one for people in turn, one for which questions are asked,
    and one for the reports' form. Only the reports of one wave are made.

    Under ``own_coin`` the device sends what the toss said, so that there is only the form.

    Args:
        part: one of ``check.PARTS``.
        survey: the survey.
        device: makes the reports.
        sampling: how many, of whom, and how sure the result is to be.

    Raises:
        ValueError: the number of runs or alpha is out of range.
    """
    people = [sampling.truth(survey, person) for person in range(len(PEOPLE))]
    seen: list[list[Reported]] = []
    for turn in sampling.turns:
        reports = []
        for number, made in enumerate(device([people[person] for person in turn], sampling.runs), 1):
            reports.append(made)
            if number % max(1, sampling.runs // 20) == 0:
                sampling.tick(1 / 20 / len(sampling.turns))
        seen.append(reports)
    form = _form(part, survey, people, list(zip(sampling.turns, seen, strict=True)))
    if form.outcome == FAILED or survey.own_coin:
        return [form]
    by_question = [_Made(survey, reports) for reports in seen]
    together = [*_neighbours(survey, people, by_question), *_in_turn(survey, by_question)]
    verdict = judge([*_single(survey, by_question), *together, *_asked(survey, seen), *_read(seen)], sampling.alpha)
    wave = f" in wave {sampling.wave}" if len(survey.waves) > 1 else ""
    scope = f"{sampling.runs:,} reports of each person{wave}; {verdict.events:,} events, alpha {sampling.alpha:.3g}"
    return [form, *(_line(part, finding, scope) for finding in verdict.findings)]


def _form(
    part: str, survey: Survey, people: Sequence[Truth], seen: Sequence[tuple[tuple[int, ...], Sequence[Reported]]]
) -> Check:
    """Every value whole and admitted, unprotected answers as given, every body of one length."""
    problem = ""
    if len({length for _, reports in seen for _, length, _ in reports}) != 1:
        problem = "the length of a report is not the same for all"
    for turn, reports in seen:
        for who, person in enumerate(turn):
            made = [values for values, _, _ in reports[who :: len(turn)]]
            problem = _wrong(survey, people[person], made) or problem
    return Check(part, "form of the reports", FAILED if problem else PASSED, message=problem)


def _wrong(survey: Survey, truth: Truth, made: Sequence[tuple[object, ...]]) -> str:
    """Describe the first wrong value in one person's reports; an empty text if all are right."""
    types = set(map(type, chain.from_iterable(made)))
    if any(len(values) != len(survey.questions) for values in made) or not types <= {int, NoneType}:
        return "a report holds something else than one whole number for each question"
    if not all(map(survey.asks_for, made)):
        return "a report answers other questions than one person is asked, or another number of them"
    for question, column, given in zip(survey.questions, _columns(survey, made), truth, strict=True):
        for reported in {*column} - {None}:
            assert isinstance(reported, int)  # noqa: S101 - looked at above
            if not question.admits(reported):
                return "a report holds a value that the survey does not admit"
            if (question.mechanism is None or survey.own_coin) and reported != given:
                return "a public answer, or one that was tossed by hand, is not sent as it was given"
    return ""


def _columns(survey: Survey, made: Iterable[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Return the reported values of each question, in the order of the reports."""
    return list(zip(*made, strict=True)) or [()] * len(survey.questions)


class _Made:
    """
    The reports of one turn, question by question.

    Attributes:
        reports: as they were made.
        lengths: of their bodies, in bytes.
        values: what was reported to each question, in the order of the reports.
        parts: in which part of its range each of these values is.
    """

    def __init__(self, survey: Survey, reports: Sequence[Reported]) -> None:
        self.reports = reports
        self.lengths = [length for _, length, _ in reports]
        self.values = _columns(survey, (values for values, _, _ in reports))
        self.parts = [_parts(question, column) for question, column in zip(survey.questions, self.values, strict=True)]


def _single(survey: Survey, made: Sequence[_Made]) -> Iterator[Comparison]:
    for index, question in enumerate(survey.questions):
        if question.mechanism is None:
            continue
        events = _events(question)
        counts = [events.count_of(each.values[index], each.lengths) for each in made[:2]]
        yield _comparison(
            question.name, claim_of_one(question), events.names, counts, [each.reports for each in made[:2]]
        )


def _neighbours(survey: Survey, people: Sequence[Truth], made: Sequence[_Made]) -> Iterator[Comparison]:
    """Parts of the ranges of two neighbours, for two people who answered one of them alike."""
    for (left, one), (right, other) in pairwise(enumerate(survey.questions)):
        if one.mechanism is None or other.mechanism is None:
            continue
        for pair in ((0, 2), (1, 2)):
            is_left = PEOPLE[pair[0]][left % 2] != PEOPLE[pair[1]][left % 2]
            changed, unchanged = (one, other) if is_left else (other, one)
            claim = _claim_of_pair(survey, people, (left, right), pair)
            both = [made[person] for person in pair]
            counts = [_count_pairs(zip(each.parts[left], each.parts[right], strict=True)) for each in both]
            reports = [each.reports for each in both]
            yield _comparison(f"{changed.name} beside {unchanged.name}", claim, _PAIRS.names, counts, reports)


def _claim_of_pair(survey: Survey, people: Sequence[Truth], places: tuple[int, int], pair: tuple[int, int]) -> float:
    """Epsilon of those of two questions that two people answered otherwise: both, where the one hides the other."""
    first, second = (people[person] for person in pair)
    return sum(claim_of_one(survey.questions[place]) for place in places if first[place] != second[place])


def costliest(survey: Survey, people: Sequence[Truth]) -> float:
    """The largest epsilon that any comparison is held against."""
    pairs = (
        _claim_of_pair(survey, people, places, pair)
        for places in pairwise(range(len(survey.questions)))
        for pair in ((0, 2), (1, 2))
    )
    return max([claim_of_one(question) for question in survey.questions] + list(pairs))


def _in_turn(survey: Survey, made: Sequence[_Made]) -> Iterator[Comparison]:
    """Two reports in a row, of two people who answer alike and of two who do not: finds draws that people share."""
    if len(made) < len(TURNS):
        return
    alike, turns = made[0], made[-1]
    for index, question in enumerate(survey.questions):
        if question.mechanism is None:
            continue
        counts, runs = [], []
        for each in (alike, turns):
            parts = each.parts[index]
            counts.append(_count_pairs(zip(parts[::2], parts[1::2], strict=False)))
            runs.append(len(parts) // 2)
        subject = f"{question.name} of two people"
        yield Comparison(subject, claim_of_one(question), _PAIRS.names, counts[0], counts[1], (runs[0], runs[1]))


def _asked(survey: Survey, seen: Sequence[Sequence[Reported]]) -> Iterator[Comparison]:
    """Compare how often questions, alone and in neighbouring pairs, have a value: no answer may change it."""
    if survey.ask is None:
        return
    events = [(place,) for place in survey.private] + list(pairwise(survey.private))
    names = [f"asked about {' and '.join(survey.questions[place].name for place in places)}" for places in events]
    outcomes = [name.format(how) for name in (f"{{}} {name}" for name in names) for how in ("is", "is not")]
    for person in range(1, min(len(seen), len(PEOPLE))):
        counts = []
        for reports in (seen[0], seen[person]):
            asked = [
                sum(all(values[place] is not None for place in places) for values, _, _ in reports) for places in events
            ]
            counts.append([count for yes in asked for count in (yes, len(reports) - yes)])
        pair = f"which are asked, of persons 1 and {person + 1}"
        yield _comparison(pair, 0.0, outcomes, counts, (seen[0], seen[person]))


def _read(seen: Sequence[Sequence[Reported]]) -> Iterator[Comparison]:
    """Compare the numbers of random bytes read; nothing if they could not be counted."""
    if any(read for reports in seen for _, _, read in reports):
        counts = [count_read(Observation(None, 0, read) for _, _, read in reports) for reports in seen[:2]]
        yield _comparison("bytes read", 0.0, READ_NAMES, counts, seen[:2])


def _comparison(
    subject: str,
    claim: float,
    names: Sequence[str],
    counts: Sequence[Sequence[int]],
    seen: Sequence[Sequence[Reported]],
) -> Comparison:
    return Comparison(subject, claim, names, counts[0], counts[1], (len(seen[0]), len(seen[1])))


def _events(question: Question) -> Events:
    """Each report where there are few, else bins; tails; bits; and equality to both inputs."""
    size = question.largest + 1
    ends = tuple(value for value in _ends(question) if isinstance(value, int))
    step = -(-size // _LISTED)
    edges = tuple(float(edge) for edge in range(0, size, step))[:_LISTED]
    listed = tuple(range(size)) if size <= _LISTED else ends
    return Events(tuple(dict.fromkeys((*listed, *ends))), edges, question.largest.bit_length())


def _ends(question: Question) -> tuple[Value, Value]:
    """The first and the last true value; of many numbers two near those, which differ in their last bit."""
    first, last, *_ = inputs_of(question, 2)
    if question.domain.grid is None or question.domain.size <= _LISTED:
        return first, last
    # Noise that is cut off at the ends reaches what lies within more rarely, so that a truth stands out there.
    return _moved(first, 1), _moved(last, -1 - question.domain.size % 2)


def _moved(value: Value, by: int) -> Value:
    return value + by if isinstance(value, int) else tuple(step + by for step in value)


def _parts(question: Question, column: Sequence[object]) -> list[int]:
    """In which quarter of the range each reported value is; beyond the last one where nothing was asked."""
    found: dict[object, int] = {None: _PARTS}
    for reported in {*column} - {None}:
        assert isinstance(reported, int)  # noqa: S101 - checked with the form
        found[reported] = reported * _PARTS // (question.largest + 1)
    return [found[reported] for reported in column]


_PAIRS = Events(tuple(product(range(_PARTS + 1), repeat=2)))


def _count_pairs(pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Count pairs of parts of ranges, in the order of ``_PAIRS``."""
    found = list(pairs)
    return _PAIRS.count_of(found, [0] * len(found))


def _line(part: str, finding: BoundFinding, scope: str) -> Check:
    outcome, message = PASSED, ""
    if not finding.passed:
        outcome = FAILED
        message = f"the lower bound on epsilon is above the claim, at the event: {finding.event}"
    elif not finding.tested:
        outcome, message = NOT_DONE, "so few reports could not contradict the claim, whatever they were; ask for more"
    return Check(part, finding.subject, outcome, finding.claim, finding.epsilon, scope, message)
