"""Define the transactions of a back end and the words of its SQL, on which every group of tables is built."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar

from sottovoce.aggregator.storage.audit_log import table as journal_table
from sottovoce.aggregator.storage.maintenance_thread import MOST_REPORTS, MaintenanceThread
from sottovoce.aggregator.storage.sql_statements import Handle

_OPEN = "SELECT 1 FROM surveys WHERE key = ? AND closed_on IS NULL"


class BackEnd(ABC):
    """Database of one aggregator. Its methods are thread-safe and raise ``StorageError`` if it is unavailable.

    In all methods ``who`` is the account that acts, for the audit log.

    Attributes:
        NOW: query for seconds since 1970 by the database's own clock.
        NEW_ID: expression for sixteen random bytes.
        LOCK_SURVEYS: statement that serializes changes of a survey's state; empty if there is one writer.
        LOCK_ACCOUNTS: the same for accounts and grants.
        UNTIL_END: suffix of a query that locks its rows until the transaction ends; empty if there is one writer.
        MOST_UNSETTLED: number of unsettled reports at which settling begins without waiting for a quiet moment.
    """

    NOW: ClassVar[str]
    NEW_ID: ClassVar[str]
    LOCK_SURVEYS: ClassVar[str] = ""
    LOCK_ACCOUNTS: ClassVar[str] = ""
    UNTIL_END: ClassVar[str] = ""
    MOST_UNSETTLED: ClassVar[int] = MOST_REPORTS

    _maintenance: MaintenanceThread | None = None
    # Privacy: using one leaves traces of the moment. Unknown after a start.
    _are_secrets_used = True

    @abstractmethod
    def read(self) -> AbstractContextManager[Handle]:
        """Begin a transaction that sees one state of the database."""

    @abstractmethod
    def write(self) -> AbstractContextManager[Handle]:
        """Begin a transaction that is durable once it has ended without an error."""

    def read_reports(self) -> AbstractContextManager[Handle]:
        """Begin a transaction that reads reports, tokens or invitations, which are rewritten, as of one moment."""
        return self.read()

    @contextmanager
    def alone(self) -> Iterator[Handle]:
        """Begin a transaction that changes a survey's state: one at a time across all nodes."""
        with self.write() as db:
            _ = self.LOCK_SURVEYS and db.execute(self.LOCK_SURVEYS)
            yield db

    def rows_of(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query, read in a transaction of its own."""
        with self.read() as db:
            return db.execute(query, parameters).fetchall()

    def row_of(self, query: str, parameters: Sequence[Any] = ()) -> Any:  # noqa: ANN401 - a row of what was asked for
        """Return the first row of a query, read in a transaction of its own, or None."""
        with self.read() as db:
            return db.execute(query, parameters).fetchone()

    def is_open(self, db: Handle, survey: int) -> bool:
        """Return True if a revision is open, and keep it so until the transaction ends."""
        return db.execute(_OPEN + self.UNTIL_END, [survey]).fetchone() is not None

    def today(self, db: Handle) -> int:
        """Return days since 1970-01-01 by the database's own clock."""
        return int(db.execute(self.NOW).fetchone()[0]) // 86400

    def new_id(self, db: Handle) -> bytes:
        """Return sixteen random bytes from the database."""
        return bytes(db.execute(f"SELECT {self.NEW_ID}").fetchone()[0])

    def note(self, db: Handle, what: str, who: str, about: str = "") -> None:
        """Add an entry to the audit log as the last step of a transaction; ``what`` is one of ``events.WHAT``."""
        journal_table.append(db, self.today(db), what, who, about)

    def is_writing(self) -> bool:
        """Return True if other writers wait for a write of this process; False where each locks rows of its own."""
        return False

    @abstractmethod
    def after_deletion(self) -> None:
        """Remove traces of deleted rows from the files as far as that is fast; the next ``scrub`` does the rest."""

    @abstractmethod
    def settle(self) -> bool:
        """Remove the order of arrival of the last reports, and deleted rows, from the database's files.

        Return False if a reader of the database prevented it; the caller tries again.
        """

    @abstractmethod
    def scrub(self) -> None:
        """Settle, and write all tables anew, so that their files do not show the order of earlier settlings either."""

    def start_maintenance(self) -> None:
        """Settle soon after reports have arrived, and do slow work, in a thread that ends with the process."""
        self._maintenance = MaintenanceThread(self.settle, most_reports=self.MOST_UNSETTLED)

    def tidy(self) -> None:
        """Scrub now, or, after ``start_maintenance``, in the background."""
        self._soon(self.scrub)

    def _note_redeemed(self) -> None:
        """Note that an invitation was redeemed, so that its place in the files settles."""
        self._are_secrets_used = True
        self._note_stored(0)

    @abstractmethod
    def _rewrite_secrets(self) -> None:
        """Write tokens and invitations anew in the order of their hashes."""

    def _rewrite_used_secrets(self) -> None:
        """Write tokens and invitations anew if one was used since the last time."""
        if self._are_secrets_used:
            # Before it begins, since a report may spend a token right after; again if it fails.
            self._are_secrets_used = False
            try:
                self._rewrite_secrets()
            except BaseException:
                self._are_secrets_used = True
                raise

    def _note_stored(self, reports: int) -> None:
        """Tell the thread, if there is one, that there is something to settle."""
        if self._maintenance is not None:
            self._maintenance.note_stored(reports)

    def _soon(self, work: Callable[[], object]) -> None:
        """Run slow work in the thread if there is one, else at once."""
        if self._maintenance is None:
            work()
        else:
            self._maintenance.request(work)
