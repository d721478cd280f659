"""Store survey drafts (``storage.drafts``), in the SQL that both back ends share.

Every save adds a version, and the last fifty remain, so that an earlier text can be restored. A save names the version
that it replaces (optimistic locking): if two people edit the same version, the second save is refused. After a draft is
published, its planned number of people remains in the table ``plans``.
"""

from typing import NamedTuple

from sottovoce.aggregator.storage.back_end import Tables
from sottovoce.aggregator.storage.sql_statements import UNLESS_KNOWN, Handle, insert

MAX_VERSIONS = 50
"""Versions of a draft that remain stored."""

_NEWEST = "SELECT name, version, document FROM drafts WHERE name = ? ORDER BY version DESC LIMIT 1"
_ONE = "SELECT name, version, document FROM drafts WHERE name = ? AND version = ?"
_ALL = """
    SELECT name, version, document FROM drafts
    WHERE version = (SELECT max(version) FROM drafts AS other WHERE other.name = drafts.name) ORDER BY name
"""
_PLAN = """
    INSERT INTO plans (survey, people, of_group) VALUES (?, ?, ?)
    ON CONFLICT (survey) DO UPDATE SET people = excluded.people, of_group = excluded.of_group
"""
_DELETE = "DELETE FROM drafts WHERE name = ?"


class DraftVersion(NamedTuple):
    """Stored version, from 1, of the draft of a survey, or of its correction; the JSON may be incomplete."""

    name: str
    version: int
    document: bytes


class PlannedSize(NamedTuple):
    """Number of expected respondents, and size of the group that they belong to; None if not known."""

    people: int | None = None
    group: int | None = None

    def reports(self, waves: int) -> int | None:
        """Return the number of expected reports: a respondent sends one in each wave."""
        return self.people and self.people * waves


class DraftTables(Tables):
    """Tables of drafts, and of the size that each was planned for."""

    def add(self, name: str, document: bytes) -> bool:
        """Add a draft; return False without writing if the name is taken."""
        with self._back_end.write() as db:
            # The insert decides: on PostgreSQL two nodes may both find the name free.
            return _newest_version(db, name) is None and insert(db, "drafts", [name, 1, document], UNLESS_KNOWN) == 1

    def draft(self, name: str, version: int | None = None) -> DraftVersion | None:
        """Return the newest version of a draft, or the given one; None if it does not exist."""
        query, values = (_NEWEST, [name]) if version is None else (_ONE, [name, version])
        return self._back_end.one_of(DraftVersion, query, values)

    def drafts(self) -> list[DraftVersion]:
        """Return the newest version of every draft, ordered by name."""
        return [DraftVersion(*row) for row in self._back_end.rows_of(_ALL)]

    def versions(self, name: str) -> list[int]:
        """Return the numbers of the stored versions, newest first."""
        query = "SELECT version FROM drafts WHERE name = ? ORDER BY version DESC"
        return [int(version) for (version,) in self._back_end.rows_of(query, [name])]

    def save(self, name: str, typed_over: int, document: bytes) -> int | None:
        """Add a version, and delete all but the last ``MAX_VERSIONS``; return its number.

        Return None, without writing, if ``typed_over``, from which the edit started, is no longer the newest.
        """
        with self._back_end.write() as db:
            newest = _newest_version(db, name)
            if newest is None or newest.version != typed_over:
                return None
            # On PostgreSQL another node may have saved since the query; then ON CONFLICT leaves rowcount 0.
            if insert(db, "drafts", [name, typed_over + 1, document], UNLESS_KNOWN) != 1:
                return None
            db.execute("DELETE FROM drafts WHERE name = ? AND version <= ?", [name, typed_over + 1 - MAX_VERSIONS])
        return typed_over + 1

    def rename(self, name: str, new: str) -> bool:
        """Rename a draft with all of its versions; return False without writing if the new name is taken."""
        with self._back_end.write() as db:
            if _newest_version(db, new) is not None:
                return False
            return db.execute("UPDATE drafts SET name = ? WHERE name = ?", [new, name]).rowcount > 0

    def delete(self, name: str) -> None:
        """Delete a draft with all of its versions."""
        with self._back_end.deleting() as db:
            db.execute(_DELETE, [name])

    def finish(self, name: str, plan: PlannedSize) -> None:
        """Delete a draft that was published, and store its planned size in the same transaction."""
        with self._back_end.deleting() as db:
            # In the transaction that deletes the draft: after a crash either draft or plan exists, never neither.
            db.execute(_PLAN, [name, plan.people, plan.group])
            db.execute(_DELETE, [name])

    def plan(self, survey: str) -> PlannedSize:
        """Return the planned size of a published survey; empty fields if unknown."""
        query = "SELECT people, of_group FROM plans WHERE survey = ?"
        return self._back_end.one_of(PlannedSize, query, [survey]) or PlannedSize()

    def plans(self) -> dict[str, PlannedSize]:
        """Return the planned sizes of all surveys that have one, by name."""
        rows = self._back_end.rows_of("SELECT survey, people, of_group FROM plans")
        return {str(name): PlannedSize(*row) for name, *row in rows}


def _newest_version(db: Handle, name: str) -> DraftVersion | None:
    row = db.execute(_NEWEST, [name]).fetchone()
    return None if row is None else DraftVersion(*row)
