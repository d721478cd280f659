"""Lists of the ledger's entries, for people and for programs."""

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import MEMO, REDEMPTION, SIGNERS
from sottovoce.client.ledger_entry import Record
from sottovoce.client.terminal.begin import moment_in_words
from sottovoce.client.terminal.screen import print_line
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
