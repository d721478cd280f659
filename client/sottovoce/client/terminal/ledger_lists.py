"""List the ledger's entries, for people and for programs; send or clear those that are chosen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from sottovoce.client.delivery import deliver, readable
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import MEMO, REDEMPTION, SIGNERS, Entry, Key, Record
from sottovoce.client.link import parse_link
from sottovoce.client.terminal.begin import moment_in_words
from sottovoce.client.terminal.screen import notifying_transport, print_line
from sottovoce.shared import canonical
from sottovoce.shared.errors import BudgetExhausted, SurveyError
from sottovoce.shared.rational import show_epsilon

FORMAT = "sottovoce-ledger/1"
_NO_REPORTS = {MEMO: "memo", REDEMPTION: "invitation", SIGNERS: "keys"}


def lines(records: Iterable[Record], reports: bool) -> list[str]:
    """Return a line for each aggregator and one for each entry; with ``reports`` also what was, or would be, sent."""
    text = []
    for origin, group in _by_origin(records):
        text.append(f"{origin}: epsilon {show_epsilon(_total(group))} in total")
        for record in group:
            text.append(f"  {line(record)}")
            if reports and _has_report(record):
                text.append(f"    {record.entry.body.rstrip()}")
    return text


def document(book: FileLedger, records: list[Record], damaged: list[str], reports: bool) -> dict[str, Any]:
    """Return the list for programs (sottovoce-ledger/1) of ``records``, sorted by aggregator.

    ``damaged`` are names of entries that cannot be read; ``reports``: also what was, or would be, sent.
    """
    origins = [
        {
            "origin": origin,
            "epsilon": _total(group),
            "reports": [
                about(record) | ({"report": record.entry.body.rstrip()} if reports and _has_report(record) else {})
                for record in group
            ],
        }
        for origin, group in _by_origin(records)
    ]
    return {"format": FORMAT, "folder": str(book.folder), "origins": origins, "damaged": damaged}


def about(record: Record) -> dict[str, Any]:
    """Return one entry for programs; without its report."""
    key, entry = record.key, record.entry
    wave = None if key.wave < 0 else key.wave
    names = {"survey": key.survey, "wave": wave, "digest": entry.digest, "epsilon": entry.epsilon}
    return {"origin": key.origin, **names, "token": record.bound, "state": _state(record), "refused": entry.refused}


def line(record: Record) -> str:
    """Return one entry for people; without its report."""
    key, entry = record.key, record.entry
    bound = ", with a token" if record.bound else ""
    waves = "all waves" if key.wave < 0 else f"wave {key.wave}"
    why = f" ({entry.refused})" if entry.refused else ""
    moment = moment_in_words(datetime.fromtimestamp(entry.send_at, UTC))
    waits = f", waits until {moment}" if entry.send_at else ""
    return f"{key.survey}, {waves}: epsilon {show_epsilon(entry.epsilon)}, {_state(record)}{why}{waits}{bound}"


def print_damaged(book: FileLedger, damaged: list[str]) -> None:
    """Name the files that cannot be read, and what follows from it."""
    for name in damaged:
        print_line(
            f"Damaged: {book.folder / name}.json. It may belong to a report that was sent, so this device does not "
            "answer that survey again. To remove the file, run `sottovoce device clear --everything`."
        )


def _state(record: Record) -> str:
    if record.entry.ended:
        return record.entry.ended
    if record.key.wave < 0:
        return _NO_REPORTS[record.key.wave]
    return "sent" if record.entry.sent else "refused" if record.entry.refused else "unsent"


def _has_report(record: Record) -> bool:
    # A memo stays on this device: its permanent answers would weaken the protection of every wave.
    return bool(record.entry.body) and record.key.wave >= 0


def _by_origin(records: Iterable[Record]) -> list[tuple[str, list[Record]]]:
    return [(origin, list(group)) for origin, group in groupby(records, key=lambda record: record.key.origin)]


def _total(records: Iterable[Record]) -> float:
    return sum(record.entry.epsilon for record in records)


@dataclass(frozen=True)
class EntriesToClear:
    """The entries of the ledger selected for clearing.

    Attributes:
        names: what to give to the ledger: those of the entries, of damaged ones, and ``*`` for whatever else there is.
        damaged: names of entries that cannot be read.
        everything: their charges go too.
    """

    records: list[Record]
    names: list[str]
    damaged: list[str]
    everything: bool
    count: int


def select_entries(book: FileLedger, survey: str | None, everything: bool) -> EntriesToClear:
    """Select the entries of a survey (a name or a link; None for all surveys); raise BudgetExhausted if there are none.

    With ``everything`` also their charges; of all surveys also what is damaged or has no entry.
    """
    records, damaged = readable(book)
    selected = [record for record in records if survey is None or _is_for(record, survey)]
    # Whose signatures were asked for is no report: without it, a second key for one wave would not be noticed.
    selected = [record for record in selected if everything or record.key.wave != SIGNERS]
    found = [record.name for record in selected] + (damaged if everything and survey is None else [])
    # Also the sets of questions of surveys that were opened and never answered.
    rest = ["*"] if everything and survey is None and book.folder.exists() else []
    if not found and not rest:
        of = "" if survey is None else f' of "{survey}"'
        raise BudgetExhausted(f'there is nothing to clear{of}. Run "sottovoce device show" to see what is there')
    return EntriesToClear(selected, found + rest, damaged, everything, len(found))


def explain_clearing(selected: EntriesToClear) -> None:
    """Show the consequences of clearing, before it is done."""
    for record in selected.records:
        print_line(f"{record.key.origin}: {line(record)}")
    waiting = sum(record.entry.waiting for record in selected.records)
    if waiting:
        print_line(f"{waiting} of them have not arrived. If you clear them, they are never sent.")
    print_line("You cannot withdraw a report after you clear it, because only this device has its id.")
    if any(record.key.wave == MEMO for record in selected.records) and not selected.everything:
        print_line("Without its memo, this device cannot answer further waves of that survey.")
    if selected.everything:
        print_line(
            "This device will not know that it has answered. If you answer again, the dice are rolled a second time: "
            "the epsilons of both add up, and this device does not count the first."
        )
    else:
        print_line("The cost stays recorded: this device still refuses to answer the same survey a second time.")


def clear_entries(book: FileLedger, selected: EntriesToClear) -> None:
    """Forget what was chosen, or erase it where the charges go too."""
    for name in selected.names:
        if selected.everything:
            book.erase(name)
        else:
            book.forget(name)


def _is_for(record: Record, survey: str) -> bool:
    if "/" not in survey:
        return record.key.survey == survey
    link = parse_link(survey)
    return (record.key.origin, record.key.survey) == (link.origin, link.survey)


def select_records(records: Sequence[Record], draws: Draws) -> list[Record]:
    """Select the records that one run sends: all unsigned ones, and one signed one at random, if possible not refused.

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
    """Send each of the records; return the receipts, and what is still waiting with the reason for it."""
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
    """A ledger in which every key stands for the entry called ``name``: the token is not on this device."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(folder)
        self._only = name

    def _name_of(self, _key: Key) -> str:
        return self._only
