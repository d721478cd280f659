"""
Surveys while they are being written, reached as ``storage.drafts``: one implementation in the SQL of both back ends.

Every save is a version of its own, and the last fifty stay, so that nothing that was typed is lost to a later save. Who
saves says which version it was typed over: of two people who began with the same one, the second is refused. Of a draft
that was published it stays how many people it was planned for.
"""

from typing import NamedTuple

from sottovoce.aggregator.storage.accounts.back_end import BackEnd
from sottovoce.aggregator.storage.sql_statements import Handle

KEPT = 50
"""Versions of a draft."""

_MAKE = """
    CREATE TABLE drafts (
        name {text} NOT NULL,
        version {number} NOT NULL,
        document {bytes} NOT NULL,
        PRIMARY KEY (name, version)
    ){end};
    CREATE TABLE plans (
        survey {text} PRIMARY KEY,
        people {number},
        of_group {number}
    ){end}
"""


def _made(**words: str) -> tuple[str, ...]:
    return tuple(_MAKE.format(**words).strip().split(";\n"))


MAKE_DRAFTS = _made(text="TEXT", number="INTEGER", bytes="BLOB", end=" STRICT, WITHOUT ROWID")
"""The step on SQLite."""
MAKE_DRAFTS_SHARED = _made(text="text", number="bigint", bytes="bytea", end="")
"""The migration on PostgreSQL."""

_NEWEST = "SELECT name, version, document FROM drafts WHERE name = ? ORDER BY version DESC LIMIT 1"
_ALL = """
    SELECT name, version, document FROM drafts
    WHERE version = (SELECT max(version) FROM drafts AS other WHERE other.name = drafts.name) ORDER BY name
"""
_PLAN = """
    INSERT INTO plans (survey, people, of_group) VALUES (?, ?, ?)
    ON CONFLICT (survey) DO UPDATE SET people = excluded.people, of_group = excluded.of_group
"""
_SAVE = "INSERT INTO drafts (name, version, document) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"


class DraftVersion(NamedTuple):
    """
    One version of a draft.

    Attributes:
        name: what the survey will be called; of a correction, the survey's.
        version: from 1 on.
        document: JSON, complete or not.
    """

    name: str
    version: int
    document: bytes


class PlannedSize(NamedTuple):
    """
    For how many people a survey is planned.

    Attributes:
        people: who are to answer; None if that was not said.
        group: who belong to the group; None if that is not known.
    """

    people: int | None = None
    group: int | None = None


class DraftTables:
    """Drafts. Methods raise ``StorageError`` when the database is unavailable; all may be called from any thread."""

    def __init__(self, back_end: BackEnd) -> None:
        self._back_end = back_end

    def add(self, name: str, document: bytes) -> bool:
        """Begin a draft; False, and nothing is written, if there is one of this name."""
        with self._back_end.write() as db:
            return _newest(db, name) is None and db.execute(_SAVE, [name, 1, document]).rowcount == 1

    def draft(self, name: str, version: int | None = None) -> DraftVersion | None:
        """The newest version of a draft, or that of this number; None if it is not there."""
        with self._back_end.read() as db:
            if version is None:
                return _newest(db, name)
            query = "SELECT name, version, document FROM drafts WHERE name = ? AND version = ?"
            row = db.execute(query, [name, version]).fetchone()
        return None if row is None else _draft(*row)

    def drafts(self) -> list[DraftVersion]:
        """The newest version of each, by name."""
        with self._back_end.read() as db:
            return [_draft(*row) for row in db.execute(_ALL).fetchall()]

    def versions(self, name: str) -> list[int]:
        """The numbers of the versions that are kept, newest first."""
        with self._back_end.read() as db:
            query = "SELECT version FROM drafts WHERE name = ? ORDER BY version DESC"
            return [int(version) for (version,) in db.execute(query, [name]).fetchall()]

    def save(self, name: str, typed_over: int, document: bytes) -> int | None:
        """
        Keep another version; the fifty-first before it goes.

        Args:
            name: of a draft.
            typed_over: the version that whoever saves had before them.
            document: JSON.

        Returns:
            The new version's number; None, and nothing is written, if that one is not the newest any more.
        """
        with self._back_end.write() as db:
            newest = _newest(db, name)
            if newest is None or newest.version != typed_over:
                return None
            # On PostgreSQL another node may have been faster since: then the number is taken, and nothing is written.
            if db.execute(_SAVE, [name, typed_over + 1, document]).rowcount != 1:
                return None
            db.execute("DELETE FROM drafts WHERE name = ? AND version <= ?", [name, typed_over + 1 - KEPT])
        return typed_over + 1

    def rename(self, name: str, new: str) -> bool:
        """Call a draft something else, with all of its versions; False, and nothing is written, if that is taken."""
        with self._back_end.write() as db:
            if _newest(db, new) is not None:
                return False
            return db.execute("UPDATE drafts SET name = ? WHERE name = ?", [new, name]).rowcount > 0

    def delete(self, name: str) -> None:
        """Take a draft out, with all of its versions."""
        with self._back_end.write() as db:
            _delete(db, name)
        self._back_end.after_deletion()

    def finish(self, name: str, plan: PlannedSize) -> None:
        """Take out a draft that was published, and keep in the same step for how many people it was planned."""
        with self._back_end.write() as db:
            db.execute(_PLAN, [name, plan.people, plan.group])
            _delete(db, name)
        self._back_end.after_deletion()

    def plan(self, survey: str) -> PlannedSize:
        """For how many people a published survey is planned."""
        with self._back_end.read() as db:
            row = db.execute("SELECT people, of_group FROM plans WHERE survey = ?", [survey]).fetchone()
        return PlannedSize() if row is None else PlannedSize(*row)

    def plans(self) -> dict[str, PlannedSize]:
        """The same of all surveys of which it was said, by name."""
        with self._back_end.read() as db:
            return {
                str(name): PlannedSize(*row) for name, *row in db.execute("SELECT survey, people, of_group FROM plans")
            }


def _delete(db: Handle, name: str) -> None:
    db.execute("DELETE FROM drafts WHERE name = ?", [name])


def _newest(db: Handle, name: str) -> DraftVersion | None:
    row = db.execute(_NEWEST, [name]).fetchone()
    return None if row is None else _draft(*row)


def _draft(name: str, version: int, document: bytes) -> DraftVersion:
    return DraftVersion(str(name), int(version), bytes(document))
