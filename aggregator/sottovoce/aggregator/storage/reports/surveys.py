"""Changes of a survey's state; the caller runs each within a transaction that excludes all other such changes."""

from collections.abc import Callable
from datetime import date
from typing import Any

from sottovoce.aggregator.storage import survey_log
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.audit_log import table as journal_table
from sottovoce.aggregator.storage.invitations import tokens
from sottovoce.aggregator.storage.sql_statements import Handle, show
from sottovoce.aggregator.storage.table_catalogue import OF_NAMES, OF_SURVEYS
from sottovoce.shared.errors import RevisionConflict, StorageError
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.spec import Survey

_CELLS_OF = """
    SELECT DISTINCT survey, wave, cohort FROM cells JOIN surveys ON key = survey WHERE name = ? ORDER BY 1, 2, 3
"""
_WAS_CLOSED = "SELECT 1 FROM shown_cells JOIN surveys ON key = survey WHERE name = ? AND at_close IS NOT NULL LIMIT 1"
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
_DELETE += ["DELETE FROM drafts WHERE name = ?"]
_PURGE = (
    "UPDATE surveys SET purged = 1 WHERE key = ?",
    "DELETE FROM tombstones WHERE survey = ?",
)
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
# Shown counts of a cell only grow, so a cell is unchanged if live, shown and first close agree.
_CHANGED = f"""{_LIVE_AND_SHOWN}
    WHERE (live.arrived <> coalesce(shown.arrived, 0) OR live.withdrawn <> coalesce(shown.withdrawn, 0)
        OR shown.arrived - shown.withdrawn <> coalesce(shown.at_close, 0))
    AND (CAST(? AS bigint) IS NULL OR live.arrived - live.withdrawn - coalesce(shown.at_close, 0) < ?)
"""


def publish(db: Handle, survey: Survey, day: int, retire: bool, who: str, *, stay_closed: bool) -> None:
    """
    Add a revision, unless it is stored already.

    Args:
        db: within a transaction.
        survey: to be published.
        day: today, counted from 1970-01-01.
        retire: mark earlier revisions as retired.
        who: account that publishes, for the audit log.
        stay_closed: if the survey is closed, the new revision is closed too, as of the same day.

    Raises:
        RevisionConflict: another revision was published first.
        StorageError: the revision may not follow the stored ones.
    """
    if survey.is_blind and not survey.moduli:
        raise StorageError("the survey's access names no moduli yet; they are made before it is published")
    if survey_log.is_deleted(db, survey.name):
        raise StorageError("a survey of this name was deleted; devices remember it, so choose another name")
    query = "SELECT revision, digest, document FROM surveys WHERE name = ? ORDER BY revision"
    rows = db.execute(query, [survey.name]).fetchall()
    is_new = (survey.revision, survey.digest) not in [row[:2] for row in rows]
    if is_new:
        if rows:
            _check_next(survey, *rows[-1])
            _check_signed(db, survey)
        key = survey_log.append(db, day, survey_log.PUBLISHED, _about(survey.name, survey.revision, survey.digest))
        closed_on = db.execute(_CLOSED_ON, [survey.name]).fetchone()[0] if stay_closed else None
        db.execute(
            "INSERT INTO surveys (key, name, revision, digest, document, closed_on) VALUES (?, ?, ?, ?, ?, ?)",
            [key, survey.name, survey.revision, survey.digest, survey.canonical, closed_on],
        )
    retired = _retire(db, survey, day) if retire else []
    if is_new:
        journal_table.append(db, day, words.PUBLISHED, who, _about(survey.name, survey.revision, survey.digest))
    for about in retired:
        journal_table.append(db, day, words.RETIRED, who, about)


def close(db: Handle, name: str, closed_on: int, day: int, who: str) -> None:
    """
    Admit no more reports; the first time, show all counts.

    Args:
        db: within a transaction.
        name: of the survey.
        closed_on: day from which retention times count, from 1970-01-01.
        day: today.
        who: account that closes it, for the audit log.
    """
    query = "UPDATE surveys SET closed_on = ? WHERE name = ? AND closed_on IS NULL"
    was_open = db.execute(query, [closed_on, name]).rowcount > 0
    if was_open:
        survey_log.append(db, day, survey_log.CLOSED, name)
    # Privacy: only the first close shows the rest; else repeated closing and reopening would show a few reports at a
    # time.
    if db.execute(_WAS_CLOSED, [name]).fetchone() is None:
        for survey, wave, cohort in db.execute(_CELLS_OF, [name]).fetchall():
            show(db, survey, wave, [cohort])
        db.execute(_NOTE_CLOSE, [name])
    if was_open:
        journal_table.append(db, day, words.CLOSED, who, name)


def changed_since_close(db: Handle, name: str, less_than: int | None) -> int:
    """
    Return the number of cells whose live or shown counts differ from those at the first close.

    Args:
        db: within a transaction.
        name: of the survey.
        less_than: count only cells that grew by fewer reports than this since; None for all.
    """
    return int(db.execute(_CHANGED, [name, less_than, less_than]).fetchone()[0])


def reopen(db: Handle, name: str, day: int, who: str) -> None:
    """
    Admit reports again; shown counts stay, and grow by ``release_batch`` as before the close.

    Args:
        db: within a transaction.
        name: of the survey.
        day: today.
        who: account that reopens it, for the audit log.

    Raises:
        StorageError: there is no such survey, or its report ids were deleted, so that a repeated report counts twice.
    """
    revisions = db.execute("SELECT purged FROM surveys WHERE name = ?", [name]).fetchall()
    if not revisions:
        raise StorageError("there is no survey of this name")
    if any(purged for (purged,) in revisions):
        raise StorageError("the survey's report ids are forgotten: a report that comes again would count twice")
    if db.execute("UPDATE surveys SET closed_on = NULL WHERE name = ? AND closed_on IS NOT NULL", [name]).rowcount:
        survey_log.append(db, day, survey_log.REOPENED, name)
        journal_table.append(db, day, words.REOPENED, who, name)


def delete(db: Handle, name: str, day: int, drop_reports: Callable[[Handle, str], None], who: str) -> None:
    """
    Delete all rows of a survey but its lines in the survey log and its entries in the audit log.

    Args:
        db: within a transaction.
        name: of the survey.
        day: today.
        drop_reports: deletes the reports of the survey with a given name.
        who: account that deletes it, for the audit log.

    Raises:
        StorageError: there is no such survey.
    """
    # First, since a transaction that stores a report holds a lock on the survey's row: this update waits for it. Else
    # its report would remain.
    if not db.execute("UPDATE surveys SET retired = 1 WHERE name = ?", [name]).rowcount:
        raise StorageError("there is no survey of this name")
    # Before the rows are deleted, since the number of the line must be larger than their keys.
    survey_log.append(db, day, survey_log.DELETED, name)
    drop_reports(db, name)
    for statement in _DELETE:
        db.execute(statement, [name])
    db.execute("DELETE FROM surveys WHERE name = ?", [name])
    journal_table.append(db, day, words.DELETED, who, name)


def purge(db: Handle, survey: int, day: int, rekey: Callable[[Handle, int], None], who: str) -> None:
    """
    Give every report of a closed revision a new random key, and delete ids and tombstones.

    The last revision's purge also deletes tokens and invitations; earlier, another revision may still need those that
    people received. With signed ids nothing is purged while any revision is open, since a signature is valid for all.

    Args:
        db: within a transaction.
        survey: key of the revision.
        day: today.
        rekey: gives all reports of the revision new random ids.
        who: account that acts, for the audit log.
    """
    # The caller decided outside of this transaction: since then the survey may have been reopened or purged.
    query = "SELECT name, revision, document FROM surveys WHERE key = ? AND closed_on IS NOT NULL AND purged = 0"
    row = db.execute(query, [survey]).fetchone()
    if row is not None and not (load_survey(row[2]).is_blind and db.execute(_ANY_OPEN, [row[0]]).fetchone()):
        rekey(db, survey)
        for statement in _PURGE:
            db.execute(statement, [survey])
        name = row[0]
        if db.execute(_ANY_LEFT, [name]).fetchone() is None:
            tokens.forget(db, name)
        journal_table.append(db, day, words.PURGED, who, f"{name} {row[1]}")


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
    """
    Refuse a new revision of a survey with signed ids once ids of an earlier revision were deleted.

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
