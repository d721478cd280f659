"""
What every back end does, and the words that it shares with its callers.

A back end keeps, in one durable transaction, the reports and their counts. A count is kept for each cell: one for all
respondents of a survey and wave (cohort ``ALL``), and one for each cohort. Of every count there are two figures: the
live one, and the one shown, which is a copy of the live one and moves only when enough reports have come to the cell.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from sottovoce.shared.report import Report
from sottovoce.shared.spec import Survey

ALL = -1
"""The cohort that stands for all respondents."""

TallyKey = tuple[int, int]
"""(index of the question, counted value)."""


class Outcome(Enum):
    """What became of an arrival."""

    NEW = "new"
    SAME = "same"
    CONFLICT = "conflict"
    CLOSED = "closed"


@dataclass(frozen=True)
class StoredSurvey:
    """
    A published survey.

    Attributes:
        key: the back end's own number for it.
        document: its canonical bytes.
        closed: no new reports are admitted.
        reports: reports so far, snapshot or not.
    """

    key: int
    name: str
    revision: int
    digest: str
    document: bytes
    closed: bool
    reports: int


@dataclass(frozen=True)
class Arrival:
    """
    One admitted report, ready to be stored.

    Attributes:
        survey: the stored survey's key.
        report: the report itself.
        cohort: the respondent's cohort, or None.
        counted: what to count, from the report's values.
        release_batch: reports after which a cell's shown counts move.
    """

    survey: int
    report: Report
    cohort: int | None
    counted: tuple[TallyKey, ...]
    release_batch: int


@dataclass(frozen=True)
class Cell:
    """
    The shown counts of one wave and cohort.

    Attributes:
        cohort: a value of the cohort question, or ``ALL``.
        reports: reports in the snapshot.
        withdrawn: reports withdrawn up to the snapshot.
        tallies: number of reports by counted value, for each question by its index.
    """

    wave: int
    cohort: int
    reports: int
    withdrawn: int
    tallies: Mapping[int, Mapping[int, int]]


class Storage(Protocol):
    """One database. Methods raise ``StorageError`` when it is unavailable; all may be called from any thread."""

    def publish(self, survey: Survey) -> StoredSurvey:
        """
        Make a survey available; publishing the same one again changes nothing.

        Raises:
            StorageError: another survey has this name and revision, or a later revision exists.
        """

    def surveys(self) -> list[StoredSurvey]:
        """All published surveys, by name and revision."""

    def revisions(self, name: str) -> list[StoredSurvey]:
        """All revisions of one survey, oldest first; empty if there is none."""

    def close_survey(self, name: str) -> None:
        """Admit no more reports to any revision, and show all counts."""

    def find_report(self, survey: int, report_id: str) -> Report | None:
        """The stored report with this id, or None; its survey and digest are left empty."""

    def store(self, arrivals: Sequence[Arrival]) -> list[Outcome]:
        """Store a group in one durable transaction; on return every NEW one survives a power cut."""

    def cells(self, survey: int) -> list[Cell]:
        """The shown counts, by wave and cohort."""

    def rows(self, survey: int) -> Iterator[tuple[int | None, ...]]:
        """The values of every stored report, in the order of the random ids."""

    def live_counts(self, survey: int) -> dict[int, dict[int, int]]:
        """The live counts of all respondents and waves: for checks, never for results."""

    def add_researcher(self, name: str, token_hash: bytes) -> None:
        """Let a researcher in by the hash of a token."""

    def researcher(self, token_hash: bytes) -> str | None:
        """The researcher's name, or None."""

    def has_researchers(self) -> bool:
        """Whether anybody can be let in."""

    def start_session(self, session_hash: bytes, researcher: str, now: int) -> None:
        """Remember a dashboard session; ended ones are forgotten on the way."""

    def session(self, session_hash: bytes, now: int) -> str | None:
        """The researcher of a live session, which counts as use; or None."""

    def end_session(self, session_hash: bytes) -> None:
        """Forget a session."""

    def check(self) -> None:
        """Raise ``StorageError`` unless the database can be written to and its schema is the one known here."""

    def close(self) -> None:
        """Release the database."""
