"""Withdrawal of this device's reports for a survey. It needs no survey text, so it works after a correction too."""

from collections.abc import Iterator
from typing import Any

from sottovoce.client.delivery import drawn_for, take_back
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import Entry, Key
from sottovoce.client.link import Link
from sottovoce.client.terminal.screen import notifying_transport, print_line
from sottovoce.client.words import translate
from sottovoce.shared.errors import BudgetExhausted, TransportError
from sottovoce.shared.report import parse_report

_UNCONFIRMED = (
    "the server has not confirmed it yet, so your answers may still count. They are kept on this device: withdraw them"
    " again in some minutes; asking twice does no harm"
)


def reports_to_withdraw(ledger: FileLedger, link: Link) -> list[tuple[Key, Entry]]:
    """
    Return the keys and entries drawn for the survey that a link names, in any wave.

    Raises:
        BudgetExhausted: nothing was.
    """
    found = drawn_for(ledger, link)
    if not found:
        raise BudgetExhausted("this device has no answers for this survey, so there is nothing to withdraw")
    return found


def withdraw(ledger: FileLedger, link: Link, found: list[tuple[Key, Entry]]) -> Iterator[dict[str, Any]]:
    """
    Take the reports back one by one; those that were withdrawn before are only named again.

    Args:
        ledger: notes each of them at once.
        link: names the aggregator.
        found: from ``reports_to_withdraw``.

    Yields:
        survey, wave, state and, if it was withdrawn now, report_id.

    Raises:
        TransportError: the aggregator does not confirm.
    """
    for key, entry in found:
        about: dict[str, Any] = {"survey": key.survey, "wave": key.wave}
        if entry.ended != "withdrawn":
            _take_back(ledger, key, entry, link.origin)
            about["report_id"] = parse_report(entry.body.encode()).report_id
        print_line(translate("withdrawn_line", survey=key.survey, wave=str(key.wave)))
        yield {**about, "state": "withdrawn"}


def _take_back(ledger: FileLedger, key: Key, entry: Entry, origin: str) -> None:
    try:
        take_back(ledger, key, entry, notifying_transport(origin))
    except TransportError as error:
        # Withdrawing is idempotent, so anything but a final refusal can simply be tried again.
        if error.is_final:
            raise
        raise TransportError(_UNCONFIRMED, error.status, error.reason) from None
