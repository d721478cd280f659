"""Lists of the ledger's entries, for people and for programs, and clearing those that are chosen."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from sottovoce.client.delivery import readable
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import MEMO, REDEMPTION, SIGNERS
from sottovoce.client.ledger_entry import Record
from sottovoce.client.link import parse_link
from sottovoce.client.terminal.begin import moment_in_words
from sottovoce.client.terminal.screen import print_line
from sottovoce.shared.errors import BudgetExhausted
from sottovoce.shared.rational import show_epsilon

FORMAT = "sottovoce-ledger/1"
_NO_REPORTS = {MEMO: "memo", REDEMPTION: "invitation", SIGNERS: "keys"}


def lines(records: Iterable[Record], reports: bool) -> list[str]:
    """A line for each aggregator and one for each entry; with ``reports`` also what was, or would be, sent."""
    text = []
    for origin, group in _by_origin(records):
        text.append(f"{origin}: epsilon {show_epsilon(_total(group))} in total")
        for record in group:
            text.append(f"  {line(record)}")
            if reports and _has_report(record):
                text.append(f"    {record.entry.body.rstrip()}")
    return text


def document(book: FileLedger, records: list[Record], damaged: list[str], reports: bool) -> dict[str, Any]:
    """
    The same for programs (sottovoce-ledger/1).

    Args:
        book: the ledger.
        records: its entries, sorted by aggregator.
        damaged: names of entries that cannot be read.
        reports: also what was, or would be, sent.
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
    """One entry for programs; without its report."""
    key, entry = record.key, record.entry
    wave = None if key.wave < 0 else key.wave
    names = {"survey": key.survey, "wave": wave, "digest": entry.digest, "epsilon": entry.epsilon}
    return {"origin": key.origin, **names, "token": record.bound, "state": _state(record), "refused": entry.refused}


def line(record: Record) -> str:
    """One entry for people; without its report."""
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
    """
    The entries of the ledger selected for clearing.

    Attributes:
        records: the entries that can be read.
        names: what to give to the ledger: those of the entries, of damaged ones, and ``*`` for whatever else there is.
        damaged: names of entries that cannot be read.
        everything: their charges go too.
        count: how many entries that makes.
    """

    records: list[Record]
    names: list[str]
    damaged: list[str]
    everything: bool
    count: int


def select_entries(book: FileLedger, survey: str | None, everything: bool) -> EntriesToClear:
    """
    The entries of a survey, a name or a link, or all of them.

    Args:
        book: the ledger.
        survey: None for all surveys.
        everything: also their charges; of all surveys also what is damaged or has no entry.

    Raises:
        BudgetExhausted: there are none.
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
