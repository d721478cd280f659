"""Keep the permanent log of publications, retirements, closes, reopenings and deletions, and of token requests.

Each line holds the hash of the line before it, so that a noted hash reveals later changes (see ``hash_chain``). Lines
have days, not times, and hold nothing about respondents.
"""

from collections.abc import Iterator, Sequence

from sottovoce.aggregator.storage.hash_chain import FIRST, SurveyLogEntry, broken
from sottovoce.aggregator.storage.sql_statements import Handle, insert

PUBLISHED, RETIRED, CLOSED, REOPENED, DELETED = "published", "retired", "closed", "reopened", "deleted"
TOKENS = "tokens"
"""
Events. ``about`` is the name, revision and digest of a revision; the name of a survey; or, for tokens, the name and the
fingerprints of the request.
"""

_LINES = "SELECT number, day, what, about, previous FROM record ORDER BY number"
_LAST = f"{_LINES} DESC LIMIT 1"


def lines(db: Handle) -> list[SurveyLogEntry]:
    """Return all lines, oldest first."""
    return [SurveyLogEntry(*row) for row in db.execute(_LINES)]


def append(db: Handle, day: int, what: str, about: str) -> int:
    """Append a line under the lock of the survey log; return its number, larger than all survey keys so far."""
    row = db.execute(_LAST).fetchone()
    if row is None:
        # Surveys of a database from before there was a log have no lines: begin after their keys.
        before, previous = int(db.execute("SELECT coalesce(max(key), 0) FROM surveys").fetchone()[0]), FIRST
    else:
        before, previous = row[0], SurveyLogEntry(*row).hash
    insert(db, "record", [before + 1, day, what, about, previous])
    return before + 1


def token_request(db: Handle, about: str) -> str | None:
    """Return the body's fingerprint of a logged token request, whose line begins with ``about``, or None."""
    query = "SELECT about FROM record WHERE what = ? AND substr(about, 1, ?) = ?"
    row = db.execute(query, [TOKENS, len(about) + 1, f"{about} "]).fetchone()
    return None if row is None else str(row[0]).rpartition(" ")[2]


def is_deleted(db: Handle, name: str) -> bool:
    """Return True if a survey of this name was deleted."""
    return db.execute("SELECT 1 FROM record WHERE what = ? AND about = ?", [DELETED, name]).fetchone() is not None


def record_head(entries: Sequence[SurveyLogEntry]) -> str:
    """Return a sentence with the last line's hash, for operators to write down and compare later."""
    return f"Line {entries[-1].number} of the record: {entries[-1].hash.hex()}" if entries else "The record is empty."


def problems(db: Handle) -> Iterator[str]:
    """Describe breaks of the hash chain and contradictions between the log and the stored surveys."""
    entries = lines(db)
    changed = next(broken(entries), None)
    if changed is not None:
        yield f"the record was changed before its line {changed}"
    yield from _unpublished(db, entries)
    names = [about for _, _, what, about, _ in entries if what == DELETED]
    for (name,) in db.execute("SELECT DISTINCT name FROM surveys ORDER BY name"):
        if name in names:
            yield f"the survey {name} is there, and was deleted"


def _unpublished(db: Handle, entries: Sequence[SurveyLogEntry]) -> Iterator[str]:
    """Describe stored revisions without a line, except those from before there was a log."""
    published = {line.number: line.about for line in entries if line.what == PUBLISHED}
    rows = db.execute("SELECT key, name, revision, digest FROM surveys ORDER BY key").fetchall()
    for key, name, revision, digest in rows:
        # Surveys published before there was a log have no line, which is no contradiction.
        if entries and key >= entries[0].number and published.get(key) != f"{name} {revision} {digest}":
            yield f"{name} revision {revision} is there, and the record does not say that it was published"
