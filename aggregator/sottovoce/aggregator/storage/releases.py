"""
The ledgers of budgets under which public answers are published, reached as ``storage.releases``: one implementation in
the SQL of both back ends.

A ledger's lines are kept as they were written, and only ever added to; what they mean, and whether any is missing, is
for ``curator`` to say. They lie in the database, so that every node knows which surveys have a budget, and go with it
into backups and copies; the head of each ledger lies elsewhere.
"""

from sottovoce.aggregator.storage.accounts.back_end import BackEnd
from sottovoce.aggregator.storage.audit_log import table
from sottovoce.aggregator.storage.audit_log.events import BUDGET_OPENED, NOBODY
from sottovoce.aggregator.storage.sql_statements import Handle
from sottovoce.shared.errors import StorageError

_MAKE = """
    CREATE TABLE releases (
        survey {text} NOT NULL,
        number {number} NOT NULL,
        line {bytes} NOT NULL,
        PRIMARY KEY (survey, number)
    ){end}
"""
MAKE_RELEASES = (_MAKE.format(text="TEXT", number="INTEGER", bytes="BLOB", end=" STRICT, WITHOUT ROWID").strip(),)
"""The step on SQLite."""
MAKE_RELEASES_SHARED = (
    _MAKE.format(text="text", number="bigint", bytes="bytea", end=""),
    # The planner's statistics would keep samples of it beyond its rows.
    "ALTER TABLE releases ALTER line SET STATISTICS 0",
)
"""The migration on PostgreSQL."""

_ANY = "SELECT 1 FROM releases WHERE survey = ? LIMIT 1"
_LINES = "SELECT line FROM releases WHERE survey = ? ORDER BY number"
_ADD = "INSERT INTO releases (survey, number, line) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_LAST = "SELECT max(number) FROM releases WHERE survey = ?"
_KNOWN = "SELECT key FROM surveys WHERE name = ? ORDER BY key LIMIT 1"


class ReleaseTables:
    """Ledgers. Methods raise ``StorageError`` when the database is unavailable; all may be called from any thread."""

    def __init__(self, back_end: BackEnd) -> None:
        self._back_end = back_end

    def has_any(self, survey: str) -> bool:
        """Whether the survey of this name has a ledger."""
        with self._back_end.read() as db:
            return db.execute(_ANY, [survey]).fetchone() is not None

    def lines(self, survey: str) -> list[bytes]:
        """All lines of its ledger, in their order; none if there is no ledger."""
        with self._back_end.read() as db:
            return [bytes(line) for (line,) in db.execute(_LINES, [survey]).fetchall()]

    def begin(self, survey: str, line: bytes, who: str = NOBODY) -> None:
        """
        Begin a ledger with this line, anew where the one before it answered nothing; the journal tells of it.

        Args:
            survey: its name.
            line: the ledger's first.
            who: opens the budget, for the journal.

        Raises:
            StorageError: there is no such survey, or its ledger has answered something meanwhile.
        """
        with self._back_end.write() as db:
            self._hold(db, survey)
            # A node with another folder of heads is held back by no lock: what it answered is never taken out.
            db.execute("DELETE FROM releases WHERE survey = ? AND number = 0", [survey])
            if db.execute(_LAST, [survey]).fetchone()[0] is not None:
                raise StorageError("this data set has a budget already, and it has answered something meanwhile")
            if db.execute(_ADD, [survey, 0, line]).rowcount != 1:
                raise StorageError("the budget was opened by somebody else meanwhile; ask again")
            table.append(db, self._back_end.today(db), BUDGET_OPENED, who, survey)

    def add(self, survey: str, after: int, line: bytes) -> None:
        """
        Add a line, durably.

        Args:
            survey: its name.
            after: how many lines the ledger has.
            line: to be added.

        Raises:
            StorageError: somebody else has added one meanwhile, or the survey was deleted; nothing is written.
        """
        with self._back_end.write() as db:
            self._hold(db, survey)
            last = db.execute(_LAST, [survey]).fetchone()[0]
            # On PostgreSQL another node may have been faster since: then the number is taken.
            if last != after - 1 or db.execute(_ADD, [survey, after, line]).rowcount != 1:
                raise StorageError("the budget was written to by somebody else meanwhile; ask again")

    def _hold(self, db: Handle, survey: str) -> None:
        """A survey that is being deleted is waited for, and one that is written to is not deleted meanwhile."""
        if db.execute(_KNOWN + self._back_end.until_end, [survey]).fetchone() is None:
            raise StorageError("there is no survey of this name")
