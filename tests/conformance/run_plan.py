"""Plan the runs of a whole client: vectors of answers, and the random bytes that determine their reports.

The audit works out each report by itself, from the randomizers whose distributions it has enumerated: a client must
send exactly that. The runs of one vector go through the same events with the same bytes but for those of the answers,
so that all that they send and leave must be the same but for the reported values.

Draw what chance chooses in one vector of an audit before any answer: the arm, and the questions under ``ask``.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sottovoce.audit.exact_channel import input_count, inputs_of
from sottovoce.client.draws import Draws
from sottovoce.client.question_sample import draw_arm, draw_asked
from sottovoce.client.randomizers import RANDOMIZERS, memorize, randomize_joint_rr, recall
from sottovoce.shared.answers import Value
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.by_hand.protection import drawn_by_device, is_by_hand
from sottovoce.shared.mechanisms.joint_rr import JointMember, JointRR
from sottovoce.shared.spec import Question, Survey

from tests.conformance.signing_keys import id_of_wave, tape_of_redemption

ALL_ANSWERS = 64
"""Answers up to which all to a question are tried; of more, a spread of so many."""

ALL_REPORTS = 16
"""Reported values up to which each answer is tried with each of them."""

TRIALS = 12
"""Tapes tried to find one that turns an answer into a report that it was not tried with."""

MAX_SOUGHT_BYTES = 512
"""Random bytes of one report up to which another tape is sought: what draws more takes long."""

ORDINARY = 1_700_000_000
_SECONDS_OF_HOUR = 3600


class Stream:
    """A stream of bytes that follow from a seed, without an end; it counts those that are read."""

    def __init__(self, seed: str) -> None:
        self._seed = seed.encode()
        self._given = b""
        self.used = 0

    def read(self, count: int) -> bytes:
        self.used += count
        while self.used > len(self._given):
            self._given = hashlib.shake_256(self._seed).digest(max(64, 2 * self.used))
        return self._given[self.used - count : self.used]

    @property
    def tape(self) -> bytes:
        return self._given[: self.used]


class AskedSample(NamedTuple):
    """Where one respondent gives values, the bytes drawn for it, and how many of them, the first, drew the arm."""

    places: tuple[int, ...]
    tape: bytes
    arm: str
    of_arm: int


def draw_sample(survey: Survey, stream: Stream) -> AskedSample:
    """Draw what one respondent is asked, as the clients do."""
    draws = Draws(stream.read)
    arm = draw_arm(survey, draws) if survey.arms else 0
    name = survey.arms[arm].name if survey.arms else ""
    of_arm = len(stream.tape)
    return AskedSample(draw_asked(survey, draws, arm), stream.tape, name, of_arm)


@dataclass(frozen=True)
class Effort:
    """The number of vectors, and of runs in each, that an audit tries; 16 vectors show every digit at every place of
    the id.
    """

    vectors: int
    runs: int


FULL = Effort(vectors=24, runs=24)
QUICK = Effort(vectors=6, runs=8)


@dataclass(frozen=True)
class Run:
    """A run of a whole client.

    Attributes:
        answers: by question name, as ``Respondent.answer`` takes them; None or no entry for no answer.
        tape: the random bytes of each question's report in turn, and those of a wait.
        outputs: what each question's randomizer reports; a public question's answer; None for what is not asked.
    """

    answers: Mapping[str, Any]
    tape: bytes
    outputs: tuple[int | None, ...]


@dataclass(frozen=True)
class Beginning:
    """The random bytes that the agreed client reads before those of its answers; none for an id that was redeemed."""

    asked: bytes
    redemption: bytes
    memos: bytes
    identity: bytes


@dataclass(frozen=True)
class VectorPlan:
    """Runs that may differ in nothing but their answers, the tapes of these, and the reported values.

    Attributes:
        beginning: of the tape of each run.
        other: the memos and the id of a second wave: a client that draws the memos anew reports something else.
        runs: with answers of each question in turn.
    """

    number: int
    beginning: Beginning
    other: Beginning
    runs: tuple[Run, ...]

    def tape(self, run: Run, is_again: bool = False) -> bytes:
        """Return all random bytes of a visit; ``is_again`` is the second wave of the same device."""
        first = self.other if is_again else self.beginning
        return first.asked + (b"" if is_again else first.redemption) + first.memos + first.identity + run.tape

    def id_in(self, survey: Survey, wave: int, is_again: bool = False) -> str:
        """Return the id, in hexadecimal, of the report of a wave, from 0; ``is_again`` is the second visit of a run."""
        if survey.is_blind:
            return id_of_wave(_identity(self.number), wave).hex()
        return (self.other if is_again else self.beginning).identity.hex()


@dataclass(frozen=True)
class RunPlan:
    """All runs of one survey; ``spread`` names the questions of which not every answer was tried with every report."""

    vectors: tuple[VectorPlan, ...]
    spread: tuple[str, ...]

    @property
    def runs(self) -> int:
        return sum(len(vector.runs) for vector in self.vectors)

    @property
    def scope(self) -> str:
        """Describe the runs that are tried."""
        words = f"{self.runs:,} runs in {len(self.vectors)} courses of events; each answer with each report"
        return words + (f", but of {', '.join(self.spread)} a spread" if self.spread else "")


def present_of(survey: Survey, wave: int) -> int | None:
    """Return seconds since 1970 that leave all of a report's time before its wave ends; None without waits."""
    if not survey.send_within_hours and not survey.send_at_seconds:
        return None
    closes = survey.waves[wave].closes
    return ORDINARY if closes is None else int(closes.timestamp()) - (survey.send_within_hours + 1) * _SECONDS_OF_HOUR


def plan_runs(survey: Survey, quick: bool = False) -> RunPlan:
    """Plan the runs of a survey; always the same for the same survey. ``quick`` plans few, while a survey is edited."""
    return _Planner(survey, QUICK if quick else FULL).plan()


class _Answers:
    """The answers of one question in their turns, and which reports each was tried with."""

    def __init__(self, question: Question, place: int) -> None:
        self.question = question
        self._place = place
        self._tried: set[tuple[Value, int]] = set()
        self._turn = 0
        values = inputs_of(question, ALL_ANSWERS)
        given = [
            question.answer(value) for value in values if not (question.domain.absent and value == question.absent)
        ]
        self._answers = given if question.absent is None else [*given, None]
        self._values = values
        largest = question.largest
        self._reports = [y for y in range(largest + 1) if question.admits(y)] if largest < 1 << 12 else []
        self.is_whole = input_count(question) <= ALL_ANSWERS and 0 < len(self._reports) <= ALL_REPORTS

    def next(self) -> Any:
        """Return the next answer; whole numbers as numbers or as text, turn by turn: programs give either."""
        count = len(self._answers)
        answer = self._answers[_shuffled(count, f"{self._place} {self._turn // count}")[self._turn % count]]
        self._turn += 1
        is_number = isinstance(answer, str) and self.question.domain.grid is not None and answer.isdecimal()
        return int(answer) if is_number and self._turn % 2 else answer

    def report(self, value: Value, memo: tuple[int, int] | None, seed: str) -> tuple[int, bytes]:
        """Return a report of this truth and its tape; if one is found, a report that this truth was not tried with."""
        for trial in range(TRIALS):
            stream = Stream(f"{seed} {trial}")
            reported = _randomized(self.question, value, memo, Draws(stream.read))
            if (value, reported) not in self._tried or stream.used > MAX_SOUGHT_BYTES:
                break
        self._tried.add((value, reported))
        return reported, stream.tape

    def has_tried(self, value: Value, reported: int) -> bool:
        return (value, reported) in self._tried

    def note(self, value: Value, reported: int) -> None:
        self._tried.add((value, reported))

    @property
    def is_all_tried(self) -> bool:
        return self.is_whole and len(self._tried) >= len(self._values) * len(self._reports)


def _randomized(question: Question, value: Value, memo: tuple[int, int] | None, draws: Draws) -> int:
    """Return the value that the installed randomizer reports."""
    mechanism = question.mechanism
    assert mechanism is not None
    if memo is not None:
        return recall(mechanism, memo, value, draws)  # type: ignore[arg-type]
    return RANDOMIZERS[mechanism.name](mechanism, value, draws)


class _Planner:
    def __init__(self, survey: Survey, effort: Effort) -> None:
        self._survey = survey
        self._effort = effort
        self._answers = [_Answers(question, place) for place, question in enumerate(survey.questions)]
        self._asked_before: set[int] = set()

    def plan(self) -> RunPlan:
        """Plan all vectors, and name the questions whose pairs of answer and report are not all tried."""
        vectors = tuple(map(self._vector, range(self._effort.vectors)))
        # What was tossed by hand is the report, whatever the true answer is.
        by_device = drawn_by_device(self._survey)
        drawn = [each for each in self._answers if each.question in by_device]
        return RunPlan(vectors, tuple(each.question.name for each in drawn if not each.is_all_tried))

    def _vector(self, number: int) -> VectorPlan:
        sample = self._set(number)
        memos, memo_tape = self._memos(number)
        _, other_memos = self._memos(number + 1)
        redemption = tape_of_redemption(self._survey, _identity(number), number)
        # What is redeemed is redeemed for all waves.
        ids = [b"" if self._survey.is_blind else _identity(each) for each in (number, number + self._effort.vectors)]
        runs = tuple(self._run(number, run, sample, memos) for run in range(self._effort.runs))
        beginning = Beginning(sample.tape, redemption, memo_tape, ids[0])
        # The arm is drawn once for all waves.
        later = sample.tape[0 if self._survey.document.get("arms_per_wave") else sample.of_arm :]
        return VectorPlan(number, beginning, Beginning(later, b"", other_memos, ids[1]), runs)

    def _set(self, number: int) -> AskedSample:
        """Draw the questions asked in one vector: of some sets the one with most that were not asked before."""
        found = [draw_sample(self._survey, Stream(f"set {number} {trial}")) for trial in range(TRIALS)]
        sample = max(found, key=lambda each: len({*each.places} - self._asked_before))
        self._asked_before |= {*sample.places}
        return sample

    def _memos(self, number: int) -> tuple[dict[int, tuple[int, int]], bytes]:
        """Choose each memoized question's memo, one of four in turn by vector. Return memos and their random bytes."""
        memos, tape = {}, b""
        for place in self._survey.memoized:
            mechanism = self._survey.questions[place].mechanism
            wanted = (number % 2, number // 2 % 2)
            for stream in (Stream(f"memo {place} {trial}") for trial in range(1000)):
                memos[place] = memorize(mechanism, Draws(stream.read))  # type: ignore[arg-type]
                if memos[place] == wanted:
                    break
            tape += stream.tape
        return memos, tape

    def _run(self, number: int, run: int, sample: AskedSample, memos: Mapping[int, tuple[int, int]]) -> Run:
        answers = {each.question.name: answer for each, answer in self._given(run)}
        if self._survey.arms:
            # Chance answers for the arm, and people do not.
            answers[ARM] = sample.arm
        values = self._survey.encode(answers, sample.places)
        outputs: list[int | None] = []
        tape = b""
        for place, (each, value) in enumerate(zip(self._answers, values, strict=True)):
            if isinstance(each.question.mechanism, JointMember):
                # The first question of a block has the reports of all.
                if each.question.mechanism.position == 0:
                    together, part = self._report_block(each.question.mechanism.block, place, values, f"{number} {run}")
                    outputs += together
                    tape += part
                continue
            if value is None or each.question.mechanism is None or is_by_hand(self._survey, each.question):
                outputs.append(value)  # type: ignore[arg-type]
                continue
            reported, part = each.report(value, memos.get(place), f"{number} {run} {place}")
            outputs.append(reported)
            tape += part
        return Run(answers, tape + self._wait(number), tuple(outputs))

    def _report_block(
        self, block: JointRR, first: int, values: Sequence[Value | None], seed: str
    ) -> tuple[list[int | None], bytes]:
        """Return reports of a block's truths and their tape, of which one was not tried with its truth where one is
        found.
        """
        given = dict(enumerate(values[first : first + len(block.sizes)]))
        truths = {place: value for place, value in given.items() if isinstance(value, int)}
        asked = [self._answers[first + place] for place in truths]
        for trial in range(TRIALS):
            stream = Stream(f"{seed} {first} {trial}")
            reported = randomize_joint_rr(block, [*truths.values()], Draws(stream.read)) if truths else ()
            tried = [*zip(asked, truths.values(), reported, strict=True)]
            if not all(each.has_tried(*pair) for each, *pair in tried):
                break
        for each, value, report in tried:
            each.note(value, report)
        return [dict(zip(truths, reported, strict=True)).get(place) for place in given], stream.tape

    def _given(self, run: int) -> Iterator[tuple[_Answers, Any]]:
        """Yield answers; no answer is None in one run, and no entry in the next."""
        for each in self._answers:
            answer = each.next()
            if answer is not None or run % 2:
                yield each, answer

    def _wait(self, number: int) -> bytes:
        """Return the random bytes of a wait; none where reports are sent at once. The first one's report need not
        wait.
        """
        longest = self._survey.send_within_hours * _SECONDS_OF_HOUR
        return (number * 7919 % (longest + 1)).to_bytes((longest.bit_length() + 7) // 8) if longest else b""


def _identity(number: int) -> bytes:
    """An id: of two neighbours one has the other's bits turned round, and sixteen hold every digit at every place."""
    halves = [_shuffled(8, f"id {place} {number // 16}")[number // 2 % 8] for place in range(32)]
    return bytes.fromhex("".join(f"{half ^ 15 * ((number + place) % 2):x}" for place, half in enumerate(halves)))


def _shuffled(count: int, seed: str) -> list[int]:
    """Return the numbers below ``count`` in another order for each seed."""
    return sorted(range(count), key=lambda number: hashlib.sha256(f"{seed} {number}".encode()).digest())
