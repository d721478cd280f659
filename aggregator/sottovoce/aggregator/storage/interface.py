"""
Interface of a storage back end, and the types that it shares with its callers.

A back end stores reports and updates their counts in one durable transaction. It counts by cell: revision, wave and
cohort; each report belongs to one cell. Each count has a live and a shown value. The shown value is a copy of the live
one, updated only when the cell has grown by ``release_batch`` reports since, arrivals less withdrawals. On a shared
database the update follows shortly after the reports are durable. The total over cohorts is the sum of the shown cells,
never a count of its own: the difference to its cohorts would reveal the answers of a few people.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from sottovoce.aggregator.storage.audit_log.events import NO_ACTOR
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
"""Value of ``Cell.cohort`` for all respondents together."""


Rows = Callable[[str], Iterator[tuple[Any, ...]]]
"""Function from the name of a table in ``table_catalogue.TABLES`` to its rows, ordered by the first two columns."""


class Storage(Protocol):
    """Database of one aggregator. Methods are thread-safe and raise ``StorageError`` if it is unavailable."""

    def publish(
        self, survey: Survey, retire: bool = False, who: str = NO_ACTOR, *, stay_closed: bool = False
    ) -> StoredSurvey:
        """
        Publish a survey; publishing the same one again changes nothing.

        Args:
            survey: to be published.
            retire: mark all earlier revisions as retired.
            who: account that acts, for the audit log; likewise in all methods.
            stay_closed: if the survey is closed, the new revision is closed too, as of the same day.

        Raises:
            StorageError: another survey has this name and revision, a later revision exists, an earlier one has a
                larger ``release_batch``, ``replaces`` is not the newest revision, or a survey of this name was deleted.
        """

    def surveys(self) -> list[StoredSurvey]:
        """Return all published surveys, ordered by name and revision."""

    def revisions(self, name: str) -> list[StoredSurvey]:
        """Return all revisions of a survey, oldest first; empty if there is none."""

    def close_survey(self, name: str, day: int, who: str = NO_ACTOR) -> None:
        """
        Admit no more reports to any revision; the first time, show all counts.

        Args:
            name: of the survey.
            day: first day without reports, counted from 1970-01-01.
            who: account that closes it.
        """

    def changed_since_close(self, name: str, less_than: int | None = None) -> int:
        """
        Return the number of cells whose counts changed since the survey's first close.

        Args:
            name: of the survey.
            less_than: count only cells that grew by fewer reports than this since; None for all.
        """

    def reopen_survey(self, name: str, who: str = NO_ACTOR) -> None:
        """
        Admit reports to all revisions again; shown counts do not change, neither now nor at the next close.

        Raises:
            StorageError: there is no such survey, or its report ids were deleted.
        """

    def delete_survey(self, name: str, who: str = NO_ACTOR) -> None:
        """
        Delete a survey from tables and files; its lines in the survey log and entries in the audit log remain.

        Its name cannot be used again, since respondents' devices remember it.

        Raises:
            StorageError: there is no such survey.
        """

    def record(self) -> list[SurveyLogEntry]:
        """Return the permanent survey log: publications, retirements, closes, reopenings and deletions, by day."""

    @property
    def journal(self) -> Journal:
        """Audit log of what staff did in the last year."""

    def purge(self, survey: int, who: str = NO_ACTOR) -> None:
        """
        Give every report of a closed revision a new random key; delete ids and tombstones, in one transaction.

        Does nothing for an open revision. The last revision's purge deletes tokens and invitations as well.
        """

    def find_report(self, survey: int, report_id: bytes) -> Known | None:
        """Return the wave and values stored under this id, or None."""

    def is_withdrawn(self, survey: int, report_id: bytes) -> bool:
        """Return True if the report with this id was withdrawn."""

    def store(self, arrivals: Sequence[ReportBatch]) -> list[Outcome]:
        """Store a group in one transaction; return an outcome for each report. NEW means stored durably."""

    def withdraw(self, plan: StoragePlan, report_id: bytes) -> Outcome:
        """
        Delete a report and subtract it from the live counts.

        Returns WITHDRAWN (also if it was withdrawn before), CLOSED or UNKNOWN.

        Args:
            plan: of the report's survey.
            report_id: 16 bytes.
        """

    def show_grown(self, batches: Mapping[int, int]) -> None:
        """
        Update shown counts that a process did not update because it ended after storing reports.

        Args:
            batches: ``release_batch`` by survey key.
        """

    def cells(self, survey: int) -> list[Cell]:
        """Return the shown counts by wave: the sum of all cells first, then each cohort with reports."""

    def rows(self, survey: int) -> Iterator[tuple[int | None, ...]]:
        """Yield the values of every stored report, in the order of the random ids."""

    def packed_by_wave(self, survey: int) -> Iterator[list[tuple[int, bytes]]]:
        """Yield (wave, packed values) of all stored reports in chunks, in the order of the random ids."""

    def live_counts(self, survey: int) -> dict[int, dict[int, int]]:
        """Return the live counts of all respondents and waves; for checks, never for results."""

    def add_tokens(self, survey: int, hashes: Sequence[bytes], who: str = NO_ACTOR, blind: bool = False) -> None:
        """
        Add tokens for one report each, or invitations for one redemption each.

        Args:
            survey: key of the first revision.
            hashes: of the tokens.
            who: account that creates them.
            blind: they are invitations.
        """

    def redeem_invitation(self, survey: int, invitation: bytes, blinded: bytes) -> Outcome:
        """
        Redeem an invitation, durably.

        Returns NEW; SAME if it was redeemed for this fingerprint, CONFLICT if for another, TOKEN_INVALID if it does not
        exist, UNKNOWN while it is held after a restore, CLOSED.

        Args:
            survey: key of the first revision.
            invitation: its hash.
            blinded: fingerprint of what is to be signed.
        """

    def hold_invitations(self, now: int = 0) -> None:
        """Hold all unredeemed invitations after a restore, until ``reissue_invitations``; raise the mark to ``now``."""

    def mark(self) -> int:
        """Return the age mark of the database, see ``note_mark``."""

    def note_mark(self, now: int, known: int) -> tuple[int, bool]:
        """Raise the mark; hold invitations if it was below ``known``. Return the new mark, and True if it was below."""

    def held_invitations(self) -> dict[str, Held]:
        """Return the invitations held after a restore, by the name of each open survey."""

    def reissue_invitations(self, survey: int, who: str = NO_ACTOR) -> int:
        """Make invitations that are held after a restore valid again; return their number."""

    def add_tokens_once(self, batch: TokenBatch) -> str:
        """
        Add tokens unless a request with this fingerprint was answered before, and record the request permanently.

        Returns the body's fingerprint of the first such request.
        """

    def revoke_tokens(self, survey: int, hashes: Sequence[bytes], who: str = NO_ACTOR) -> int:
        """
        Revoke tokens; return how many were still valid.

        Args:
            survey: key of the first revision.
            hashes: of the tokens.
            who: account that revokes them.
        """

    def has_token(self, survey: int, token: bytes) -> bool:
        """Return True if a token is valid, or an invitation not redeemed yet."""

    def token_counts(self, survey: int) -> TokenCounts:
        """Return the numbers of tokens by state."""

    @property
    def access(self) -> "AccessTables":
        """Accounts, grants, keys, sessions and staff invitations; one implementation for all back ends."""

    @property
    def drafts(self) -> "DraftTables":
        """Versions of survey drafts; one implementation for all back ends."""

    @property
    def releases(self) -> "ReleaseTables":
        """Privacy budgets from which releases are paid; one implementation for all back ends."""

    def add_researcher(self, name: str, token_hash: bytes, who: str = NO_ACTOR) -> None:
        """
        Add an administrator who signs in with a key, see ``AccessTables.add_researcher``.

        Args:
            name: of the account.
            token_hash: hash of the key.
            who: account that adds it.
        """

    def clock(self) -> float | None:
        """Return seconds since 1970 by the database's clock; None if it has no clock of its own."""

    def note_running(self, now: int) -> int:
        """Record the heartbeat, in seconds since 1970; return for how many seconds deletions by date are paused."""

    def last_heartbeat(self) -> int:
        """Return when a node last ran, in seconds since 1970; 0 if none has."""

    def forgetting_waits(self, now: int) -> int:
        """Return for how many seconds deletions by date are paused; record nothing."""

    def trust_clock(self, now: int) -> None:
        """End the pause of deletions by date, since an operator confirmed the clock."""

    def settle(self) -> bool:
        """
        Remove the order of arrival of the last reports, and deleted rows, from the database's files.

        Returns:
            False if a reader of the database prevented it; the caller tries again.
        """

    def scrub(self) -> None:
        """Settle, and write all tables anew, so that their files do not show the order of earlier settlings either."""

    def tidy(self) -> None:
        """Scrub now, or, after ``start_maintenance``, in the background if it may take long."""

    def start_maintenance(self) -> None:
        """Settle, and do slow maintenance, in background threads from now on; they end with the process."""

    def check(self) -> None:
        """Raise ``StorageError`` unless the database is writable and its schema works with this program."""

    def verify(self) -> list[str]:
        """Return descriptions of damage that the back end finds in its files and tables; empty if there is none."""

    def faults(self) -> list[str]:
        """Describe what a backup would not mend, such as a day in a wrong century, each with advice; often empty."""

    def snapshot(self) -> AbstractContextManager[Rows]:
        """Read all tables as of one moment, while other transactions write."""

    def export_table(self, table: str) -> Iterator[tuple[Any, ...]]:
        """Yield all rows of one of ``table_catalogue.TABLES``, reports in the order of their random ids."""

    def copy_from(self, source: "Storage") -> None:
        """Replace all rows by those of another database as of one moment, in one transaction."""

    def is_unfinished(self) -> bool:
        """Return True if a copy into this database was begun and not finished."""

    def mark_unfinished(self, mark: bool) -> None:
        """Set or clear the mark of an unfinished copy; a database with the mark cannot be opened."""

    def close(self) -> None:
        """Close all connections to the database."""
