"""The path of an answer on the device:

    answer -> encode -> randomize -> record || report -> submit

Left of the bars the true answers exist, in this process's memory and nowhere else. Right of them only the drawn report
exists.
"""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Self

from sottovoce.client.delivery import deliver, receipt_of, take_back
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import Entry, Key, Ledger, recorded
from sottovoce.client.link import parse_link
from sottovoce.client.memo import check_memo, digest_of_digits, keep_memo
from sottovoce.client.question_sample import keep_arm, keep_asked
from sottovoce.client.randomizers import Memo, perturb
from sottovoce.client.redemption import NOT_SIGNED, check_signed, forget_signature, redeem, signed_id
from sottovoce.client.revisions import RevisionStatus, cached_or_fetched_survey, standing, survey_for
from sottovoce.client.transport import Transport, now
from sottovoce.client.waiting import draw_send_at
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE, Allowance, check_allowance
from sottovoce.shared.answers import Value
from sottovoce.shared.arms.arms import ARM, arm_index
from sottovoce.shared.canonical import dump
from sottovoce.shared.errors import AnsweredPersonally, AnswerError, BudgetExhausted, DrawnElsewhere, TransportError
from sottovoce.shared.order.orders import REVERSED_HALF, Arrangement, OrderedList, arrange, ordered_lists
from sottovoce.shared.report import Report, dump_report
from sottovoce.shared.spec import Question, Survey


def draw_order(ordered: OrderedList, draws: Draws) -> tuple[int, ...]:
    """Draw an order of 0 .. m - 1 for the m items, rows or options that may move.

    ``random``: all equally likely; ``reversed_half``: two.

    Bytes: those of below(m), below(m - 1), ..., below(2); for ``reversed_half`` those of below(2).
    """
    places = list(range(len(ordered.movable)))
    if ordered.kind == REVERSED_HALF:
        return tuple(reversed(places) if draws.below(2) else places)
    for place in range(len(places) - 1):
        other = place + draws.below(len(places) - place)
        places[place], places[other] = places[other], places[place]
    return tuple(places)


def keep_order(ledger: Ledger, key: Key, survey: Survey, draws: Draws) -> Arrangement:
    """Return the order that stands for ``key``: one kept earlier, else one drawn before anything is shown, and kept.

    It depends on no answer and is not reported. The ledger keeps it, so that a person who comes back sees the same
    order; what the ledger gives is used only if it could have been drawn.

    Args:
        ledger: where it is kept.
        key: what is answered.
        survey: whose items they are.
        draws: the source of randomness.

    Raises:
        BudgetExhausted: the ledger cannot be written or read.
    """
    lists = ordered_lists(survey)
    if not lists:
        return arrange(survey, [], [])
    pool = hashlib.sha256(dump({"orders": [[each.kind, *each.names, "", *each.last] for each in lists]})).hexdigest()
    kept = ledger.prepare(key, pool, lambda: tuple(place for each in lists for place in draw_order(each, draws)))
    drawn = _split(lists, kept)
    if not all(_is_possible(each, places) for each, places in zip(lists, drawn, strict=True)):
        raise BudgetExhausted("the ledger cannot be read; nothing was drawn and nothing was sent")
    return arrange(survey, lists, drawn)


def _split(lists: Sequence[OrderedList], kept: Sequence[int]) -> list[tuple[int, ...]]:
    """Split into the part of each list; what is left over goes to the last, which then is no order."""
    parts, start = [], 0
    for each in lists:
        end = start + len(each.movable) if each is not lists[-1] else len(kept)
        parts.append(tuple(kept[start:end]))
        start = end
    return parts


def _is_possible(ordered: OrderedList, places: Sequence[int]) -> bool:
    forwards = list(range(len(ordered.movable)))
    if ordered.kind == REVERSED_HALF:
        return list(places) in (forwards, forwards[::-1])
    return sorted(places) == forwards


class Respondent:
    """A person and the survey that this person answers.

    The ledger comes first: a report drawn before is sent and shown, even if the survey now costs more than the limit,
    was corrected or is closed.

    Args:
        survey: the survey, its epsilons derived from its own integers.
        transport: the way to the aggregator.
        ledger: remembers the drawn report; a file for people, memory for simulated respondents.
        draws: the source of randomness.
        allowance: the most epsilon that this person allows.
        wave: the wave of the survey that is answered.
        token: the one-time token of the link; a survey that is open to all ignores it: it would only buy a second draw.
        another_person: this is not the person who drew a report here with another token that was not accepted.
        clock: the present moment, for surveys whose reports wait for theirs.

    Raises:
        BudgetExhausted: the survey asks for more than is allowed; or the ledger cannot be read.
        TransportError: it asks for a token and there is none, has no such wave, or was one with signed reports here.
    """

    def __init__(
        self,
        survey: Survey,
        transport: Transport,
        ledger: Ledger,
        *,
        draws: Draws | None = None,
        allowance: Allowance = DEFAULT_ALLOWANCE,
        wave: int = 0,
        token: str = "",
        another_person: bool = False,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self.survey = survey
        self.ledger = ledger
        self._transport = transport
        self._draws = draws or Draws()
        self.wave = wave
        if survey.asks_for_invitation and not token:
            raise TransportError("this survey asks for a link with a token; nothing was sent")
        if not 0 <= wave < len(survey.waves):
            raise TransportError("your link is for a wave that this survey does not have; nothing was sent")
        self._token = token if survey.asks_for_invitation else ""
        self._key = Key(transport.origin, survey.name, wave, self._token)
        self._another_person = another_person
        self._clock, self._opened = clock, clock()
        if ledger.get(self._key) is None:
            check_signed(ledger, self._key, survey)
            check_allowance(survey, allowance)

    @classmethod
    def connect(
        cls,
        url: str,
        ledger: Ledger | None = None,
        *,
        reach: Callable[[str], Transport] = Transport,
        **options: Any,  # noqa: ANN401 - those of the class
    ) -> Self:
        """Return a respondent for the survey behind ``url``; refuse a survey that is not the one the link names.

        Where a report was drawn, its own survey is the one, without the network: any link of the survey leads to it.

        Args:
            url: the link.
            ledger: the device's own unless another is given.
            reach: makes the transport to an origin.
            options: ``draws``, ``allowance``, ``wave``, ``another_person``, as in the class.

        Raises:
            TransportError: the aggregator is unreachable, or sends another survey than the link's digest names.
            SpecError: what it sends is not a survey.
            BudgetExhausted: the survey asks for more epsilon than is allowed.
        """
        link = parse_link(url)
        transport = reach(link.origin)
        ledger = FileLedger() if ledger is None else ledger
        options = {"wave": link.wave, **options}
        key = Key(link.origin, link.survey, options["wave"], link.token)
        earlier = recorded(ledger, key)
        if earlier is None:
            survey = survey_for(transport, link)
            digits = digest_of_digits(ledger, key._replace(token=""))
            if survey.memoized and digits is not None and digits != survey.digest:
                cached_or_fetched_survey(ledger, digits, transport, link)
            return cls(survey, transport, ledger, token=link.token, **options)
        cached = cached_or_fetched_survey(ledger, earlier[1].digest, transport, link)
        if cached is None:
            raise TransportError("you have answered this survey here, in a version that cannot be reached now")
        return cls(cached, transport, ledger, token=link.token, **options)

    @cached_property
    def asked(self) -> tuple[Question, ...]:
        """The questions of this person; under ``ask``, or with arms, drawn and recorded before any is shown. Raises
        BudgetExhausted if the ledger cannot be written or read.
        """
        return tuple(self.survey.questions[index] for index in self.places[: -1 if self.survey.arms else None])

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The indices of what this person's report has values of: those questions and, with arms, the arm, the last."""
        return keep_asked(self.ledger, self._key, self.survey, self._draws, arm_index(self.survey, self.arm))

    @cached_property
    def arm(self) -> str:
        """Name of the arm that this person is in, drawn and recorded when it is first needed; "" without arms. Raises
        BudgetExhausted if the ledger cannot be written or read.
        """
        return keep_arm(self.ledger, self._key, self.survey, self._draws) if self.survey.arms else ""

    @cached_property
    def order(self) -> Arrangement:
        """The order in which this person is shown items, rows and options; drawn and recorded when first needed."""
        return keep_order(self.ledger, self._key, self.survey, self._draws)

    @property
    def drawn(self) -> bool:
        """Say whether a report was already drawn; answers would then change nothing. Raises BudgetExhausted if the memo
        has other odds or is forgotten, or a personal survey is now said to be open.
        """
        is_drawn = self.ledger.get(self._key) is not None
        if not is_drawn and self.ledger.answered_personally(self._key):
            raise AnsweredPersonally
        if not is_drawn and self.survey.memoized:
            check_memo(self.ledger, self._key, self.survey)
        return is_drawn

    def redeem(self) -> None:
        """Have the ids of this invitation's reports signed, for all waves, unless that was done; where the survey asks.

        Raises BudgetExhausted if the invitation is not to be used any more, or the ledger refuses; TransportError if
        there is no answer, or it refuses.
        """
        if self.survey.is_blind and not self.drawn:
            redeem(self.ledger, self._key, self.survey, self._transport, self._draws)

    def answer(self, answers: Mapping[str, object]) -> dict[str, Any]:
        """Record the answers, send the report, and return the aggregator's receipt; ``answers`` are as for ``record``.

        Raises:
            NotYet: the report waits for its moment, as the survey asks.
            TransportError: not acknowledged; call ``send`` later, it sends the same bytes.
            AnswerError, BudgetExhausted: as for ``record``.
        """
        self.record(answers)
        return self.send()

    def record(self, answers: Mapping[str, object]) -> None:
        """Randomize the answers and record the report, once: where one was recorded before, nothing is drawn.

        Args:
            answers: by question name; what an answer looks like stands in ``shared.answers``. None, or no entry, is
                no answer, for questions that allow it. An answer to a question that is not asked is not looked at.

        Raises:
            AnswerError: an answer is missing, unknown or not an option; nothing was drawn.
            DrawnElsewhere: a report drawn here with another token was not accepted, and it is not said whether that
                was the same person: see ``resume`` and ``another_person``.
            BudgetExhausted: the ledger refuses.
            TransportError: the invitation could not be redeemed; nothing was drawn.
        """
        if self.drawn:
            return
        # Before the memo, which is charged; and again where the report is recorded: another program may be drawing.
        if self.drawn_elsewhere and not self._another_person:
            raise DrawnElsewhere
        self.redeem()
        signed = signed_id(self.ledger, self._key) if self.survey.is_blind else NOT_SIGNED
        if signed is None:
            self._entry()  # Another program was faster.
            return
        values = self.encode(answers)
        memo = keep_memo(self.ledger, self._key, self.survey, self._draws)
        report = randomize(self.survey, values, self._draws, self.wave, memo, report_id=signed.report_id)
        body = dump_report(report, self.survey).decode()
        send_at = draw_send_at(self.survey, self.wave, self._draws, self._clock(), self._opened)
        digest, epsilon = self.survey.digest, self.survey.epsilon_of_wave
        entry = Entry(digest, epsilon, body, signature=signed.signature, send_at=send_at)
        self.ledger.record(self._key, entry, self.survey.canonical, only_one=not self._another_person)
        forget_signature(self.ledger, self._key)

    def encode(self, answers: Mapping[str, object]) -> tuple[Value | None, ...]:
        """Return the true values, in the survey's order; the arm is the drawn one, whatever the answers say.

        ``answers``, and AnswerError, are as for ``record``.
        """
        return encode(self.survey, {**answers, ARM: self.arm} if self.arm else answers, self.places)

    @property
    def drawn_elsewhere(self) -> bool:
        """Say whether this device has an unacknowledged report for the same wave with another token."""
        return self.ledger.unaccepted(self._key) is not None

    def resume(self) -> dict[str, Any]:
        """Resend a report that this person drew with another token: the same bytes, with this token. Raises
        BudgetExhausted if there is none any more, TransportError if it is not acknowledged.
        """
        elsewhere = self.ledger.unaccepted(self._key)
        if elsewhere is None or self.ledger.bind(self._key, elsewhere) is None:
            raise BudgetExhausted("no report is waiting under another link any more")
        return self.send()

    def send(self) -> dict[str, Any]:
        """Send the recorded report, first time or again: the same bytes.

        Raises:
            BudgetExhausted: there is no report to send: none was drawn, or it was withdrawn or forgotten.
            NotYet: its moment has not come; nothing was sent.
            TransportError: not acknowledged, or the receipt is not for these bytes.
        """
        return deliver(self.ledger, self._key, self._entry(), self._transport, self._clock)

    def standing(self) -> RevisionStatus | None:
        """Return the survey's status in this wave by the aggregator's clock; None if it gives none. Raises
        TransportError if there is no answer, or it refuses.
        """
        status = self._transport.fetch_status(self.survey.name)
        try:
            return None if status is None else standing(status, self.survey, self.wave)
        except TransportError:
            return None

    def check_token(self) -> bool | None:
        """Return whether the link's token is unspent; None if there is no token or the aggregator gives no status.
        Raises TransportError if there is no answer, or it refuses for another reason.
        """
        return self._transport.check_token(self.survey.name, self._token) if self.survey.asks_for_token else None

    @property
    def cost(self) -> float:
        """Epsilon of one more report of this survey, without a memo that is already charged."""
        paid = self.survey.memoized and check_memo(self.ledger, self._key, self.survey) is not None
        return self.survey.epsilon_of_wave if paid else self.survey.epsilon

    @property
    def spent(self) -> float:
        """Total epsilon of all reports that the ledger knows to be drawn for this aggregator."""
        return self.ledger.spent(self._key.origin)

    @property
    def receipt(self) -> dict[str, Any] | None:
        """The receipt of the report that was acknowledged, from the ledger alone; None if there is none."""
        entry = self.ledger.get(self._key)
        return receipt_of(entry) if entry is not None and entry.sent and not entry.ended else None

    @property
    def send_at(self) -> int:
        """When the recorded report is to be sent, in seconds since 1970; 0 if it may be sent now, or was."""
        entry = self.ledger.get(self._key)
        return 0 if entry is None else entry.send_at

    @property
    def refused(self) -> str:
        """Why the report was refused for good, in the aggregator's code; "" if it was not, or has arrived since."""
        entry = self.ledger.get(self._key)
        return "" if entry is None else entry.refused

    def withdraw(self) -> None:
        """Take the recorded report back; the ledger remembers, so nothing is sent again and nothing is drawn again.

        Raises BudgetExhausted if there is no report to take back; TransportError if it is not confirmed, for instance
        because the survey is closed.
        """
        take_back(self.ledger, self._key, self._entry(), self._transport)

    def _entry(self) -> Entry:
        entry = self.ledger.get(self._key)
        if entry is None:
            raise BudgetExhausted("no report has been drawn for this survey")
        return entry


def encode(
    survey: Survey, answers: Mapping[str, object], asked: Collection[int] | None = None
) -> tuple[Value | None, ...]:
    """Return the true values, in the survey's order; None for the questions whose indices are not in ``asked``.

    ``answers`` are by question name, as a form or a file gives them; None for "prefer not to say". ``asked`` of None is
    all. Raises AnswerError if an answer is missing, is for no question, or is not an option; no answer is repeated.
    """
    return survey.encode(answers, asked)


def randomize(
    survey: Survey,
    values: tuple[Value | None, ...],
    draws: Draws,
    wave: int = 0,
    memo: Memo | None = None,
    *,
    report_id: str = "",
) -> Report:
    """Return the report for these true values: the id is drawn first, then the answers to what is asked, by
    ``perturb``.

    ``values`` are one for each question, None for those that are not asked. Without ``memo``, from ``keep_memo``,
    permanent answers are drawn for this report alone. ``report_id`` was drawn and signed before; by default it is drawn
    here. Raises AnswerError if a value is not in its question's domain, or not just the questions of one respondent
    have one; nothing was drawn.
    """
    if not survey.asks_for(values):
        raise AnswerError("there are not as many answers as each respondent gives")
    for question, value in zip(survey.questions, values, strict=True):
        if value is not None:
            question.check(value)
    report_id = report_id or draws.identity()
    return Report(survey.name, survey.digest, wave, report_id, perturb(survey, values, draws, memo or {}))
