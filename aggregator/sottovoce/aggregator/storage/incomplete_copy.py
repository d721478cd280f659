"""Mark a database with an unfinished copy: ``UNFINISHED`` is added to its schema version.

Every program refuses to open it: newer ones know the mark, and older ones and running nodes see a version that is too
new for them.
"""

from sottovoce.shared.errors import StorageError

UNFINISHED = 1_000_000
"""Number that the mark adds to the schema version."""


def known_version(version: int, newest: int, unfinished: bool = False) -> int:
    """Return a stored schema version without the mark, which only ``unfinished`` accepts.

    Raises StorageError if the database has the mark, or its schema is newer than ``newest``, which this program knows.
    """
    if version > UNFINISHED:
        version -= UNFINISHED
        if not unfinished:
            raise StorageError("a copy into this database was not finished; run copy or restore into it again")
    if version > newest:
        raise StorageError(
            "the database was made by a newer version of this program, which this one cannot work with; start that one"
        )
    return version


def refuse_older(version: int, earliest: int) -> None:
    """Raise StorageError if a database (schema 0 if new) has an earlier schema than ``earliest``."""
    if 0 < version < earliest:
        raise StorageError("the database was made by a release before 0.4; upgrade through 0.4, which migrates it")


def refuse_migration(version: int, earliest: int, newest: int) -> None:
    """Raise StorageError if a database (schema 0 if new) has an earlier schema than ``newest``, or ``earliest``."""
    refuse_older(version % UNFINISHED, earliest)
    if 0 < version % UNFINISHED < newest:
        raise StorageError(
            'the database was made by an earlier release. Stop the aggregator, then run "sottovoce db migrate"'
        )
