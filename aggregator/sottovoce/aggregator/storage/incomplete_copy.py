"""Mark of a database with an unfinished copy: ``UNFINISHED`` is added to its schema version.

Every program refuses to open it: newer ones know the mark, and older ones and running nodes see a version that is too
new for them.
"""

from sottovoce.shared.errors import StorageError

UNFINISHED = 1_000_000
"""Number that the mark adds to the schema version."""


def known_version(version: int, newest: int, unfinished: bool = False) -> int:
    """Return the schema version of a database without the mark.

    Args:
        version: as stored in the database, mark included.
        newest: newest version that this program knows.
        unfinished: accept the mark, unless the schema is newer than ``newest``.

    Raises:
        StorageError: the schema is too new, or the database has the mark.
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


def refuse_migration(version: int, newest: int) -> None:
    """Raise an error if a database needs a migration.

    Args:
        version: number of its schema; 0 for a new database.
        newest: number of this program's schema.

    Raises:
        StorageError: it is the database of an earlier release.
    """
    if 0 < version % UNFINISHED < newest:
        raise StorageError(
            'the database was made by an earlier release. Stop the aggregator, then run "sottovoce db migrate"'
        )
