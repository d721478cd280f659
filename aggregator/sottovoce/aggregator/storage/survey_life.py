"""Surveys come, are corrected, end, and go: each step within a transaction that has no other such one beside it."""

from typing import Any

from sottovoce.aggregator.storage import record
from sottovoce.aggregator.storage.statements import Handle, show
from sottovoce.shared import canonical
from sottovoce.shared.errors import StorageError
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.spec import Survey

_CELLS_OF = """
    SELECT DISTINCT survey, wave, cohort FROM cells JOIN surveys ON key = survey WHERE name = ? ORDER BY 1, 2, 3
"""
_WAS_CLOSED = "SELECT 1 FROM shown_cells JOIN surveys ON key = survey WHERE name = ? AND at_close IS NOT NULL LIMIT 1"
_NOTE_CLOSE = """
    UPDATE shown_cells SET at_close = arrived - withdrawn WHERE survey IN (SELECT key FROM surveys WHERE name = ?)
"""


def publish(db: Handle, survey: Survey, day: int, retire: bool) -> None:
    """
    Add a revision, unless it is there.

    Args:
        db: within a transaction.
        survey: to be published.
        day: today.
        retire: whether earlier revisions are from now on said to be so.

    Raises:
        StorageError: it may not be the next one.
    """
    if record.is_deleted(db, survey.name):
        raise StorageError("a survey of this name was deleted; devices remember it, so choose another name")
    query = "SELECT revision, digest, document FROM surveys WHERE name = ? ORDER BY revision"
    rows = db.execute(query, [survey.name]).fetchall()
    if (survey.revision, survey.digest) not in [row[:2] for row in rows]:
        if rows:
            _check_next(survey, *rows[-1])
        key = record.append(db, day, record.PUBLISHED, _about(survey.name, survey.revision, survey.digest))
        db.execute(
            "INSERT INTO surveys (key, name, revision, digest, document) VALUES (?, ?, ?, ?, ?)",
            [key, survey.name, survey.revision, survey.digest, survey.canonical],
        )
    if retire:
        _retire(db, survey, day)


def close(db: Handle, name: str, closed_on: int, day: int) -> None:
    """
    Admit no more reports; the first time, show all counts.

    Args:
        db: within a transaction.
        name: the survey's.
        closed_on: the day that counts for what is kept until so many days after it.
        day: today.
    """
    query = "UPDATE surveys SET closed_on = ? WHERE name = ? AND closed_on IS NULL"
    if db.execute(query, [closed_on, name]).rowcount:
        record.append(db, day, record.CLOSED, name)
    # Who closes again and again would else see each handful of new reports by itself.
    if db.execute(_WAS_CLOSED, [name]).fetchone() is None:
        for survey, wave, cohort in db.execute(_CELLS_OF, [name]).fetchall():
            show(db, survey, wave, [cohort])
        db.execute(_NOTE_CLOSE, [name])


def _check_next(survey: Survey, revision: int, digest: str, document: bytes) -> None:
    if revision >= survey.revision:
        raise StorageError("a changed survey must be published with a higher revision")
    if load_survey(document).release_batch > survey.release_batch:
        raise StorageError("a later revision may raise release_batch, and not lower it")
    # Another node may have published since the predecessor was filled in; then there would be two of one.
    if canonical.load(survey.canonical).get("replaces", digest) != digest:
        raise StorageError("the revision that this one replaces is not the newest; publish it again")


def _retire(db: Handle, survey: Survey, day: int) -> None:
    earlier = "name = ? AND revision < ? AND retired = 0"
    given: list[Any] = [survey.name, survey.revision]
    for revision, digest in db.execute(
        f"SELECT revision, digest FROM surveys WHERE {earlier} ORDER BY revision",  # noqa: S608 - constants
        given,
    ).fetchall():
        record.append(db, day, record.RETIRED, _about(survey.name, revision, digest))
    db.execute(f"UPDATE surveys SET retired = 1 WHERE {earlier}", given)  # noqa: S608 - constants


def _about(name: str, revision: int, digest: str) -> str:
    return f"{name} {revision} {digest}"
