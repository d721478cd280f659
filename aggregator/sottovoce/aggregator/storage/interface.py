"""
What every back end does, and the words that it shares with its callers.

A back end keeps, in one durable transaction, the reports and their counts, which are those of cells: a revision, a wave
and a cohort. Each report is in one cell. Of every count there are two figures: the live one, and the one shown, a copy
of the live one that moves only when the cell has grown enough since, arrivals less withdrawals. On a shared database it
moves a moment after the reports are durable: late, and never early. The whole is the sum of what its cells show, and
never a count of its own: less its cohorts, that would be a handful of people.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from sottovoce.aggregator.storage.audit_log.events import NOBODY
from sottovoce.aggregator.storage.audit_log.interface import Journal
from sottovoce.aggregator.storage.hash_chain import SurveyLogEntry
from sottovoce.aggregator.storage.invitations.token_models import Held, TokenBatch, TokenCounts
from sottovoce.aggregator.storage.models import Cell, Known, Outcome, ReportBatch, StoragePlan, StoredSurvey
from sottovoce.shared.spec import Survey

if TYPE_CHECKING:
    from sottovoce.aggregator.storage.accounts.accounts import AccessTables
    from sottovoce.aggregator.storage.drafts import DraftTables
    from sottovoce.aggregator.storage.releases import ReleaseTables


ALL = -1
"""The cohort that stands for all respondents."""


Rows = Callable[[str], Iterator[tuple[Any, ...]]]
"""From the name of one of ``tables.TABLES`` to its rows, in the order of its first two columns."""


class Storage(Protocol):
    """One database. Methods raise ``StorageError`` when it is unavailable; all may be called from any thread."""

    def publish(self, survey: Survey, retire: bool = False, who: str = NOBODY) -> StoredSurvey:
        """
        Make a survey available; publishing the same one again changes nothing.

        Args:
            survey: to be published.
            retire: mark all earlier revisions as retired.
            who: does it, for the journal, as everywhere.

        Raises:
            StorageError: another survey has this name and revision, a later revision exists, an earlier one shows
                results in larger steps, it names another predecessor than the newest one, or a survey of this name was
                deleted.
        """

    def surveys(self) -> list[StoredSurvey]:
        """All published surveys, by name and revision."""

    def revisions(self, name: str) -> list[StoredSurvey]:
        """All revisions of one survey, oldest first; empty if there is none."""

    def close_survey(self, name: str, day: int, who: str = NOBODY) -> None:
        """
        Admit no more reports to any revision; the first time, show all counts.

        Args:
            name: the survey's.
            day: from which on.
            who: does it.
        """

    def unshown(self, name: str) -> int:
        """Of how many cells less or more is shown than there is: for whoever has the database, never for results."""

    def changed_since_close(self, name: str, less_than: int | None = None) -> int:
        """
        Of how many cells there is something else than the survey's first close showed.

        Args:
            name: the survey's.
            less_than: only cells that have grown by fewer reports than these since; None for all.
        """

    def reopen_survey(self, name: str, who: str = NOBODY) -> None:
        """
        Admit reports again, to all revisions; nothing of what is shown moves, then or at the next close.

        Raises:
            StorageError: there is no such survey, or its report ids are forgotten.
        """

    def delete_survey(self, name: str, who: str = NOBODY) -> None:
        """
        Take out everything of a survey, also of the files, but for the lines of the record and the entries of the
        journal, which hold its name. That is never given again, since devices remember it.

        Raises:
            StorageError: there is no such survey.
        """

    def record(self) -> list[SurveyLogEntry]:
        """What is remembered for good: who was published, retired, closed, reopened, deleted, and on which day."""

    @property
    def journal(self) -> Journal:
        """What staff did, for a year."""

    def purge(self, survey: int, who: str = NOBODY) -> None:
        """Of a closed survey: give every row a new random key and drop ids, tombstones and tokens, in one step; of an
        open one, nothing.
        """

    def find_report(self, survey: int, report_id: bytes) -> Known | None:
        """What is stored under this id, or None."""

    def is_withdrawn(self, survey: int, report_id: bytes) -> bool:
        """Whether the report with this id was withdrawn."""

    def store(self, arrivals: Sequence[ReportBatch]) -> list[Outcome]:
        """Store a group in one durable transaction: an outcome for each report; every NEW one survives a power cut."""

    def withdraw(self, plan: StoragePlan, report_id: bytes) -> Outcome:
        """
        Take a report out of rows and live counts: WITHDRAWN (also the second time), CLOSED or UNKNOWN.

        Args:
            plan: of its survey.
            report_id: 16 bytes.
        """

    def show_grown(self, batches: Mapping[int, int]) -> None:
        """
        Show the cells that have grown enough, where a process that ended in between has left that undone.

        Args:
            batches: ``release_batch`` of surveys by their keys.
        """

    def cells(self, survey: int) -> list[Cell]:
        """What is shown, by wave: the whole, which is the sum of its cells, and each cohort of which there is any."""

    def rows(self, survey: int) -> Iterator[tuple[int | None, ...]]:
        """The values of every stored report, in the order of the random ids."""

    def packed_by_wave(self, survey: int) -> Iterator[list[tuple[int, bytes]]]:
        """(wave, packed values) of every stored report, many at a time, in the order of the random ids."""

    def live_counts(self, survey: int) -> dict[int, dict[int, int]]:
        """The live counts of all respondents and waves: for checks, never for results."""

    def add_tokens(self, survey: int, hashes: Sequence[bytes], who: str = NOBODY, blind: bool = False) -> None:
        """
        Make these tokens good for one report each, or, as invitations, for one redemption.

        Args:
            survey: key of the first revision.
            hashes: of the tokens.
            who: does it.
            blind: they are invitations.
        """

    def redeem_invitation(self, survey: int, invitation: bytes, blinded: bytes) -> Outcome:
        """
        Use up an invitation, durably: ``NEW``; ``SAME`` if it was used for the same before, ``CONFLICT`` for other,
        ``TOKEN_INVALID`` if there is none, ``CLOSED``.

        Args:
            survey: key of the first revision.
            invitation: its hash.
            blinded: fingerprint of what is to be signed.
        """

    def hold_invitations(self, now: int = 0) -> None:
        """After a restore: a redemption is ``UNKNOWN`` until ``reissue_invitations``; raises the mark to ``now``."""

    def mark(self) -> int:
        """How new the database is, see ``blind.marks``."""

    def note_mark(self, now: int, known: int) -> tuple[int, bool]:
        """Raise the mark, and hold invitations if it is below the ``known`` one; returns it, and whether it was."""

    def held_invitations(self) -> dict[str, Held]:
        """What is held after a restore, by the names of surveys that are open."""

    def reissue_invitations(self, survey: int, who: str = NOBODY) -> int:
        """Let what is held after a restore be redeemed; returns how many."""

    def add_tokens_once(self, batch: TokenBatch) -> str:
        """
        The same, and remember for good that the request was answered; if it was, nothing is made. Returns the
        fingerprint of what the first such request asked for.
        """

    def revoke_tokens(self, survey: int, hashes: Sequence[bytes], who: str = NOBODY) -> int:
        """
        Take tokens back; returns how many were still good.

        Args:
            survey: key of the first revision.
            hashes: of the tokens.
            who: does it.
        """

    def has_token(self, survey: int, token: bytes) -> bool:
        """Whether a token is good, or an invitation was not redeemed yet."""

    def token_counts(self, survey: int) -> TokenCounts:
        """How many tokens there are of each kind."""

    @property
    def access(self) -> "AccessTables":
        """Accounts, grants, keys, sessions, invitations: one implementation, in the SQL that back ends share."""

    @property
    def drafts(self) -> "DraftTables":
        """Surveys while they are being written, version by version: likewise one implementation."""

    @property
    def releases(self) -> "ReleaseTables":
        """Ledgers of budgets under which public answers are published: likewise one implementation."""

    def add_researcher(self, name: str, token_hash: bytes, who: str = NOBODY) -> None:
        """
        Let somebody in to everything by the hash of a key: see ``AccessTables.add_researcher``.

        Args:
            name: of the account.
            token_hash: of the key.
            who: does it.
        """

    def clock(self) -> float | None:
        """Seconds since 1970 by the database's own clock; None if that is this machine's."""

    def note_running(self, now: int) -> int:
        """Note that the program runs, in seconds since 1970; returns for how many more forgetting waits: ``pulse``."""

    def forgetting_waits(self, now: int) -> int:
        """The same without noting anything."""

    def trust_clock(self, now: int) -> None:
        """Somebody says that this is the right time: forgetting waits no longer."""

    def scrub(self) -> None:
        """Remove what was deleted, and the order of what was written, from the files that the database uses."""

    def tidy(self) -> None:
        """The same at once; once ``work_aside`` was called, where it may take long, soon."""

    def work_aside(self) -> None:
        """From now on a thread of its own does what takes long and nobody waits for; it ends with the process."""

    def check(self) -> None:
        """Raise ``StorageError`` unless the database can be written to and this program can work with its schema."""

    def verify(self) -> list[str]:
        """What the back end itself finds wrong with its files; empty if nothing."""

    def snapshot(self) -> AbstractContextManager[Rows]:
        """All tables as of one moment, while others go on writing."""

    def export_table(self, table: str) -> Iterator[tuple[Any, ...]]:
        """All rows of one of ``tables.TABLES``, reports in the order of their random ids."""

    def copy_from(self, source: "Storage") -> None:
        """Fill all tables anew, from one moment of another database, in one step."""

    def is_unfinished(self) -> bool:
        """Whether a copy into this database was begun and not finished."""

    def mark_unfinished(self, mark: bool) -> None:
        """Note, or no longer, that a copy into this database is not finished: meanwhile nobody opens it."""

    def close(self) -> None:
        """Release the database."""
