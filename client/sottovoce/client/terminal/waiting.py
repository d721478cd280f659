"""While a report waits for its moment: the terminal waits too, or says when it is and leaves."""

import time
from datetime import UTC, datetime
from typing import Any

from sottovoce.client.ledger import Ledger
from sottovoce.client.link import Link
from sottovoce.client.respondent import Respondent
from sottovoce.client.terminal.begin import moment_in_words
from sottovoce.client.terminal.earlier import EarlierReport, look_back
from sottovoce.client.terminal.screen import tell
from sottovoce.shared.errors import NotYet

_NAP = 60  # seconds: a device that was asleep, or whose clock was set, is late by no more


def tell_moment(waits: NotYet) -> None:
    """Say when a recorded report is due, and which commands send it."""
    moment = moment_in_words(datetime.fromtimestamp(waits.send_at, UTC))
    tell(
        f"Your answers wait on this device until {moment}; nothing is sent before. "
        "To send them after that, run `sottovoce device send` or this command."
    )


def look_back_or_wait(ledger: Ledger, link: Link, asks: bool) -> EarlierReport | None:
    """
    Return the earlier report (see ``look_back``); if it waits for its sending time, print that and return None.

    Args:
        ledger: the device's.
        link: that was given.
        asks: a person can answer prompts.
    """
    try:
        return look_back(ledger, link, asks)
    except NotYet as waits:
        tell_moment(waits)
        return None


def leave(me: Respondent) -> None:
    """Say what becomes of a recorded report that this command does not send."""
    if me.send_at:
        tell_moment(NotYet(me.send_at))
    else:
        tell("Your answers are kept on this device. To send them, run `sottovoce device send` or this command.")


def send_when_due(me: Respondent) -> dict[str, Any]:
    """
    The receipt, once the moment has come.

    Raises:
        TransportError: not acknowledged.
        KeyboardInterrupt: the person stopped waiting; the report is kept.
    """
    told = False
    while True:
        try:
            return me.send()
        except NotYet as waits:
            if not told:
                tell_moment(waits)
                tell("This command waits as well. Press Ctrl-C to stop it; your answers stay on this device.")
                told = True
            time.sleep(min(_NAP, max(1.0, waits.send_at - time.time())))
