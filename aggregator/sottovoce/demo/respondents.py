"""Send reports of people whose answers are known, each a respondent of its own, with a ledger and draws of its own."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

from sottovoce.aggregator.planning.simulated_survey import answers_of
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, Values, seeded, simulate
from sottovoce.client import MemoryLedger, Respondent
from sottovoce.client.draws import Draws
from sottovoce.client.link import Link
from sottovoce.client.revisions import survey_for
from sottovoce.client.transport import Transport
from sottovoce.shared.accounting import Allowance
from sottovoce.shared.by_hand.protection import is_by_hand
from sottovoce.shared.errors import TransportError
from sottovoce.shared.spec import Survey

AT_ONCE = 16
UNLIMITED = Allowance(float("inf"), float("inf"))
"""No limit: invented respondents have nothing to lose."""

DemoAnswers = dict[str, str]
Arrived = Callable[[], object]
"""Called after each report that has arrived."""


def send_all(
    url: str,
    survey: Survey,
    people: Sequence[DemoAnswers],
    arrived: Arrived = lambda: None,
    is_over: Event | None = None,
) -> None:
    """Send every row as its own respondent with its own ledger, ``AT_ONCE`` of them at a time.

    ``people`` has true answers, as option names by question name. ``is_over`` stops the respondents, also while one
    waits to retry.
    """
    is_over = is_over or Event()

    def send(share: Sequence[DemoAnswers]) -> None:
        transport = Transport(url, sleep=is_over.wait)
        for answers in share:
            if is_over.is_set():
                return
            Respondent(_at_once(survey), transport, MemoryLedger()).answer(answers)
            arrived()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            list(pool.map(send, [people[index::AT_ONCE] for index in range(AT_ONCE)]))
        except BaseException:
            # Fail at once, without waiting for the other simulated respondents.
            is_over.set()
            raise


def send_invented(link: Link, survey: Survey, blocks: Iterable[list[Values]], seed: int, arrived: Arrived) -> None:
    """Send for invented people, one after the other, to a running aggregator, the same reports for the same seed.

    The link's survey must be the one whose answers were invented. ``blocks`` are true values from ``invent``, so many
    people at a time, an array for each question. Raises TransportError if it is another survey, or it cannot be
    reached, or refuses.
    """
    transport = Transport(link.origin)
    served = survey_for(transport, link)
    if not served.is_same_as(survey):
        raise TransportError("the aggregator's survey is not the one in the file; nothing was sent")
    asked = _at_once(served)
    tosses, numbers = BatchDraws(seeded(f"tosses {seed} {link.wave}")), itertools.count()
    for truths in blocks:
        typed = _hidden_by_hand(survey, truths, tosses)
        for place in range(len(truths[0])):
            draws = Draws(seeded(f"respondent {seed} {link.wave} {next(numbers)}"))
            me = Respondent(asked, transport, MemoryLedger(), draws=draws, allowance=UNLIMITED, wave=link.wave)
            me.answer(answers_of(survey, typed, place))
            arrived()


def _hidden_by_hand(survey: Survey, truths: list[Values], tosses: BatchDraws) -> list[Values]:
    """Return what people type: what a coin or a fact of their own hides is randomized here, the rest is true."""
    # Whatever their arm: the respondents' own devices draw it, and may ask any of the questions.
    return [
        simulate(each.mechanism, truth, tosses) if each.mechanism and is_by_hand(survey, each) else truth
        for each, truth in zip(survey.questions, truths, strict=True)
    ]


def _at_once(survey: Survey) -> Survey:
    # Simulated respondents do not delay their reports: there is no person whom the time could identify.
    return replace(survey, send_within_hours=0, send_at_seconds=0)
