"""While a report waits for its moment: the terminal waits too, or says when it is and leaves."""

import time
from datetime import UTC, datetime
from typing import Any

from sottovoce.client.ledger import Ledger
from sottovoce.client.link import Link
from sottovoce.client.respondent import Respondent
from sottovoce.client.terminal.begin import moment_in_words
from sottovoce.client.terminal.earlier import EarlierReport, find_earlier_report
from sottovoce.client.terminal.screen import print_line
from sottovoce.client.words import translate
from sottovoce.shared.errors import NotYet

_NAP = 60  # seconds: a device that was asleep, or whose clock was set, is late by no more


def print_send_time(waits: NotYet) -> None:
    """Say when a recorded report is due, and which commands send it."""
    moment = moment_in_words(datetime.fromtimestamp(waits.send_at, UTC))
    print_line(translate("waits_until", moment=moment))


def find_earlier_or_wait(ledger: Ledger, link: Link, asks: bool) -> EarlierReport | None:
    """
    Return the earlier report (see ``find_earlier_report``). If it waits to be sent, print when and return None.

    Args:
        ledger: the device's.
        link: that was given.
        asks: a person can answer prompts.
    """
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
    """
    The receipt, once the moment has come.

    Raises:
        TransportError: not acknowledged.
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
