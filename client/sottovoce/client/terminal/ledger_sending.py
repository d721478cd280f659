"""Sending the reports that this device drew and that have not arrived."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sottovoce.client.delivery import deliver, readable
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import REDEMPTION, Entry, Key
from sottovoce.client.ledger_entry import Record
from sottovoce.client.terminal.ledger_lists import about
from sottovoce.client.terminal.screen import notifying_transport, print_line
from sottovoce.shared import canonical
from sottovoce.shared.errors import BudgetExhausted, SurveyError


def select_records(records: Sequence[Record], draws: Draws) -> list[Record]:
    """
    Select the records that one run sends: all unsigned ones, and one signed one at random, if possible not refused.

    The aggregator could link signed reports that arrive together to one person, so the others wait for later runs.
    """
    signed = [record for record in records if record.entry.signature]
    free = [record for record in signed if not record.entry.refused] or signed
    # At random, so that the order of sending says nothing about the order of answering.
    one = free[draws.below(len(free))] if free else None
    if len(signed) > 1:
        print_line(
            "Only one anonymous report is sent at a time, so that the server cannot tell that several are from one "
            f"person. To send the others, run this command again some hours apart. Reports left: {len(signed) - 1}."
        )
    return [record for record in records if not record.entry.signature or record is one]


def send_waiting(book: FileLedger, records: Sequence[Record]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Send each of the records; gives the receipts, and what is still waiting with the reason for it."""
    sent, failed = [], []
    for record in records:
        what = f"{record.key.survey}, wave {record.key.wave}, at {record.key.origin}"
        try:
            sent.append(_send(book, record))
            print_line(f"Arrived: {what}")
        except SurveyError as error:
            failed.append({**about(record), "reason": str(error)})
            print_line(f"Not sent: {what}: {error}")
    return sent, failed


def _send(book: FileLedger, record: Record) -> dict[str, Any]:
    if record.bound and not record.entry.signature:
        raise BudgetExhausted("this report needs the token of its link. Open the link with: sottovoce respond LINK")
    _wipe_copy(book, record)
    return deliver(
        EntryByName(book.folder, record.name), record.key, record.entry, notifying_transport(record.key.origin)
    )


def _wipe_copy(book: FileLedger, sending: Record) -> None:
    """Wipe the signature's first copy: the process that recorded the report may have been killed before it did."""
    if not sending.entry.signature:
        return
    key = sending.key._replace(wave=REDEMPTION)
    for stored in readable(book)[0]:
        if stored.key == key:
            wiped = _remove_signature(stored.entry, sending.key.wave, sending.entry.signature)
            if wiped:
                EntryByName(book.folder, stored.name).revise(key, stored.entry.body, wiped)


def _remove_signature(stored: Entry, wave: int, signature: str) -> str:
    """Return an invitation's kept signatures without the one of this wave; "" if it is not among them."""
    if signature not in stored.body:
        return ""
    try:
        waves = canonical.load(stored.body.encode())["waves"]
        is_own = waves[wave]["signature"] == signature
    except (ValueError, LookupError, TypeError):
        # Damaged: the report goes all the same, and its link says what is wrong.
        return ""
    left = [None if place == wave else each for place, each in enumerate(waves)]
    return canonical.dump({"waves": left}).decode() if is_own else ""


class EntryByName(FileLedger):
    """
    A ledger in which every key stands for one entry, known by its name: the token is not on this device.

    Args:
        folder: where the files are.
        name: of the entry that every key stands for.
    """

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(folder)
        self._only = name

    def _name_of(self, _key: Key) -> str:
        return self._only
