"""
The life of an answer, on one page:

    answer -> encode -> randomize -> record || report -> submit

Left of the bars the true answers exist, in this process's memory and nowhere else. Right of them there is only the
drawn report.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

from sottovoce.client.draws import Draws
from sottovoce.client.ledger import Entry, FileLedger, Key, Ledger, recorded
from sottovoce.client.link import parse_link
from sottovoce.client.queue import deliver, receipt_of, take_back
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.client.transport import Transport
from sottovoce.shared.answers import Value
from sottovoce.shared.errors import BudgetExhausted, TransportError
from sottovoce.shared.parsing import load_survey
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.report import Report, dump_report
from sottovoce.shared.spec import Question, Survey


class Allowance(NamedTuple):
    """The epsilon that a person allows: for one question, and for one whole report."""

    question: float = 3.0
    total: float = 8.0


DEFAULT_ALLOWANCE = Allowance()


class Respondent:
    """
    One person and one survey.

    Args:
        survey: the survey, its epsilons derived from its own integers.
        transport: the way to the aggregator.
        ledger: remembers the drawn report; a file for people, memory for simulated respondents.
        draws: the source of randomness.
        allowance: the most epsilon that this person allows.
        wave: the wave of the survey that is answered.
        token: the one-time token of the link; a survey that is open to all ignores it, since it would only buy a
            second draw.

    Raises:
        BudgetExhausted: the survey asks for more than is allowed.
        TransportError: the survey asks for a token and there is none.
    """

    def __init__(  # noqa: PLR0913 - all but three have a default
        self,
        survey: Survey,
        transport: Transport,
        ledger: Ledger,
        *,
        draws: Draws | None = None,
        allowance: Allowance = DEFAULT_ALLOWANCE,
        wave: int = 0,
        token: str = "",
    ) -> None:
        self.survey = survey
        self.ledger = ledger
        self._transport = transport
        self._draws = draws or Draws()
        self._wave = wave
        if survey.asks_for_token and not token:
            raise TransportError("this survey asks for a link with a token; nothing was sent")
        self._token = token if survey.asks_for_token else ""
        self._key = Key(transport.origin, survey.name, wave, self._token)
        _check_budget(survey, allowance)

    @classmethod
    def connect(
        cls,
        url: str,
        ledger: Ledger | None = None,
        *,
        reach: Callable[[str], Transport] = Transport,
        **options: Any,  # noqa: ANN401 - those of the class
    ) -> Self:
        """
        A respondent for the survey behind ``url``; refuses a survey that is not the one the link names.

        Args:
            url: the link.
            ledger: the device's own unless another is given.
            reach: makes the transport to an origin.
            options: ``draws``, ``allowance``, ``wave``, as in the class.

        Raises:
            TransportError: the aggregator is unreachable, or sends another survey than the link's digest names.
            SpecError: what it sends is not a survey.
            BudgetExhausted: the survey asks for more epsilon than is allowed.
        """
        link = parse_link(url)
        transport = reach(link.origin)
        survey = load_survey(transport.fetch_survey(link.survey))
        if survey.name != link.survey or not survey.digest.startswith(link.digest):
            raise TransportError("the aggregator sent another survey than the one your link names; nothing was sent")
        return cls(survey, transport, ledger or FileLedger(), token=link.token, **options)

    @property
    def drawn(self) -> bool:
        """Whether a report was already drawn; if so, answers are no longer needed and would change nothing."""
        return recorded(self.ledger, self._key, self.survey.digest) is not None

    def answer(self, answers: Mapping[str, object]) -> dict[str, Any]:
        """
        Randomize the answers once, record the report, send it, and return the aggregator's receipt.

        Args:
            answers: by question name; what an answer looks like stands in ``shared.answers``. None, or no entry, is
                no answer, for questions that allow it.

        Raises:
            AnswerError: an answer is missing, unknown or not an option; nothing was drawn.
            BudgetExhausted: the ledger refuses.
            TransportError: not acknowledged; call ``send`` later, it sends the same bytes.
        """
        if not self.drawn:
            values = encode(self.survey, answers)
            report = randomize(self.survey, values, self._draws, self._wave)
            body = dump_report(report, self.survey).decode()
            self.ledger.record(self._key, Entry(self.survey.digest, self.survey.epsilon, body))
        return self.send()

    def send(self) -> dict[str, Any]:
        """
        Send the recorded report, first time or again: the same bytes.

        Raises:
            BudgetExhausted: there is no report to send: none was drawn, it was drawn for another version of the survey,
                withdrawn or forgotten.
            TransportError: not acknowledged, or the receipt is not for these bytes.
        """
        return deliver(self.ledger, self._key, self._entry(), self._transport)

    @property
    def spent(self) -> float:
        """Total epsilon of all reports that the ledger knows to be drawn for this aggregator."""
        return self.ledger.spent(self._key.origin)

    @property
    def receipt(self) -> dict[str, Any] | None:
        """The receipt of the report that was acknowledged, from the ledger alone; None if there is none."""
        entry = recorded(self.ledger, self._key, self.survey.digest)
        return receipt_of(entry) if entry is not None and entry.sent and not entry.ended else None

    def withdraw(self) -> None:
        """
        Take the recorded report back; the ledger remembers, so nothing is sent again and nothing is drawn again.

        Raises:
            BudgetExhausted: there is no report to take back.
            TransportError: not confirmed, for instance because the survey is closed.
        """
        take_back(self.ledger, self._key, self._entry(), self._transport)

    def _entry(self) -> Entry:
        entry = recorded(self.ledger, self._key, self.survey.digest)
        if entry is None:
            raise BudgetExhausted("no report has been drawn for this survey")
        return entry


def encode(survey: Survey, answers: Mapping[str, object]) -> tuple[Value, ...]:
    """
    The true values, in the survey's order.

    Raises:
        AnswerError: an answer is missing, is for no question, or is not an option; no answer is repeated.
    """
    return survey.encode(answers)


def randomize(survey: Survey, values: tuple[Value, ...], draws: Draws, wave: int = 0) -> Report:
    """
    The report for these true values: the id is drawn first, then each question in order.

    Raises:
        AnswerError: a value is not in its question's domain; nothing was drawn.
    """
    for question, value in zip(survey.questions, values, strict=True):
        question.check(value)
    report_id = draws.identity()
    reported = tuple(
        _perturb(question, value, draws, survey.own_coin)
        for question, value in zip(survey.questions, values, strict=True)
    )
    return Report(survey.name, survey.digest, wave, report_id, reported)


def _perturb(question: Question, value: Value, draws: Draws, own_coin: bool) -> int:
    # Whoever has tossed a coin of their own gives its result: a second toss here would be another channel.
    if question.mechanism is None or own_coin:
        assert isinstance(value, int)  # noqa: S101 - a vector question is neither public nor for coins
        return value
    return RANDOMIZERS[question.mechanism.name](question.mechanism, value, draws)


def _check_budget(survey: Survey, allowance: Allowance) -> None:
    # Written so that a limit that is not a number refuses everything.
    for question in survey.questions:
        if not question.epsilon <= allowance.question:
            raise BudgetExhausted(
                f"question '{question.name}' costs epsilon {show_epsilon(question.epsilon)}, "
                f"more than the {allowance.question:g} that you allow for one question"
            )
    if not survey.epsilon <= allowance.total:
        raise BudgetExhausted(
            f"the survey costs epsilon {show_epsilon(survey.epsilon)}, "
            f"more than the {allowance.total:g} that you allow in total"
        )
