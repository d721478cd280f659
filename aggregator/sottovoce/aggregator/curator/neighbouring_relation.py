"""Neighbouring relation of data sets under which epsilon is defined; it is fixed for the life of a budget."""

from enum import Enum


class Neighbours(Enum):
    """A neighbouring relation of data sets.

    Attributes:
        REPLACE: one record is replaced by another (bounded differential privacy); the number of records n is public.
        ADD_REMOVE: one record is added or removed (unbounded differential privacy); n is not public.
    """

    REPLACE = "replace-one"
    ADD_REMOVE = "add/remove"

    @property
    def in_words(self) -> str:
        """Difference between neighbours, as a clause for a sentence in English."""
        return "if one record is replaced" if self is Neighbours.REPLACE else "if one record is added or removed"

    def of(self, added: int, replaced: int) -> int:
        """Return the sensitivity under this relation: ``replaced`` for replace-one, ``added`` for add/remove."""
        return replaced if self is Neighbours.REPLACE else added
