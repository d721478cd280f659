"""What is read of reports that are closed: of a database, or of reports that were invented and are in none."""

from collections.abc import Iterator
from typing import Protocol

from sottovoce.aggregator.storage.audit_log.interface import Journal
from sottovoce.aggregator.storage.drafts import DraftTables
from sottovoce.aggregator.storage.hash_chain import SurveyLogEntry
from sottovoce.aggregator.storage.releases import ReleaseTables


class ReadableReports(Protocol):
    """The part of ``Storage`` that files and joint results read; nothing in it writes."""

    @property
    def journal(self) -> Journal | None:
        """What staff did; None where nobody did anything."""

    @property
    def drafts(self) -> DraftTables | None:
        """Drafts, and for how many people surveys are planned; None where nothing was."""

    @property
    def releases(self) -> ReleaseTables | None:
        """Ledgers of budgets; None where nothing can be published."""

    def record(self) -> list[SurveyLogEntry]:
        """What is remembered for good of each survey."""

    def changed_since_close(self, name: str, less_than: int | None = None) -> int:
        """
        Of how many cells there is something else than the first close showed.

        Args:
            name: the survey's.
            less_than: only cells that have grown by fewer reports than these since; None for all.
        """

    def packed_by_wave(self, survey: int) -> Iterator[list[tuple[int, bytes]]]:
        """(wave, packed values) of every report, many at a time."""
