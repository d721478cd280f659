"""What a database keeps beside the rows of reports, read at one moment for the checks."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from sottovoce.shared.spec import Survey

Cell = tuple[int, int, int]
"""(survey, wave, cohort)."""

Place = tuple[int, int, int, int, int]
"""(survey, wave, cohort, question, counted value)."""


class CheckedRevision(NamedTuple):
    """
    A published survey as the checks see it.

    Attributes:
        key: the back end's own number for it.
        name: the survey's.
        title: what it is called in words.
        survey: None if its text is not the one that was published.
        purged: ids, tombstones and tokens are gone.
    """

    key: int
    name: str
    title: str
    survey: Survey | None
    purged: bool


class Tokens(NamedTuple):
    """How many were made, used (as the last purge noted it), taken back, are held since a day, and were dropped."""

    created: int = 0
    spent: int = 0
    revoked: int = 0
    held: int = 0
    held_since: int | None = None
    dropped: int = 0


@dataclass(frozen=True)
class StoredTotals:
    """
    Whole numbers by cell, by place, or by the survey's key.

    Attributes:
        arrived: of each cell, over all slots.
        withdrawn: the same.
        counts: of each place, over all slots.
        shown: arrived, withdrawn and, after the first close, what that showed.
        shown_counts: of each place.
        tombstones: withdrawn reports of which a hash is kept.
        tokens: their counters.
        good_tokens: tokens that are good, and invitations that were not redeemed.
        redeemed: invitations that were.
        held: invitations of which nobody knows that since a restore.
    """

    arrived: Counter[Cell] = field(default_factory=Counter)
    withdrawn: Counter[Cell] = field(default_factory=Counter)
    counts: Counter[Place] = field(default_factory=Counter)
    shown: dict[Cell, tuple[int, int, int | None]] = field(default_factory=dict)
    shown_counts: dict[Place, int] = field(default_factory=dict)
    tombstones: Counter[int] = field(default_factory=Counter)
    tokens: dict[int, Tokens] = field(default_factory=dict)
    good_tokens: Counter[int] = field(default_factory=Counter)
    redeemed: Counter[int] = field(default_factory=Counter)
    held: Counter[int] = field(default_factory=Counter)
