"""Store ledgers of privacy budgets (``storage.releases``), in the SQL of both back ends.

Of a database that was restored from before a budget was opened, only its head in the folder of heads still knows of it;
so the budget counts as open there too.

A ledger is append-only; this module stores its lines as bytes, and ``curator`` interprets and verifies them. Ledgers
are in the database so that every node, backup and copy includes them; the head of each ledger is stored elsewhere.
"""

import hashlib
from pathlib import Path

from sottovoce.aggregator.storage.audit_log.events import BUDGET_OPENED, NO_ACTOR
from sottovoce.aggregator.storage.back_end import Tables
from sottovoce.aggregator.storage.sql_statements import UNLESS_KNOWN, Handle, insert
from sottovoce.shared.errors import StorageError

_ANY = "SELECT 1 FROM releases WHERE survey = ? LIMIT 1"
_LINES = "SELECT line FROM releases WHERE survey = ? ORDER BY number"
_LAST = "SELECT max(number) FROM releases WHERE survey = ?"
_FIRST = "SELECT digest FROM surveys WHERE name = ? ORDER BY revision LIMIT 1"
_KNOWN = "SELECT key FROM surveys WHERE name = ? ORDER BY key LIMIT 1"


HEAD = ".head"
"""Ending of the file of a head, as in ``curator.ledger.ledger_anchor``."""


def data_digest(survey: str) -> str:
    """Return the digest that names a survey's public answers as a data set, from the digest of its first revision."""
    return hashlib.sha256(survey.encode()).hexdigest()


class ReleaseTables(Tables):
    """Table of ledgers; ``heads`` is the folder with the heads of budgets, None if there is none."""

    heads: Path | None = None

    def has_ledger(self, survey: str) -> bool:
        """Return True if the survey has a ledger."""
        return self._back_end.row_of(_ANY, [survey]) is not None

    def has_any(self, survey: str) -> bool:
        """Return True if a budget was opened for the survey, also if this database is older than that."""
        has_ledger = self.has_ledger(survey)
        if has_ledger or self.heads is None:
            return has_ledger
        first = self._back_end.row_of(_FIRST, [survey])
        return first is not None and (self.heads / f"{data_digest(first[0])}{HEAD}").exists()

    def lines(self, survey: str) -> list[bytes]:
        """Return all lines of a survey's ledger, oldest first; empty if it has no ledger."""
        return [bytes(line) for (line,) in self._back_end.rows_of(_LINES, [survey])]

    def begin(self, survey: str, line: bytes, who: str = NO_ACTOR) -> None:
        """Begin a ledger with this line, replacing a ledger without answers, and record it in the audit log.

        Raises StorageError if there is no such survey, or its ledger contains an answer.
        """
        with self._back_end.write() as db:
            self._hold(db, survey)
            # Delete only the first line: a node with another anchor folder takes no common lock, and answers that it
            # added must remain.
            db.execute("DELETE FROM releases WHERE survey = ? AND number = 0", [survey])
            if db.execute(_LAST, [survey]).fetchone()[0] is not None:
                raise StorageError("this data set has a budget already, and it has answered something meanwhile")
            if insert(db, "releases", [survey, 0, line], UNLESS_KNOWN) != 1:
                raise StorageError("another person opened the budget meanwhile; ask again")
            self._back_end.note(db, BUDGET_OPENED, who, survey)

    def add(self, survey: str, after: int, line: bytes) -> None:
        """Append a line, durably, if the ledger still has the ``after`` lines that the caller has seen.

        Raises StorageError, with nothing written, if another line was appended meanwhile, or the survey was deleted.
        """
        with self._back_end.write() as db:
            self._hold(db, survey)
            last = db.execute(_LAST, [survey]).fetchone()[0]
            # On PostgreSQL another node may have appended since the query; then ON CONFLICT leaves rowcount 0.
            if last != after - 1 or insert(db, "releases", [survey, after, line], UNLESS_KNOWN) != 1:
                raise StorageError("another person used the budget meanwhile; ask again")

    def _hold(self, db: Handle, survey: str) -> None:
        """Lock the survey's row, so that it cannot be deleted until the transaction ends."""
        if db.execute(_KNOWN + self._back_end.UNTIL_END, [survey]).fetchone() is None:
            raise StorageError("there is no survey of this name")
