"""Define how reports of closed surveys are read, from a database or simulated ones."""

from collections.abc import Iterator
from typing import Protocol

from sottovoce.aggregator.storage.audit_log.audit_log import Journal
from sottovoce.aggregator.storage.drafts import DraftTables
from sottovoce.aggregator.storage.hash_chain import SurveyLogEntry
from sottovoce.aggregator.storage.releases import ReleaseTables


class ReadableReports(Protocol):
    """Read-only part of ``Storage`` that exports and joint analyses use."""

    @property
    def journal(self) -> Journal | None:
        """Audit log of staff; None for simulated reports."""

    @property
    def drafts(self) -> DraftTables | None:
        """Drafts and planned sizes of surveys; None for simulated reports."""

    @property
    def releases(self) -> ReleaseTables | None:
        """Ledgers of privacy budgets; None for simulated reports."""

    def record(self) -> list[SurveyLogEntry]:
        """Return the lines of the permanent survey log."""

    def changed_since_shown(self, name: str, wave: int | None = None) -> int:
        """Return the number of cells, of all waves or of one, whose reports are not those that are shown."""

    def packed_by_wave(self, survey: int) -> Iterator[list[tuple[int, bytes]]]:
        """Yield (wave, packed values) of every report, in chunks."""
