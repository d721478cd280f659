"""
Which runs of a whole client an audit makes: for each vector of reported values many vectors of answers, and the bytes
that make the randomizers report the one whatever the other.

What may differ between two runs with one vector of reports is nothing. The runs with one vector are: a first one; every
answer to every question, by itself beside it, or where that were too many runs, to all questions at a time; every pair
of answers (a covering array of strength two), in the first vectors; every three of a few answers, in the first one;
and whole vectors at random. Of questions with very many answers or reports a spread is tried, ends included;
``RunPlan.spread`` names them.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from sottovoce.audit.asked_question import ALL_ANSWERS, AskedQuestion
from sottovoce.audit.covering import covering_rows
from sottovoce.audit.steering import Steering
from sottovoce.audit.test_keys import id_of_wave, tape_of_redemption
from sottovoce.audit.waiting import tape_of_wait
from sottovoce.client.question_sample import draw_asked
from sottovoce.shared.spec import Survey

ID_BYTES = 16

_TRIALS = 64
"""Orders of a question's reports of which the most varied is taken."""

_LEVELS = (64, 48, 32, 24, 16, 12, 8, 6, 4, 3)


@dataclass(frozen=True)
class Effort:
    """
    How much is tried.

    Attributes:
        vectors: of reported values in which pairs are tried; there are more where a question has more reports.
        runs: about so many in all for single answers, and so many for pairs.
        random: whole vectors of answers at random, in all vectors together.
        threes: values of each question in the array of strength three; fewer than two leave it out.
        ids: least vectors; in 16 of them every digit stands at every place of the id.
        all_reports: there are as many vectors as hold every report.
        forms: about so many runs go through the steps of the browser's form too, which takes several times as long.
    """

    vectors: int
    runs: int
    random: int
    threes: int
    ids: int
    all_reports: bool = True
    forms: int = 160


FULL = Effort(vectors=8, runs=1200, random=1000, threes=3, ids=16)
QUICK = Effort(vectors=2, runs=48, random=20, threes=0, ids=2, all_reports=False, forms=16)


@dataclass(frozen=True)
class Run:
    """
    One run.

    Attributes:
        answers: by question name, as ``Respondent.answer`` takes them; None or no entry for no answer.
        tape: the random bytes, in the order in which the agreed client reads them: those of the set of questions under
            ``ask``, of a redemption, of what is remembered for all waves, 16 of the report's id unless that was
            redeemed, then each question's, and those of a wait.
    """

    answers: Mapping[str, Any]
    tape: bytes


@dataclass(frozen=True)
class VectorPlan:
    """
    Runs that may differ in nothing but their answers and tapes.

    Attributes:
        outputs: what each question's randomizer reports; a public question's answer; None for what is not asked.
        report_id: as hexadecimal digits, from its 16 bytes; of a redemption that of the first wave.
        runs: the first is what the others are compared with.
        redemption: where in each tape the bytes of a redemption stand: where they begin and where they end.
    """

    outputs: tuple[int | None, ...]
    report_id: str
    runs: tuple[Run, ...]
    redemption: tuple[int, int] = (0, 0)

    def id_in(self, survey: Survey, wave: int) -> str:
        """The id of the report of one wave, as hexadecimal digits."""
        return id_of_wave(bytes.fromhex(self.report_id), wave).hex() if survey.is_blind else self.report_id


@dataclass(frozen=True)
class RunPlan:
    """
    All runs of one survey.

    Attributes:
        vectors: empty where the device draws nothing itself.
        whole: every answer, and every pair of answers, is tried, and every report of every question.
        spread: names of the questions of which a spread is tried.
        unsteered: names of those that draw too much to be led to a report; one answer of each is tried.
        more: trials in which three or more answers differ at will.
        unreached: runs that were left out since no way led from an answer to a report.
        forms: about so many of the runs go through the steps of the browser's form too.
    """

    vectors: tuple[VectorPlan, ...]
    spread: tuple[str, ...]
    unsteered: tuple[str, ...]
    more: int
    unreached: int
    forms: int = 0

    @property
    def runs(self) -> int:
        """How many there are."""
        return sum(len(vector.runs) for vector in self.vectors)

    @property
    def whole(self) -> bool:
        """Whether nothing of a question was left out."""
        return not self.spread and not self.unsteered

    @property
    def scope(self) -> str:
        """What is tried, in words."""
        words = f"{self.runs:,} runs with {len(self.vectors)} vectors of reports; {self.more:,} of them differ at will"
        if self.spread:
            words += f"; of {', '.join(self.spread)} a spread of answers, pairs or reports"
        if self.unsteered:
            words += f"; of {', '.join(self.unsteered)} one answer only, for its draws are too many"
        return words


def plan_runs(survey: Survey, quick: bool = False) -> RunPlan:
    """
    The runs of a survey; always the same for the same survey.

    Args:
        survey: whose client is run.
        quick: few runs, for use while a survey is being edited.
    """
    if survey.own_coin:
        return RunPlan((), (), (), 0, 0)
    return _Planner(survey, QUICK if quick else FULL).plan()


class _Planner:
    """Makes the runs of one survey."""

    def __init__(self, survey: Survey, effort: Effort) -> None:
        self.survey = survey
        self.effort = effort
        self.asked = [AskedQuestion(question) for question in survey.questions]
        self.private = [index for index in survey.private if self.asked[index].steered]
        self.sets = Steering(lambda _, draws: draw_asked(survey, draws))
        self.unreached = self.more = self.turn = 0
        shares = 1 if survey.ask is None else ceil(len(survey.private) / survey.ask)
        self.needed = [len(each.reports) * shares if each.question.mechanism else 1 for each in self.asked]
        self.least = max(effort.vectors, *self.needed) if effort.all_reports else effort.vectors
        self.count = max(self.least, effort.ids)
        self.reports = self._mixed_reports()
        self.levels = [len(each.answers) for each in self.asked]
        self.pairs = self._fitting(_rows_of_pairs, effort.vectors)
        self.pair_rows = covering_rows(self._sizes(self.pairs), 2)
        self.apart = self.least * sum(self._sizes(ALL_ANSWERS)) <= effort.runs
        self.singles = ALL_ANSWERS if self.apart else self._fitting(max, self.least)
        self.three_rows = covering_rows(self._sizes(effort.threes), 3) if effort.threes > 1 else []

    def plan(self) -> RunPlan:
        """All vectors."""
        vectors = tuple(self._vector(number) for number in range(self.count))
        names = [question.name for question in self.survey.questions]
        unsteered = [index for index, each in enumerate(self.asked) if not each.steered]
        spread = [index for index in range(len(names)) if not self._is_whole(index)]
        return RunPlan(
            vectors,
            tuple(names[index] for index in spread if index not in unsteered),
            tuple(names[index] for index in unsteered),
            self.more,
            self.unreached,
            self.effort.forms,
        )

    def _mixed_reports(self) -> list[list[int]]:
        """
        For each question its reports in the order of the vectors: all of them before one comes again, and so that any
        two questions have as many different pairs of reports as there can be. A client that writes one question's
        report in another's place would else look honest.
        """
        chosen: list[list[int]] = []
        for index, each in enumerate(self.asked):
            tried = [_shuffled(each.reports, self.count, b"%d %d" % (index, trial)) for trial in range(_TRIALS)]
            chosen.append(
                max(tried, key=lambda order: sum(len({*zip(order, other, strict=False)}) for other in chosen))
            )
        return chosen

    def _is_whole(self, index: int) -> bool:
        """Whether all answers to a question, their pairs, and all of its reports are tried."""
        least = self._size(index, min(self.singles, self.pairs))
        whole = self.asked[index].is_whole and least == self._size(index, ALL_ANSWERS)
        return whole and self.needed[index] <= self.count

    def _fitting(self, rows: Callable[[list[int]], int], vectors: int) -> int:
        """The most values of each question with which so many rows for each vector are not too many."""
        fitting = (most for most in _LEVELS if vectors * rows(self._sizes(most)) <= self.effort.runs)
        return next(fitting, 2)

    def _size(self, index: int, most: int) -> int:
        return 1 if self.survey.questions[index].mechanism is None else min(most, self.levels[index])

    def _sizes(self, most: int) -> list[int]:
        return [self._size(index, most) for index in range(len(self.asked))]

    def _vector(self, number: int) -> VectorPlan:
        places = self._set(number)
        outputs = tuple(self._output(index, number) if index in places else None for index in range(len(self.asked)))
        identity = _identity(number)
        set_tape = b"" if self.survey.ask is None else self.sets.tape(0, places, number) or b""
        redemption = tape_of_redemption(self.survey, identity, number)
        memos = b"".join(each.memo_tape(number) for each in self.asked)
        beginning = set_tape + redemption + memos + (b"" if self.survey.is_blind else identity)
        place = (len(set_tape), len(set_tape + redemption))
        found: dict[tuple[int, ...], Run] = {}
        for rows, at_will in ((self._few(number), False), (self._many(number), True)):
            for row in rows:
                run = self._run(row, outputs, beginning, number) if row not in found else None
                if run is not None:
                    found[row] = run
                    self.more += at_will
        return VectorPlan(outputs, identity.hex(), tuple(found.values()), place)

    def _set(self, number: int) -> tuple[int, ...]:
        """The questions asked in one vector; each private one is asked in its turn."""
        every = range(len(self.asked))
        if self.survey.ask is None:
            return tuple(every)
        private, ask = self.survey.private, self.survey.ask
        chosen = {private[(number * ask + place) % len(private)] for place in range(ask)}
        return tuple(index for index in every if index in chosen or index not in private)

    def _output(self, index: int, number: int) -> int | None:
        """The report of a question in one vector: the next one whenever it is asked; its answer if it is public."""
        each, question = self.asked[index], self.survey.questions[index]
        earlier = sum(index in self._set(before) for before in range(number))
        if question.mechanism is None:
            value = question.encode(each.answers[self.reports[index][number]])
            assert isinstance(value, int)  # noqa: S101 - a vector question is never public
            return value
        return self.reports[index][earlier]

    def _few(self, number: int) -> Iterator[tuple[int, ...]]:
        """The answers of the runs for single answers and for pairs, as places among those to try."""
        sizes = self._sizes(self.singles)
        base = tuple(self._spread(index, number % size, size, number) for index, size in enumerate(self.levels))
        yield base
        if number >= self.least:
            return  # there for its id: what is answered at random is enough
        if self.apart:
            for index, size in enumerate(sizes):
                yield from ((*base[:index], place, *base[index + 1 :]) for place in range(size) if size > 1)
        else:
            yield from self._spread_rows(covering_rows(sizes, 1), sizes, number)
        if number < self.effort.vectors:
            yield from self._spread_rows(self.pair_rows, self._sizes(self.pairs), number)

    def _many(self, number: int) -> Iterator[tuple[int, ...]]:
        """The answers of the runs for more than two at a time: three of a few, then all at random."""
        if not number:
            yield from self._spread_rows(self.three_rows, self._sizes(self.effort.threes), number)
        sizes = self._sizes(ALL_ANSWERS)
        trials = ceil(self.effort.random / self.count)
        drawn = [
            hashlib.shake_256(b"answers %d %d" % (number, trial)).digest(2 * len(sizes)) for trial in range(trials)
        ]
        rows = [
            [int.from_bytes(each[2 * place : 2 * place + 2]) % size for place, size in enumerate(sizes)]
            for each in drawn
        ]
        yield from self._spread_rows(rows, sizes, number)

    def _spread_rows(
        self, rows: Sequence[Sequence[int]], sizes: Sequence[int], number: int
    ) -> Iterator[tuple[int, ...]]:
        for row in rows:
            yield tuple(self._spread(index, place, sizes[index], number) for index, place in enumerate(row))

    def _spread(self, index: int, place: int, size: int, number: int) -> int:
        """The place among all answers of one among ``size``; another one in another vector, if not all are tried."""
        if self.survey.questions[index].mechanism is None:
            return self.reports[index][number]
        whole = self.levels[index]
        if size == whole:
            return place
        return (place * (whole - 1) // max(1, size - 1) + number) % whole

    def _run(self, row: Sequence[int], outputs: Sequence[int | None], beginning: bytes, number: int) -> Run | None:
        """One run; None if no way leads from its answers to the reports."""
        self.turn += 1
        answers = {
            each.question.name: each.spelled(place, self.turn)
            for each, place in zip(self.asked, row, strict=True)
            if each.answers[place] is not None or self.turn % 2
        }
        asked = [index for index in self._set(number)]
        values = self.survey.encode(answers, asked)
        tape = beginning
        for index in asked:
            each, value = self.asked[index], values[index]
            part = each.tape(value, outputs[index], number, self.turn)  # type: ignore[arg-type]
            if part is None:
                self.unreached += 1
                return None
            tape += part
        return Run(answers, tape + tape_of_wait(self.survey, number))


def _identity(number: int) -> bytes:
    """
    The id of one vector. Of two neighbours one has the other's bits turned round: who writes a bit into the id shows it
    in one of them. Sixteen together hold every digit at every place: who looks for one digit finds it.
    """
    halves = [_shuffled(range(8), number // 2 + 1, b"place %d" % place)[-1] for place in range(2 * ID_BYTES)]
    return bytes.fromhex("".join(f"{half ^ 15 * ((number + place) % 2):x}" for place, half in enumerate(halves)))


def _shuffled(reports: Sequence[int], count: int, seed: bytes) -> list[int]:
    """So many reports: all of them in some order, then all in another, and so on; always the same for one seed."""
    found: list[int] = []
    while reports and len(found) < count:
        block = b"%d %s" % (len(found), seed)
        found += sorted(reports, key=lambda y: hashlib.sha256(b"%d %s" % (y, block)).digest())
    return found[:count]


def _rows_of_pairs(sizes: Sequence[int]) -> int:
    """About so many rows show all pairs."""
    largest = sorted(sizes)[-2:]
    return ceil(largest[0] * largest[-1] * (0.8 + 0.1 * len(sizes)))
