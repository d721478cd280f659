"""Which two data sets are told apart by at most e^epsilon; one budget has one relation, for good."""

from enum import Enum


class Neighbours(Enum):
    """
    The relation under which epsilon is meant.

    Attributes:
        REPLACE: one record is another one; the number of records n is public.
        ADD_REMOVE: one record is there or not; n is not public.
    """

    REPLACE = "replace-one"
    ADD_REMOVE = "add/remove"

    @property
    def in_words(self) -> str:
        """What changes between neighbours."""
        return "if one record is replaced" if self is Neighbours.REPLACE else "if one record is added or removed"

    def of(self, added: int, replaced: int) -> int:
        """The sensitivity that holds: ``added`` if a record comes or goes, ``replaced`` if it becomes another one."""
        return replaced if self is Neighbours.REPLACE else added
