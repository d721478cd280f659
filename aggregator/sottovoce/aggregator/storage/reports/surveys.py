"""Publish, close, delete and purge surveys; transactions that change a survey's state run one at a time."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from sottovoce.aggregator.storage import survey_log
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.back_end import BackEnd
from sottovoce.aggregator.storage.hash_chain import SurveyLogEntry
from sottovoce.aggregator.storage.invitations import tokens
from sottovoce.aggregator.storage.models import StoredSurvey
from sottovoce.aggregator.storage.sql_statements import CLOSED_CELLS, WAS_CLOSED, Handle, insert, show
from sottovoce.aggregator.storage.table_catalogue import OF_NAMES, OF_SURVEYS, TABLES_OF_REPORTS
from sottovoce.shared.errors import RevisionConflict, StorageError
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.spec import Survey

_DROP = "DELETE FROM {} WHERE survey IN (SELECT key FROM surveys WHERE name = ?)"
_REKEY = "UPDATE {} SET report_id = {} WHERE survey = ?"
_SURVEYS = f"""
    SELECT key, name, revision, digest, document, closed_on, purged, retired,
           (SELECT coalesce(CAST(sum(arrived - withdrawn) AS bigint), 0) FROM cells WHERE survey = key),
           (SELECT coalesce(CAST(sum(arrived - withdrawn) AS bigint), 0) FROM shown_cells WHERE survey = key),
           EXISTS ({CLOSED_CELLS} surveys.key)
    FROM surveys
"""  # noqa: S608 - a constant
_CELLS_OF = """
    SELECT DISTINCT survey, wave, cohort FROM cells JOIN surveys ON key = survey WHERE name = ? ORDER BY 1, 2, 3
"""
_NOTE_CLOSE = """
    UPDATE shown_cells SET at_close = arrived - withdrawn WHERE survey IN (SELECT key FROM surveys WHERE name = ?)
"""

_DELETE = [
    f"DELETE FROM {table} WHERE survey IN (SELECT key FROM surveys WHERE name = ?)"  # noqa: S608 - constants
    for table in OF_SURVEYS
    if table != "reports"
]
_DELETE += [f"DELETE FROM {table} WHERE survey = ?" for table in OF_NAMES]  # noqa: S608
# The draft of a correction goes too, since no survey of this name can be published again.
_DELETE += ["DELETE FROM drafts WHERE name = ?", "DELETE FROM surveys WHERE name = ?"]
_CLOSE = "UPDATE surveys SET closed_on = ? WHERE name = ? AND closed_on IS NULL"
_REOPEN = "UPDATE surveys SET closed_on = NULL WHERE name = ? AND closed_on IS NOT NULL"
_PURGEABLE = "SELECT name, revision, document FROM surveys WHERE key = ? AND closed_on IS NOT NULL AND purged = 0"
_PURGE = ("UPDATE surveys SET purged = 1 WHERE key = ?", "DELETE FROM tombstones WHERE survey = ?")
_ANY_OPEN = "SELECT 1 FROM surveys WHERE name = ? AND closed_on IS NULL"
# None while any revision is open.
_CLOSED_ON = """
    SELECT CASE WHEN count(*) = count(closed_on) THEN max(closed_on) END FROM surveys WHERE name = ?
"""
_ANY_PURGED = "SELECT 1 FROM surveys WHERE name = ? AND purged = 1"
# Locks one row only, the first revision's, so that two transactions cannot deadlock.
_WAIT_FOR_FIRST = """
    UPDATE surveys SET retired = retired WHERE key = (SELECT min(key) FROM surveys WHERE name = ?)
"""
_ANY_LEFT = "SELECT 1 FROM surveys WHERE name = ? AND purged = 0"
_EARLIER = "SELECT revision, digest FROM surveys WHERE name = ? AND revision < ? AND retired = 0 ORDER BY revision"
_STEPS = "SELECT number FROM record WHERE about = ? OR substr(about, 1, ?) = ? ORDER BY number"
_RETIRE = "UPDATE surveys SET retired = 1 WHERE name = ? AND revision < ?"
_CONFLICT = (
    "another revision was published first, and this one was not; look at that one, then publish a later revision"
)
_LIVE_AND_SHOWN = """
    SELECT count(*) FROM (
        SELECT survey, wave, cohort, sum(arrived) AS arrived, sum(withdrawn) AS withdrawn FROM cells
        JOIN surveys ON key = survey WHERE name = ? GROUP BY survey, wave, cohort
    ) AS live LEFT JOIN shown_cells AS shown
    ON shown.survey = live.survey AND shown.wave = live.wave AND shown.cohort = live.cohort
"""
_CHANGED = f"""{_LIVE_AND_SHOWN}
    WHERE (live.arrived <> coalesce(shown.arrived, 0) OR live.withdrawn <> coalesce(shown.withdrawn, 0))
    AND (CAST(? AS bigint) IS NULL OR live.wave = ?)
"""
# Privacy: two states shown one after the other differ by no person in a cell, or by a whole step.
_CHANGED_BY_FEW = f"""{_LIVE_AND_SHOWN}
    WHERE (live.arrived <> coalesce(shown.arrived, 0) OR live.withdrawn <> coalesce(shown.withdrawn, 0))
    AND live.arrived - live.withdrawn - coalesce(shown.arrived - shown.withdrawn, 0) < ?
"""
# A survey that is closed before any report came has no cell that could say so.
_NOTE_EMPTY_CLOSE = """
    INSERT INTO shown_cells (survey, wave, cohort, arrived, withdrawn, at_close)
    SELECT min(key), 0, -1, 0, 0, 0 FROM surveys WHERE name = ?
    AND NOT EXISTS (SELECT 1 FROM shown_cells JOIN surveys ON key = survey WHERE name = ?) HAVING min(key) IS NOT NULL
"""


class SurveyStorage(BackEnd):
    """Part of ``Storage`` that changes a survey's state."""

    def publish(
        self, survey: Survey, retire: bool = False, who: str = words.NO_ACTOR, *, stay_closed: bool = False
    ) -> StoredSurvey:
        """Publish a survey; publishing the same one again changes nothing.

        Args:
            retire: mark all earlier revisions as retired.
            stay_closed: if the survey is closed, the new revision is closed too, as of the same day.

        Raises:
            RevisionConflict: another revision was published first.
            StorageError: an earlier revision has a larger ``release_batch``, or a survey of this name was deleted.
        """
        if survey.is_blind and not survey.moduli:
            raise StorageError("the survey's access names no moduli yet; they are made before it is published")
        about = _about(survey.name, survey.revision, survey.digest)
        with self.alone() as db:
            day = self.today(db)
            is_new = _check_new(db, survey)
            if is_new:
                key = survey_log.append(db, day, survey_log.PUBLISHED, about)
                closed_on = db.execute(_CLOSED_ON, [survey.name]).fetchone()[0] if stay_closed else None
                values = [key, survey.name, survey.revision, survey.digest, survey.canonical, closed_on]
                insert(db, "surveys", [*values, 0, 0])
            retired = _retire(db, survey, day) if retire else []
            # Last, since the audit log is locked from its first entry on.
            for what, each in [(words.PUBLISHED, about)] * is_new + [(words.RETIRED, each) for each in retired]:
                self.note(db, what, who, each)
        return next(row for row in self.revisions(survey.name) if row.digest == survey.digest)

    def surveys(self) -> list[StoredSurvey]:
        """Return all published surveys, ordered by name and revision."""
        return [_stored(*row) for row in self.rows_of(f"{_SURVEYS} ORDER BY name, revision")]

    def revisions(self, name: str) -> list[StoredSurvey]:
        """Return all revisions of a survey, oldest first; empty if there is none."""
        return [_stored(*row) for row in self.rows_of(f"{_SURVEYS} WHERE name = ? ORDER BY revision", [name])]

    def record(self) -> list[SurveyLogEntry]:
        """Return the permanent survey log: publications, retirements, closes, reopenings and deletions, by day."""
        with self.read() as db:
            return survey_log.lines(db)

    def steps_of(self, name: str) -> tuple[int, ...]:
        """Return the numbers of a survey's lines in the permanent survey log."""
        return tuple(number for (number,) in self.rows_of(_STEPS, [name, len(name) + 1, f"{name} "]))

    def close_survey(self, name: str, day: int, who: str = words.NO_ACTOR) -> None:
        """Admit no more reports to any revision, and show all counts.

        A later close shows them only if each cell is as it is shown, or has grown by ``release_batch``: else it moves
        nothing. ``day`` is the first one without reports, from which retention times count, in days since 1970-01-01.
        """
        with self.alone() as db:
            was_open = db.execute(_CLOSE, [day, name]).rowcount > 0
            if was_open:
                survey_log.append(db, self.today(db), survey_log.CLOSED, name)
            revisions = db.execute("SELECT key, document FROM surveys WHERE name = ? ORDER BY key", [name]).fetchall()
            again = bool(revisions) and db.execute(WAS_CLOSED, [revisions[0][0]]).fetchone()[0]
            batch = load_survey(revisions[-1][1]).release_batch if again else 1
            if not again or db.execute(_CHANGED_BY_FEW, [name, batch]).fetchone()[0] == 0:
                for survey, wave, cohort in db.execute(_CELLS_OF, [name]).fetchall():
                    show(db, survey, wave, [cohort])
            if not again:
                db.execute(_NOTE_CLOSE, [name])
                db.execute(_NOTE_EMPTY_CLOSE, [name, name])
            if was_open:
                self.note(db, words.CLOSED, who, name)
        self.tidy()

    def changed_since_shown(self, name: str, wave: int | None = None) -> int:
        """Return the number of cells, of all waves or of one, whose reports are not those that are shown."""
        self._catch_up()
        return int(self.row_of(_CHANGED, [name, wave, wave])[0])

    def reopen_survey(self, name: str, who: str = words.NO_ACTOR) -> None:
        """Admit reports to all revisions again; shown counts stay as they are until the next close.

        Raises StorageError if there is no such survey, or its ids were deleted, so that a repeated report counts twice.
        """
        with self.alone() as db:
            revisions = db.execute("SELECT purged FROM surveys WHERE name = ?", [name]).fetchall()
            if not revisions:
                raise StorageError("there is no survey of this name")
            if any(purged for (purged,) in revisions):
                raise StorageError("the survey's report ids are forgotten: a report that comes again would count twice")
            if db.execute(_REOPEN, [name]).rowcount:
                survey_log.append(db, self.today(db), survey_log.REOPENED, name)
                self.note(db, words.REOPENED, who, name)

    def delete_survey(self, name: str, who: str = words.NO_ACTOR) -> None:
        """Delete a survey from tables and files; its lines in the survey log and entries in the audit log remain.

        Its name cannot be used again, since devices remember it. Raises StorageError if there is no such survey.
        """
        with self.alone() as db:
            # First, since a transaction that stores a report holds a lock on the survey's row: this update waits for
            # it. Else its report would remain.
            if not db.execute("UPDATE surveys SET retired = 1 WHERE name = ?", [name]).rowcount:
                raise StorageError("there is no survey of this name")
            # Before the rows are deleted, since the number of the line must be larger than their keys.
            survey_log.append(db, self.today(db), survey_log.DELETED, name)
            self._change_reports(db, _DROP, [name])
            for statement in _DELETE:
                db.execute(statement, [name])
            self.note(db, words.DELETED, who, name)
        self._forget()

    def purge(self, survey: int, who: str = words.NO_ACTOR) -> None:
        """Give every report of a closed revision a new random key; delete ids and tombstones, in one transaction.

        Do nothing for an open revision. The last revision's purge also deletes tokens and invitations; earlier, another
        revision may still need those that people received. With signed ids nothing is purged while any revision is
        open, since a signature is valid for all.
        """
        with self.alone() as db:
            # The caller decided outside of this transaction: since then the survey may have been reopened or purged.
            row = db.execute(_PURGEABLE, [survey]).fetchone()
            if row is not None and not (load_survey(row[2]).is_blind and db.execute(_ANY_OPEN, [row[0]]).fetchone()):
                self._change_reports(db, _REKEY, [survey])
                for statement in _PURGE:
                    db.execute(statement, [survey])
                if db.execute(_ANY_LEFT, [row[0]]).fetchone() is None:
                    tokens.forget(db, row[0])
                self.note(db, words.PURGED, who, f"{row[0]} {row[1]}")
        self.tidy()

    def _change_reports(self, db: Handle, statement: str, parameters: Sequence[Any]) -> None:
        """Run a statement for each table of reports, in which ``{}`` marks the table, and then a new random id."""
        self._hold(db)
        for table in TABLES_OF_REPORTS:
            db.execute(statement.format(table, self.NEW_ID), parameters)

    def _hold(self, db: Handle) -> None:
        """Lock reports for changes until the transaction ends, if the back end has other writers."""

    def _catch_up(self) -> None:
        """Wait until the shown counts include this process's own reports, if the back end publishes them later."""

    def _forget(self) -> None:
        """Remove traces of a deleted survey from the files."""
        self.scrub()


def _check_new(db: Handle, survey: Survey) -> bool:
    """Return True if the survey may be published, False if it was already; raise ``StorageError`` if it may not."""
    if survey_log.is_deleted(db, survey.name):
        raise StorageError("a survey of this name was deleted; devices remember it, so choose another name")
    query = "SELECT revision, digest, document FROM surveys WHERE name = ? ORDER BY revision"
    rows = db.execute(query, [survey.name]).fetchall()
    is_new = (survey.revision, survey.digest) not in [row[:2] for row in rows]
    if is_new and rows:
        _check_next(survey, *rows[-1])
        _check_signed(db, survey)
    return is_new


def _check_next(survey: Survey, revision: int, digest: str, document: bytes) -> None:
    if revision >= survey.revision:
        raise RevisionConflict(_CONFLICT)
    before = load_survey(document)
    if before.release_batch > survey.release_batch:
        raise StorageError("a later revision may raise release_batch, and not lower it")
    if before.delete_on is not None and (survey.delete_on or date.max) > before.delete_on:
        raise StorageError("a later revision may be deleted earlier than people were told, and not later")
    if before.trial != survey.trial:
        raise StorageError("all revisions of a survey are the real one, or none is")
    # Another node may have published since ``replaces`` was filled in; two revisions would then name one predecessor.
    if survey.replaces not in (None, digest):
        raise RevisionConflict(_CONFLICT)


def _check_signed(db: Handle, survey: Survey) -> None:
    """Refuse a new revision of a survey with signed ids once ids of an earlier revision were deleted.

    Without them the server cannot enforce one report an id across revisions. The lock waits for transactions that store
    reports for the first revision in the belief that it is the only one.
    """
    if survey.is_blind:
        db.execute(_WAIT_FOR_FIRST, [survey.name])
        if db.execute(_ANY_PURGED, [survey.name]).fetchone() is not None:
            raise StorageError(
                "no correction can follow: the report ids are deleted, so people who have reported could report again;"
                " publish it under another name"
            )


def _retire(db: Handle, survey: Survey, day: int) -> list[str]:
    parameters: list[Any] = [survey.name, survey.revision]
    retired = [_about(survey.name, *row) for row in db.execute(_EARLIER, parameters).fetchall()]
    for about in retired:
        survey_log.append(db, day, survey_log.RETIRED, about)
    db.execute(_RETIRE, parameters)
    return retired


def _about(name: str, revision: int, digest: str) -> str:
    return f"{name} {revision} {digest}"


def _stored(key: int, name: str, revision: int, digest: str, *rest: Any) -> StoredSurvey:  # noqa: ANN401 - a row
    document, closed_on, purged, retired, reports, shown, was_closed = rest
    closed, flags = closed_on is not None, (bool(purged), bool(retired))
    return StoredSurvey(
        key, name, revision, digest, document, closed, reports, closed_on, *flags, shown, bool(was_closed)
    )
