"""Deliver a drawn report: send it, send it again, or withdraw it. This module never sees an answer.

The ledger is the queue. A report is recorded there before it is sent, so that the next process can send the same bytes
if this one is killed.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import Entry, Key, Ledger, Record
from sottovoce.client.ledger_entry import name_of
from sottovoce.client.link import Link
from sottovoce.client.redemption import forget_signature
from sottovoce.client.transport import Transport, now
from sottovoce.shared import canonical
from sottovoce.shared.errors import BudgetExhausted, NotYet, ReportRejected, TransportError
from sottovoce.shared.report import Report, parse_report, receipt


def deliver(
    ledger: Ledger, key: Key, entry: Entry, transport: Transport, clock: Callable[[], datetime] = now
) -> dict[str, Any]:
    """Send a recorded report, first time or again, note that it has arrived, and return the receipt and the body.

    ``key`` has the token of the report if it needs one; ``entry`` is what the ledger holds for it.

    Raises:
        BudgetExhausted: it was withdrawn or forgotten, or what the ledger holds is no report.
        NotYet: its moment has not come; nothing was sent.
        TransportError: not acknowledged, or the receipt is not for these bytes. A refusal for good is noted, and the
            report stays as it is: no reply but this receipt frees its key.
    """
    expected = receipt_of(entry)
    # The process that recorded the report may have been killed before it wiped the signature's first copy.
    forget_signature(ledger, key)
    if entry.send_at > clock().timestamp():
        raise NotYet(entry.send_at)
    if entry.send_at:
        ledger.mark_due(key)
        # Another process may have withdrawn the report, unsent: then the aggregator must not learn of it now.
        receipt_of(ledger.get(key) or entry)
    try:
        answer = _submit(key, entry, transport)
    except TransportError as error:
        if error.is_final:
            ledger.mark_refused(key, error.reason or "refused")
        raise
    if not _same(answer, {name: expected[name] for name in expected if name != "body"}):
        raise TransportError("the aggregator's receipt is not for the report that was sent")
    ledger.mark_sent(key)
    return expected


def take_back(ledger: Ledger, key: Key, entry: Entry, transport: Transport) -> None:
    """Withdraw a recorded report, sent or not, note it, and wipe it. The aggregator learns nothing of one never tried.

    Raises:
        BudgetExhausted: it was withdrawn or forgotten before; or the ledger cannot note it.
        TransportError: not confirmed.
    """
    report_id = _report(entry).report_id
    forget_signature(ledger, key)
    if ledger.end_untried(key, "withdrawn"):
        return
    expected = {"format": "sottovoce-withdrawal/1", "survey": key.survey, "report_id": report_id}
    try:
        answer = transport.withdraw(key.survey, report_id)
    except TransportError as error:
        # No receipt ever came, and the aggregator does not know the id: it never arrived, and is now never sent.
        if entry.sent or error.reason != "not_found":
            raise
        answer = expected
    if not _same(answer, expected):
        raise TransportError("the aggregator's confirmation is not for the report that was withdrawn")
    ledger.end(key, "withdrawn")


def readable(ledger: FileLedger) -> tuple[list[Record], list[str]]:
    """Return the entries, by aggregator, survey and wave; and the names of those that are damaged."""
    records, damaged = [], []
    for name in ledger.names():
        try:
            records.append(ledger.read(name))
        except BudgetExhausted:
            damaged.append(name)
    return sorted(records, key=lambda record: (record.key, record.name)), damaged


def drawn_for(ledger: FileLedger, link: Link) -> list[tuple[Key, Entry]]:
    """Return the keys and entries drawn for the survey that a link names, in any wave and revision."""
    found = []
    for record in readable(ledger)[0]:
        key = record.key._replace(token=link.token if record.bound else "")
        is_named = (key.origin, key.survey) == (link.origin, link.survey) and name_of(key) == record.name
        if is_named and key.wave >= 0:
            found.append((key, record.entry))
    return found


def receipt_of(entry: Entry) -> dict[str, Any]:
    """Return the receipt that an honest aggregator gives for a recorded report, and the report's body."""
    return {**receipt(_report(entry), entry.body.encode()), "body": entry.body}


def _submit(key: Key, entry: Entry, transport: Transport) -> dict[str, Any]:
    if entry.signature:
        return transport.submit_signed(key.survey, entry.body.encode(), entry.signature)
    # A report that has arrived is known by its id. Its signature is wiped; the invitation would reveal whose it is.
    return transport.submit(key.survey, entry.body.encode(), "" if entry.sent else key.token)


def _report(entry: Entry) -> Report:
    if entry.ended:
        what = "withdrawn" if entry.ended == "withdrawn" else "forgotten"
        raise BudgetExhausted(f"this survey was answered on this device, and the report {what}; no other is drawn")
    try:
        return parse_report(entry.body.encode())
    except (ReportRejected, ValueError):
        raise BudgetExhausted("what the ledger holds for this survey is no report; nothing was sent") from None


def _same(answer: dict[str, Any], expected: dict[str, Any]) -> bool:
    # By their bytes: to Python, the wave 0 would equal false.
    try:
        return canonical.dump(answer) == canonical.dump(expected)
    except (ValueError, RecursionError):
        return False
