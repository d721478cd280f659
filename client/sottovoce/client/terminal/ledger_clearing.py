"""Clearing the ledger: what is chosen, what that would mean, and then doing it."""

from dataclasses import dataclass

from sottovoce.client.delivery import readable
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import MEMO, SIGNERS
from sottovoce.client.ledger_entry import Record
from sottovoce.client.link import parse_link
from sottovoce.client.terminal.ledger_lists import line
from sottovoce.client.terminal.screen import print_line
from sottovoce.shared.errors import BudgetExhausted


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
