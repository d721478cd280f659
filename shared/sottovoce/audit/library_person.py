"""Somebody who answers through the Python client while everything is watched: she answers, sends, ends her report."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from sottovoce.audit.waiting import present_of
from sottovoce.audit.watched_device import (
    CHARGED,
    END,
    ORIGIN,
    REFUSALS,
    TOKEN,
    Observation,
    Watch,
    observe,
    told_of,
)
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.respondent import Respondent
from sottovoce.client.transport import Transport
from sottovoce.shared.allowance import Allowance
from sottovoce.shared.errors import AnswerError, NotYet, TransportError
from sottovoce.shared.spec import Survey

_NO_QUESTION = "no question at all"


class LibraryPerson:
    """
    Somebody who answers through ``Respondent``, as a program would.

    Args:
        survey: the survey.
        answers: hers.
        watch: gets her waits.
        turn: chooses what else she does: every second one looks at which questions she is asked before she answers,
            every second pair takes the report back and does not have it forgotten, every eighth one asks all that there
            is to ask once she has answered; see also ``wave_of``.
        before: what she gave before that, with something that is no answer, so that she had to answer again; None for
            nothing.
    """

    def __init__(
        self,
        survey: Survey,
        answers: Mapping[str, Any],
        watch: Watch,
        turn: int,
        before: Mapping[str, Any] | None = None,
    ) -> None:
        self._survey = survey
        self._answers = answers
        self._watch = watch
        self._asks_first = turn % 2 == 1
        self._withdraws = turn // 2 % 2 == 1
        self._looks_back = turn % 8 == 1
        self._before = before
        self._wave = wave_of(survey, turn)
        self._moment = present_of(survey, self._wave)

    def answer(self, ledger: Path) -> None:
        """Answer, and send."""
        person = self._respondent(ledger)
        # Whoever redeems is asked before that.
        if self._asks_first or self._survey.is_blind:
            self._watch.note(END, *(question.name for question in person.asked))
        before = person.spent
        if self._before is not None:
            self._try_in_vain(person)
        told = self._sent(person)
        self._watch.note(CHARGED, person.spent - before)
        self._watch.note(END, repr(told))
        if self._looks_back:
            self._watch.note(END, person.standing(), person.check_token(), repr(person.receipt), *_seen(person))

    def _try_in_vain(self, person: Respondent) -> None:
        """What is refused leaves nothing."""
        try:
            person.answer({**(self._before or {}), _NO_QUESTION: ""})
        except AnswerError as refused:
            self._watch.note(END, *told_of(refused))

    def _sent(self, person: Respondent) -> dict[str, Any]:
        """The receipt; whoever has to wait, or is refused, sends again."""
        step = partial(person.answer, self._answers)
        for _ in range(2):
            try:
                return step()
            except NotYet as waits:
                self._watch.note(END, str(waits), waits.send_at)
                self._moment = waits.send_at
            except TransportError as failed:
                self._watch.note(END, *told_of(failed))
            step = partial(person.send)
        return step()

    def finish(self, ledger: Path) -> None:
        """Withdraw, or forget."""
        if self._withdraws:
            self._respondent(ledger).withdraw()
            return
        kept = FileLedger(ledger)
        for name in kept.names():
            kept.forget(name)

    def _respondent(self, ledger: Path) -> Respondent:
        any_price = Allowance(float("inf"), float("inf"))
        transport = Transport(ORIGIN, sleep=self._watch.sleep)
        ledger_of_files = FileLedger(ledger)
        return Respondent(
            self._survey,
            transport,
            ledger_of_files,
            allowance=any_price,
            token=TOKEN,
            wave=self._wave,
            clock=self._clock,
        )

    def _clock(self) -> datetime:
        return datetime.fromtimestamp(self._moment, UTC)


def _seen(person: Respondent) -> tuple[object, ...]:
    """All that can be asked about a report that was drawn."""
    return person.drawn, person.drawn_elsewhere, person.cost, person.send_at, person.refused


def wave_of(survey: Survey, turn: int) -> int:
    """The first wave or the last one; in eight turns each comes with all that a turn chooses."""
    return len(survey.waves) - 1 if survey.waves and (turn + turn // 4) % 2 else 0


def run_once(
    survey: Survey,
    answers: Mapping[str, Any],
    tape: bytes,
    turn: int,
    home: Path,
    before: Mapping[str, Any] | None = None,
) -> tuple[Observation, int]:
    """
    What one run shows, and how many random bytes it took.

    Args:
        survey: the survey.
        answers: as ``Respondent.answer`` takes them.
        tape: the random bytes.
        turn: chooses what else is done: every second one is refused first; see also ``LibraryPerson``.
        home: an empty folder.
        before: what was tried before in vain; None for nothing.
    """
    watch = Watch(survey, tape, REFUSALS[turn % len(REFUSALS)], home)
    person = LibraryPerson(survey, answers, watch, turn, before)
    return observe(watch, home, person.answer, person.finish), watch.taken
