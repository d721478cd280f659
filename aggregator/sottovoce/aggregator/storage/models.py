"""What a back end and its callers exchange: surveys, plans, batches of reports and shown counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

ID = 16
"""Bytes of a report's random id."""


SESSION_IDLE = 30 * 60


SESSION_MOST = 12 * 3600
"""Seconds after which a dashboard session ends: without use, and in any case."""


class Outcome(Enum):
    """What became of an arrival, or of a withdrawal."""

    NEW = "new"
    SAME = "same"
    CONFLICT = "conflict"
    CLOSED = "closed"
    WITHDRAWN = "withdrawn"
    TOKEN_INVALID = "token_invalid"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class StoredSurvey:
    """
    A published survey.

    Attributes:
        key: the back end's own number for it.
        document: its canonical bytes.
        closed: no new reports are admitted.
        reports: reports so far, snapshot or not: to be told in batches only, see ``surveys.reports_so_far``.
        closed_on: the day on which it was closed, counted from 1970-01-01; None while it is open.
        purged: report ids are gone, so that no report can be known again.
        retired: a later revision was published in its place: what was drawn for it counts, and nobody begins with it.
    """

    key: int
    name: str
    revision: int
    digest: str
    document: bytes
    closed: bool
    reports: int
    closed_on: int | None = None
    purged: bool = False
    retired: bool = False


@dataclass(frozen=True)
class StoragePlan:
    """
    What a back end must know of a survey to store its reports.

    Attributes:
        survey: the stored survey's key.
        cohort: index of the cohort question, or None.
        release_batch: a cell's shown counts move once it has grown by so many reports, arrivals less withdrawals.
        tokens: key of the survey whose tokens its reports spend, or None if it asks for none.
        masks: the number of options of each question, by its index, whose values are bit masks over them.
        signed: ids are signed, so that one may have one report, whichever of the survey's revisions it is for.
    """

    survey: int
    cohort: int | None
    release_batch: int
    tokens: int | None
    masks: Mapping[int, int]
    signed: bool = False


@dataclass(frozen=True, slots=True)
class ReportBatch:
    """
    Admitted reports that differ in id and values only, one after the other: one report, or a batch of a thousand.

    Attributes:
        plan: of the reports' survey.
        report_ids: ``ID`` bytes for each report.
        packed: their values, as ``rows.pack`` makes them; all of one length and width.
        tokens: hash of the token that each of them spends; empty if the survey asks for none.
    """

    plan: StoragePlan
    wave: int
    report_ids: bytes
    packed: bytes
    tokens: tuple[bytes, ...] = ()

    def __len__(self) -> int:
        """How many reports there are."""
        return len(self.report_ids) // ID

    @property
    def size(self) -> int:
        """Bytes that the values of each report take."""
        return ID * len(self.packed) // len(self.report_ids)


class Known(NamedTuple):
    """What is stored under a report id."""

    wave: int
    values: tuple[int | None, ...]


@dataclass(frozen=True)
class Cell:
    """
    The shown counts of one wave and cohort.

    Attributes:
        cohort: a value of the cohort question, or ``ALL``.
        reports: reports in the snapshot.
        withdrawn: reports withdrawn up to the snapshot.
        tallies: number of reports by counted value, for each question by its index.
        at_close: reports that the survey's first close showed here; None before it, and if there was no such cell.
    """

    wave: int
    cohort: int
    reports: int
    withdrawn: int
    tallies: Mapping[int, Mapping[int, int]]
    at_close: int | None = None
