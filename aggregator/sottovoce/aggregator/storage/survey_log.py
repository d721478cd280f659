"""
What is remembered for good: a line for each survey that was published, retired, closed, reopened or deleted.

Each line holds the hash of the one before it, so that none can be changed or taken out unseen by whoever has noted a
later one. Days only, and nothing of a respondent.
"""

from collections.abc import Iterator, Sequence

from sottovoce.aggregator.storage.hash_chain import FIRST, SurveyLogEntry, broken
from sottovoce.aggregator.storage.sql_statements import Handle

PUBLISHED, RETIRED, CLOSED, REOPENED, DELETED = "published", "retired", "closed", "reopened", "deleted"
TOKENS = "tokens"
"""
What a line may tell: of a revision, by name, revision and digest, of a survey, by its name, or of tokens that a request
made, by name and fingerprints.
"""

_LINES = "SELECT number, day, what, about, previous FROM record ORDER BY number"
_LAST = f"{_LINES} DESC LIMIT 1"


def lines(db: Handle) -> list[SurveyLogEntry]:
    """All lines, in their order."""
    return [_line(*row) for row in db.execute(_LINES)]


def append(db: Handle, day: int, what: str, about: str) -> int:
    """
    Add a line; returns its number, which is larger than any survey's key so far.

    Args:
        db: within a transaction that no other one adds a line beside.
        day: today.
        what: one of the words above.
        about: which survey or revision.
    """
    row = db.execute(_LAST).fetchone()
    if row is None:
        # A database that is older than its record has surveys without a line.
        before, previous = int(db.execute("SELECT coalesce(max(key), 0) FROM surveys").fetchone()[0]), FIRST
    else:
        before, previous = _line(*row).number, _line(*row).hash
    db.execute(
        "INSERT INTO record (number, day, what, about, previous) VALUES (?, ?, ?, ?, ?)",
        [before + 1, day, what, about, previous],
    )
    return before + 1


def token_request(db: Handle, about: str) -> str | None:
    """The last fingerprint of the line about tokens that begins so; None if there is none."""
    query = "SELECT about FROM record WHERE what = ? AND substr(about, 1, ?) = ?"
    row = db.execute(query, [TOKENS, len(about) + 1, f"{about} "]).fetchone()
    return None if row is None else str(row[0]).rpartition(" ")[2]


def is_deleted(db: Handle, name: str) -> bool:
    """Whether there was a survey of this name."""
    query = "SELECT 1 FROM record WHERE what = ? AND about = ?"
    return db.execute(query, [DELETED, name]).fetchone() is not None


def record_head(found: Sequence[SurveyLogEntry]) -> str:
    """The last line's hash in words: whoever notes it can tell later on whether any line before it was changed."""
    return f"Line {found[-1].number} of the record: {found[-1].hash.hex()}" if found else "The record is empty."


def problems(db: Handle) -> Iterator[str]:
    """Where the lines do not follow from one another, and what they say is gone and is there."""
    found = lines(db)
    changed = next(broken(found), None)
    if changed is not None:
        yield f"the record was changed before its line {changed}"
    yield from _unpublished(db, found)
    names = [about for _, _, what, about, _ in found if what == DELETED]
    for (name,) in db.execute("SELECT DISTINCT name FROM surveys ORDER BY name"):
        if name in names:
            yield f"the survey {name} is there, and was deleted"


def _unpublished(db: Handle, found: Sequence[SurveyLogEntry]) -> Iterator[str]:
    """Revisions without their line; those that are older than the record have none."""
    published = {line.number: line.about for line in found if line.what == PUBLISHED}
    rows = db.execute("SELECT key, name, revision, digest FROM surveys ORDER BY key").fetchall()
    for key, name, revision, digest in rows:
        if found and key >= found[0].number and published.get(key) != f"{name} {revision} {digest}":
            yield f"{name} revision {revision} is there, and the record does not say that it was published"


def _line(number: int, day: int, what: str, about: str, previous: bytes) -> SurveyLogEntry:
    return SurveyLogEntry(number, day, what, about, bytes(previous))
