"""Data that storage exchanges with its callers: surveys, plans, batches of reports and shown counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

ID = 16
"""Bytes of a report's random id."""

ALL = -1
"""Value of ``Cell.cohort`` for all respondents together."""

SESSION_IDLE = 30 * 60
"""Seconds without use after which a dashboard session ends."""

SESSION_MOST = 12 * 3600
"""Seconds after which a dashboard session ends in any case."""


class Outcome(Enum):
    """Result of storing or withdrawing one report."""

    NEW = "new"
    SAME = "same"
    CONFLICT = "conflict"
    CLOSED = "closed"
    WITHDRAWN = "withdrawn"
    TOKEN_INVALID = "token_invalid"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class StoredSurvey:
    """A published survey.

    Attributes:
        key: number of the revision in this database.
        document: canonical JSON.
        reports: live number of reports; callers show it only in steps of ``release_batch``, for privacy.
        closed_on: the day on which it was closed, counted from 1970-01-01; None while it is open.
        purged: report ids were deleted, so that the aggregator cannot recognize a report that comes again.
        retired: superseded by a later revision; reports already drawn for it count, new respondents get the later one.
        shown: number of reports in the shown counts, which results add up.
        was_closed: the survey was closed at least once; what is shown moves at its closes only.
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
    shown: int = 0
    was_closed: bool = False


@dataclass(frozen=True)
class StoragePlan:
    """Facts about a survey revision that a back end needs to store its reports.

    Attributes:
        survey: key of the stored revision.
        cohort: index of the cohort question, or None.
        release_batch: net growth in reports (arrivals less withdrawals) after which a cell's shown counts are updated.
        tokens: key of the revision whose tokens its reports spend, or None if the survey needs no tokens.
        masks: number of options, by question index, of the questions whose values are bit masks.
        signed: report ids are signed, so an id may have one report across all revisions of the survey.
    """

    survey: int
    cohort: int | None
    release_batch: int
    tokens: int | None
    masks: Mapping[int, int]
    signed: bool = False


@dataclass(frozen=True, slots=True)
class ReportBatch:
    """Admitted reports of one survey and wave, concatenated: one report, or a batch of a thousand.

    Attributes:
        report_ids: ``ID`` bytes for each report.
        packed: their values as ``pack_values.pack`` encodes them; all of one length and width.
        tokens: hash of the token that each report spends; empty if the survey needs no tokens.
    """

    plan: StoragePlan
    wave: int
    report_ids: bytes
    packed: bytes
    tokens: tuple[bytes, ...] = ()

    def __len__(self) -> int:
        """Return the number of reports."""
        return len(self.report_ids) // ID

    @property
    def size(self) -> int:
        """Bytes of the packed values of one report."""
        return ID * len(self.packed) // len(self.report_ids)


class Known(NamedTuple):
    """Report as stored under a report id."""

    wave: int
    values: tuple[int | None, ...]


@dataclass(frozen=True)
class Cell:
    """The shown counts of one wave and cohort (or ``ALL``), as of a snapshot.

    Attributes:
        withdrawn: reports withdrawn up to the snapshot.
        tallies: number of reports by counted value, for each question by its index.
        at_close: reports that the survey's first close showed in this cell; None before it, or without such a cell.
    """

    wave: int
    cohort: int
    reports: int
    withdrawn: int
    tallies: Mapping[int, Mapping[int, int]]
    at_close: int | None = None
