"""
The mark of a database into which a copy was begun: its version is so much larger than the schema's.

Whoever opens it takes it for one of a newer version, or knows the mark, and refuses it: also a program of before there
was a mark, and a node that is running on it.
"""

from sottovoce.shared.errors import StorageError

UNFINISHED = 1_000_000
"""What the mark adds to the version of the schema."""


def known_version(version: int, newest: int, unfinished: bool = False, usable_from: int | None = None) -> int:
    """
    The version of a database's schema.

    Args:
        version: as it is written in the database.
        newest: that this program knows.
        unfinished: whether one with the mark is taken, to be filled by this program: a newer one never is.
        usable_from: the earliest version whose programs can work with it; None if it tells of none.

    Raises:
        StorageError: it is too new, or has the mark.
    """
    if version > UNFINISHED:
        version -= UNFINISHED
        if not unfinished:
            raise StorageError("a copy into this database was not finished; run copy or restore into it again")
    if version > newest and (unfinished or usable_from is None or usable_from > newest):
        raise StorageError(
            "the database was made by a newer version of this program, which this one cannot work with; start that one"
        )
    return version
