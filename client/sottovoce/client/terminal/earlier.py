"""Look up an earlier report on this device before anything else. Any link of the survey finds it, in any state of the
survey, so that no second report is drawn: two reports would reveal more than one.

While a report waits for its moment, the terminal waits too, or says when it is and leaves. Withdrawal needs no survey
text, so it works after a correction too.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sottovoce.client.delivery import deliver, drawn_for, receipt_of, take_back
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import Entry, Key, Ledger, recorded
from sottovoce.client.link import Link
from sottovoce.client.redemption import forget_signature
from sottovoce.client.respondent import Respondent
from sottovoce.client.revisions import cached_or_fetched_survey, cached_survey
from sottovoce.client.terminal.begin import contact_sentence, moment_in_words
from sottovoce.client.terminal.receipt import print_not_sent
from sottovoce.client.terminal.screen import confirm, confirm_or_abort, notifying_transport, print_line
from sottovoce.client.words import in_sequence, translate
from sottovoce.shared.errors import BudgetExhausted, NotYet, TransportError
from sottovoce.shared.report import parse_report
from sottovoce.shared.spec import Survey


class EarlierReport(NamedTuple):
    """A report found on this device.

    Attributes:
        receipt: of the report, which has arrived by now; None if there is none for this link.
        survey: that it was drawn for; None if it cannot be had, and then the receipt has no words.
        another_person: the person has said that a report drawn with another link is not theirs.
    """

    receipt: dict[str, Any] | None = None
    survey: Survey | None = None
    another_person: bool = False


def find_earlier_report(ledger: Ledger, link: Link, asks: bool) -> EarlierReport:
    """Find the report that was drawn before; send one that has not arrived now, the same bytes.

    Args:
        link: any of the survey.
        asks: a person can be asked whether a report drawn with another link is theirs, and whether to send a refused
            one again.

    Raises:
        BudgetExhausted: it was withdrawn or forgotten; or no person can be asked whose it is.
        TransportError: it was refused, or not acknowledged.
    """
    key = Key(link.origin, link.survey, link.wave, link.token)
    found = recorded(ledger, key)
    if found is not None:
        # The process that recorded it may have been killed before it wiped the signature's first copy.
        forget_signature(ledger, key)
        print_line(translate("answered_here"))
        return _earlier_receipt(ledger, link, found, asks)
    elsewhere = ledger.unaccepted(key) if key.token else None
    if elsewhere is None:
        return EarlierReport()
    # Without a default: a wrong answer means a second draw, or sending another person's report.
    sentence = translate("other_link")
    if not asks:
        raise BudgetExhausted(f"{sentence} Open this link without --yes and --answers to say whether that was you")
    if not confirm(in_sequence(sentence, translate("was_that_you")), default=None):
        print_line(translate("if_you_after_all"))
        return EarlierReport(another_person=True)
    bound = ledger.bind(key, elsewhere)
    if bound is None:
        # Another program has sent it or ended it meanwhile.
        return find_earlier_report(ledger, link, asks)
    return _deliver_earlier(ledger, link, (key, bound))


def _earlier_receipt(ledger: Ledger, link: Link, found: tuple[Key, Entry], asks: bool) -> EarlierReport:
    key, entry = found
    if entry.waiting:
        if entry.refused:
            _confirm_resend(ledger, entry, asks)
        return _deliver_earlier(ledger, link, found)
    receipt = receipt_of(entry)
    return EarlierReport(receipt, cached_or_fetched_survey(ledger, entry.digest, notifying_transport(key.origin), link))


def _confirm_resend(ledger: Ledger, entry: Entry, asks: bool) -> None:
    survey = cached_survey(ledger, entry.digest)
    print_line(translate("earlier_refused"))
    if survey is not None:
        print_line(contact_sentence(survey))
    if not asks:
        raise TransportError(
            "nothing was sent. To send your answers again, run `sottovoce device send`, or open this link without --yes"
        )
    confirm_or_abort(translate("try_once_more"), default=False)


def _deliver_earlier(ledger: Ledger, link: Link, found: tuple[Key, Entry]) -> EarlierReport:
    key, entry = found
    transport = notifying_transport(key.origin)
    try:
        receipt = deliver(ledger, key, entry, transport)
    except NotYet:
        raise
    except (TransportError, KeyboardInterrupt) as error:
        print_not_sent(error)
        raise
    print_line(translate("earlier_sent"))
    return EarlierReport(receipt, cached_or_fetched_survey(ledger, entry.digest, transport, link))


_NAP = 60  # seconds: a device that was asleep, or whose clock was set, is late by no more


def print_send_time(waits: NotYet) -> None:
    """Say when a recorded report is due, and which commands send it."""
    print_line(translate("waits_until", moment=moment_in_words(datetime.fromtimestamp(waits.send_at, UTC))))


def find_earlier_or_wait(ledger: Ledger, link: Link, asks: bool) -> EarlierReport | None:
    """Find the earlier report (see ``find_earlier_report``). If it waits to be sent, print when and return None."""
    try:
        return find_earlier_report(ledger, link, asks)
    except NotYet as waits:
        print_send_time(waits)
        return None


def print_unsent_notice(me: Respondent) -> None:
    """Say what becomes of a recorded report that this command does not send."""
    if me.send_at:
        print_send_time(NotYet(me.send_at))
    else:
        print_line(translate("kept_send_later"))


def send_when_due(me: Respondent) -> dict[str, Any]:
    """Send at the due moment and return the receipt; raise TransportError if not acknowledged.

    KeyboardInterrupt: the person stopped waiting; the report is kept.
    """
    printed = False
    while True:
        try:
            return me.send()
        except NotYet as waits:
            if not printed:
                print_send_time(waits)
                print_line(translate("command_waits"))
                printed = True
            # To the moment and not a second later: a rest of a second would show when the report was recorded.
            time.sleep(min(_NAP, max(0.01, waits.send_at - time.time())))


_UNCONFIRMED = (
    "the server has not confirmed it yet, so your answers may still count. They are kept on this device: withdraw them"
    " again in some minutes; asking twice does no harm"
)


def reports_to_withdraw(ledger: FileLedger, link: Link) -> list[tuple[Key, Entry]]:
    """Return keys and entries for the survey of a link, in any wave; raise BudgetExhausted if there are none."""
    found = drawn_for(ledger, link)
    if not found:
        raise BudgetExhausted("this device has no answers for this survey, so there is nothing to withdraw")
    return found


def withdraw(ledger: FileLedger, link: Link, found: list[tuple[Key, Entry]]) -> Iterator[dict[str, Any]]:
    """Take the reports of ``reports_to_withdraw`` back one by one, each noted at once in the ledger.

    Yields survey, wave, state and, if it was withdrawn now, report_id; those withdrawn before are only named again.
    Raises TransportError if the aggregator does not confirm, BudgetExhausted of a forgotten report.
    """
    # The newest wave first: those before it are over, and refused.
    for key, entry in reversed(found):
        about: dict[str, Any] = {"survey": key.survey, "wave": key.wave}
        if entry.ended != "withdrawn":
            try:
                take_back(ledger, key, entry, notifying_transport(link.origin))
            except TransportError as error:
                # Withdrawing is idempotent, so anything but a final refusal can simply be tried again.
                why = f"wave {key.wave}: {error}" if error.is_final else _UNCONFIRMED
                raise TransportError(why, error.status, error.reason) from None
            about["report_id"] = parse_report(entry.body.encode()).report_id
        print_line(translate("withdrawn_line", survey=key.survey, wave=str(key.wave)))
        yield {**about, "state": "withdrawn"}
