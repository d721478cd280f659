"""Define the transactions of a back end and the words of its SQL, on which every group of tables is built, and settle
reports soon after they arrive.

A thread settles; on request it does slow maintenance, too.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import Any, ClassVar, TypeVar

from sottovoce.aggregator.storage.audit_log import table as journal_table
from sottovoce.aggregator.storage.models import ReportBatch
from sottovoce.aggregator.storage.reports.batch_columns import count
from sottovoce.aggregator.storage.sql_statements import Handle
from sottovoce.aggregator.storage.table_catalogue import SECRETS
from sottovoce.shared.errors import StorageError

_OPEN = "SELECT 1 FROM surveys WHERE key = ? AND closed_on IS NULL"

COUNTED = "counts"
"""What counting leaves traces in: the live counts of reports and of cells, by the first of the two tables."""

QUIET_SECONDS = 20.0
"""Settle after so long without a report."""

OLDEST_SECONDS = 240.0
"""Settle under steady load before the oldest unsettled report is five minutes old."""

MOST_REPORTS = 10_000
"""Settle a rush in parts of this size, so that no part takes long; a back end may have a size of its own."""

RETRY_SECONDS = 5.0
"""Pause after an attempt to settle that a reader of the database prevented."""

LATE_SECONDS = 600.0
"""Time without a success after which settling is late: readers or the database have prevented it since."""

END_TIMEOUT_SECONDS = 10.0


class MaintenanceThread:
    """Thread that settles when reports are due, and runs requested work, one after the other.

    It settles once at the start, since the process before may have been killed. It ends with the process, wherever it
    is: only work that may be killed at any point is for it.

    Args:
        settle: returns True if nothing unsettled is left; False, or a ``StorageError``, leads to another attempt.
        now: monotonic clock, in seconds.
        most_reports: settle at once when so many reports are unsettled.
    """

    def __init__(
        self, settle: Callable[[], bool], now: Callable[[], float] = time.monotonic, most_reports: int = MOST_REPORTS
    ) -> None:
        self._settle = settle
        self._now = now
        self._most_reports = most_reports
        self._changed = threading.Condition()
        self._requested: list[Callable[[], object]] = []
        self._ended = False
        self._reports = 0
        self._oldest: float | None = None
        self._due: float | None = now()
        self._tried_since: float | None = None
        self._thread = threading.Thread(target=self._run, name="maintenance", daemon=True)
        self._thread.start()

    def note_stored(self, reports: int) -> None:
        """Note that reports were stored, or, with 0, an invitation redeemed or rows deleted, to be settled in time."""
        with self._changed:
            now = self._now()
            self._reports += reports
            self._oldest = now if self._oldest is None else self._oldest
            is_rush = self._reports >= self._most_reports
            # A later moment than the thread waits for needs no notification: it looks again when it wakes.
            is_sooner = self._due is None or is_rush
            self._due = now if is_rush else min(now + QUIET_SECONDS, self._oldest + OLDEST_SECONDS)
            if is_sooner:
                self._changed.notify()

    def request(self, work: Callable[[], object]) -> None:
        """Run this soon; work that is requested again before its turn runs once."""
        with self._changed:
            if work not in self._requested:
                self._requested.append(work)
            self._changed.notify()

    def end(self) -> None:
        """End the thread, and wait a moment for the work that it is doing."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join(END_TIMEOUT_SECONDS)

    def _run(self) -> None:
        while (work := self._next()) is not None:
            # What the database cannot do now, a later attempt does.
            with suppress(StorageError):
                work()

    def _next(self) -> Callable[[], object] | None:
        """Wait for the next work; return None if the thread is to end."""
        with self._changed:
            while not self._ended:
                wait = None if self._due is None else self._due - self._now()
                if wait is not None and wait <= 0:
                    self._reports, self._oldest, self._due = 0, None, None
                    return self._settle_or_retry
                if self._requested:
                    return self._requested.pop(0)
                self._changed.wait(wait)
            return None

    @property
    def is_late(self) -> bool:
        """Return True if reports are due to be settled, and no attempt has succeeded for ``LATE_SECONDS``."""
        since = self._tried_since
        return since is not None and self._now() - since > LATE_SECONDS

    def _settle_or_retry(self) -> None:
        started, is_settled = self._now(), False
        if self._tried_since is None:
            self._tried_since = started
        try:
            is_settled = self._settle()
        finally:
            if is_settled:
                self._tried_since = None
            else:
                with self._changed:
                    self._oldest, self._due = started, self._now() + RETRY_SECONDS


T = TypeVar("T")


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
    # Privacy: what was used and leaves traces until it is written anew: tables of ``SECRETS``, counts.
    _used: set[str]

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

    def one_of(self, make: Callable[..., T], query: str, parameters: Sequence[Any] = ()) -> T | None:
        """Return what ``make`` gives for the values of the first row, see ``rows_of``; None without a row."""
        return next((make(*row) for row in self.rows_of(query, parameters)), None)

    @contextmanager
    def deleting(self) -> Iterator[Handle]:
        """Begin a write transaction; once it has ended without an error, traces of what it deleted are removed."""
        with self.write() as db:
            yield db
        self.after_deletion()

    def is_open(self, db: Handle, survey: int) -> bool:
        """Return True if a revision is open, and keep it so until the transaction ends."""
        return db.execute(_OPEN + self.UNTIL_END, [survey]).fetchone() is not None

    def today(self, db: Handle) -> int:
        """Return days since 1970-01-01 by the database's own clock."""
        return int(db.execute(self.NOW).fetchone()[0]) // 86400

    def new_id(self, db: Handle) -> bytes:
        """Return sixteen random bytes from the database."""
        query = f"SELECT {self.NEW_ID}"
        return bytes(db.execute(query).fetchone()[0])

    def note(self, db: Handle, what: str, who: str, about: str = "") -> None:
        """Add an entry to the audit log as the last step of a transaction; ``what`` is one of ``events.WHAT``."""
        journal_table.append(db, self.today(db), what, who, about)

    def is_settling_late(self) -> bool:
        """Return True if this node cannot remove the order of arrival from the files, and has tried for a while."""
        return self._maintenance is not None and self._maintenance.is_late

    def is_writing(self) -> bool:
        """Return True if other writers wait for a write of this process; False where each locks rows of its own."""
        return False

    def after_deletion(self) -> None:
        """Remove traces of deleted rows from the files, now where that is fast; the next ``scrub`` does the rest."""
        self._note_stored(0)

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
        self._used.add("blind_invitations")
        self._note_stored(0)

    @abstractmethod
    def _rewrite_secrets(self, table: str) -> None:
        """Write tokens or invitations anew in the order of their hashes."""

    def _rewrite_used_secrets(self) -> None:
        """Write tokens, and invitations, anew if one was used since the last time."""
        for table in sorted(SECRETS):
            self._rewrite_used(table, partial(self._rewrite_secrets, table))

    def _rewrite_used(self, what: str, rewrite: Callable[[], object]) -> None:
        """Write anew what was used since the last time."""
        if what in self._used:
            # Before it begins, since a report may use it right after; again if it fails.
            self._used.discard(what)
            try:
                rewrite()
            except BaseException:
                self._used.add(what)
                raise

    def _note_arrivals(self, arrivals: Sequence[ReportBatch]) -> None:
        """Note after the commit that reports, their counts and perhaps their tokens are to settle.

        Privacy: settling that runs between an earlier note and the transaction would forget the note.
        """
        self._used.add(COUNTED)
        if any(arrival.tokens for arrival in arrivals):
            self._used.add("tokens")
        self._note_stored(count(arrivals))

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


class Tables:
    """Tables about one thing. Methods are thread-safe and raise ``StorageError`` if the database is unavailable."""

    def __init__(self, back_end: BackEnd) -> None:
        self._back_end = back_end
