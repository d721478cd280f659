"""Totals that a database stores in addition to reports, read as of one moment for checks."""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from sottovoce.shared.spec import Survey

Cell = tuple[int, int, int]
"""Key of a cell: (survey, wave, cohort)."""

Place = tuple[int, int, int, int, int]
"""Key of a count: (survey, wave, cohort, question, counted value)."""


class CheckedRevision(NamedTuple):
    """Published revision as the checks see it.

    Attributes:
        key: number of the revision in this database.
        name: of the survey.
        title: name and revision for messages.
        survey: the parsed survey; None if the stored text does not match its digest, name and revision.
        purged: ids and tombstones were deleted.
    """

    key: int
    name: str
    title: str
    survey: Survey | None
    purged: bool


class Tokens(NamedTuple):
    """Counters of tokens: created, spent (as of the last purge), revoked, held since a day, dropped at a purge."""

    created: int = 0
    spent: int = 0
    revoked: int = 0
    held: int = 0
    held_since: int | None = None
    dropped: int = 0


@dataclass(frozen=True)
class StoredTotals:
    """Stored totals by cell, by place, or by survey key.

    Attributes:
        arrived: reports by cell, summed over slots.
        withdrawn: withdrawn reports by cell, summed over slots.
        counts: live counts by place, summed over slots.
        shown: shown arrived, shown withdrawn and, after the first close, reports at the close; by cell.
        shown_counts: shown counts by place.
        tombstones: hashes of withdrawn reports, by survey key.
        tokens: counters of tokens, by key of the first revision.
        good_tokens: valid tokens and unredeemed invitations, by key of the first revision.
        redeemed: redeemed invitations, by key of the first revision.
        held: invitations held after a restore, by key of the first revision.
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
