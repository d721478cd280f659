"""The answers and reports of one question that whole runs try, and the tapes that lead from each to each."""

import re
from functools import cached_property, partial
from typing import Any

from sottovoce.audit.exact_channel import input_count, inputs_of
from sottovoce.audit.steering import Steering
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.client.randomizers.memoized_rr import memorize, recall
from sottovoce.shared.answers import Value
from sottovoce.shared.mechanisms.base import Mask
from sottovoce.shared.spec import Question

_WHOLE = re.compile("-?[0-9]{1,15}")

ALL_REPORTS = 16
"""Reported values up to which all of a question are tried; of more, a spread."""

ALL_ANSWERS = 64
"""Answers up to which all to a question are tried; of more, a spread of so many."""

SPREAD = 8
"""How many values a spread has; answers too where a way to a report must be sought."""

MAX_DRAWS = 160
"""Draws of one report up to which a way through them is sought."""


class AskedQuestion:
    """One question: the answers and reports to try, and the ways between them."""

    def __init__(self, question: Question) -> None:
        self.question = question
        mechanism = question.mechanism
        self._memoized = mechanism is not None and mechanism.waves > 1
        self._steering = Steering(partial(_report, question), isinstance(mechanism, Mask))
        self._memos = Steering(lambda _, draws: memorize(mechanism, draws))  # type: ignore[arg-type]
        self._first = inputs_of(question, 2)[0]
        self._walked = mechanism is None or self._memoized or self._steering.walks(self._first)
        self.steered = self._walked or self._steering.first(self._first)[1] <= MAX_DRAWS
        self._most = ALL_ANSWERS if self._walked else SPREAD

    @cached_property
    def reports(self) -> list[int]:
        """The values that are to be reported, one in each vector; of a public question the places of its answers."""
        if self.question.mechanism is None:
            return [*range(len(self.answers))]
        if not self.steered:
            return [self._steering.first(self._first)[0]]
        return (self._few() if self._walked else None) or _some_reports(self.question)

    def _few(self) -> list[int] | None:
        largest = self.question.largest
        found = [y for y in range(largest + 1) if self.question.admits(y)] if largest < 1 << 12 else []
        return found if 0 < len(found) <= ALL_REPORTS else None

    @cached_property
    def answers(self) -> list[Any]:
        """The answers to try, a refusal last."""
        question = self.question
        if not self.steered:
            return [question.answer(self._first)]
        values = inputs_of(question, self._most)
        answers = [question.answer(value) for value in values if not self._is_refusal(value)]
        return answers if question.absent is None else [*answers, None]

    def spelled(self, place: int, turn: int) -> Any:  # noqa: ANN401 - an answer
        """One of the answers; whole numbers as numbers or as text, turn by turn: programs give either."""
        answer, grid = self.answers[place], self.question.domain.grid
        if turn % 2 or grid is None or not isinstance(answer, str) or not _WHOLE.fullmatch(answer):
            return answer
        return int(answer)

    def _is_refusal(self, value: Value) -> bool:
        return self.question.domain.absent and value == self.question.absent

    @property
    def is_whole(self) -> bool:
        """Whether all answers and all reports are tried."""
        reports = self.question.mechanism is None or self._few() is not None
        return reports and input_count(self.question) <= self._most

    def memo(self, vector: int) -> tuple[int, int] | None:
        """What is remembered in one vector; None without a memo."""
        return (vector % 2, vector // 2 % 2) if self._memoized else None

    def memo_tape(self, vector: int) -> bytes:
        """The bytes of what is remembered."""
        memo = self.memo(vector)
        return b"" if memo is None else self._memos.tape(0, memo, vector) or b""

    def tape(self, value: Value, reported: int | None, vector: int, turn: int) -> bytes | None:
        """
        The bytes of one report; None if there is no way to it.

        Args:
            value: the true value.
            reported: what is to be reported; None if the question is not asked.
            vector: the number of the vector, by which what is remembered is chosen.
            turn: chooses among the ways.
        """
        if self.question.mechanism is None or reported is None:
            return b"" if value == reported or reported is None else None
        memo = self.memo(vector)
        return self._steering.tape(value if memo is None else (value, *memo), reported, turn)  # type: ignore[arg-type]


def _report(question: Question, value: Any, draws: Any) -> int:  # noqa: ANN401 - a true value; what stands in for Draws
    """What the running randomizer reports; of a memoized question (value, answer kept for no, answer kept for yes)."""
    mechanism, stand_in = question.mechanism, draws
    assert mechanism is not None  # noqa: S101 - a public question has no randomizer
    if isinstance(value, tuple) and mechanism.waves > 1:
        return recall(mechanism, value[1:], value[0], stand_in)  # type: ignore[arg-type]
    randomize = RANDOMIZERS[mechanism.name]
    return randomize(mechanism, value, stand_in)


def _some_reports(question: Question) -> list[int]:
    """A spread of the reports: the ends and some between."""
    mechanism, largest = question.mechanism, question.largest
    if not isinstance(mechanism, Mask):
        return sorted({place * largest // (SPREAD - 1) for place in range(SPREAD)})
    options = mechanism.options
    size = options // 2 if question.admits(0) else largest.bit_count()
    rotated = (
        (((1 << size) - 1) << by | ((1 << size) - 1) >> options - by) & ((1 << options) - 1) for by in range(options)
    )
    step = max(1, options // (SPREAD - 2))
    found = dict.fromkeys([0, largest, *[*rotated][::step]])
    return [mask for mask in found if question.admits(mask)]
