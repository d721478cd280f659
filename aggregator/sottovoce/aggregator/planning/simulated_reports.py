"""Simulate reports in memory, for the same functions that make files and joint results of real reports.

They are never stored in a database: these objects have no method to write.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.estimates import RevisionCounts
from sottovoce.aggregator.analysis.report_columns import Columns, read_columns
from sottovoce.aggregator.planning.block_batch import simulate_survey
from sottovoce.aggregator.planning.simulated_arms import asked_in_simulation
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, Values
from sottovoce.aggregator.storage import Cell, StoredSurvey
from sottovoce.aggregator.storage.hash_chain import SurveyLogEntry
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.pack_values import LETTERS, null
from sottovoce.aggregator.storage.reports.batch_columns import cut, tallies
from sottovoce.shared.spec import Survey

_KEY = 0


@dataclass(frozen=True)
class InventedReports:
    """Simulated reports of a closed survey in its first wave; implements ``storage.report_reader.ReadableReports``.

    ``numbers`` are reported values, unsigned and of one width, shape (reports, questions); all bits set where not
    asked.
    """

    survey: Survey
    numbers: NDArray[Any]
    journal: None = None
    drafts: None = None
    releases: None = None

    def record(self) -> list[SurveyLogEntry]:
        """Return an empty survey log."""
        return []

    def changed_since_shown(self, name: str, wave: int | None = None) -> int:  # noqa: ARG002 - interface of storage
        """Return 0: simulated reports never change after the close."""
        return 0

    def packed_by_wave(self, survey: int) -> Iterator[list[tuple[int, bytes]]]:  # noqa: ARG002 - there is only one
        """Yield (wave, packed values) of all reports, in the form that a database returns."""
        width = self.numbers.itemsize
        # Big-endian with a leading width byte, as ``pack_values`` stores rows.
        values = np.ascontiguousarray(self.numbers, dtype=f">u{width}").view(np.uint8)
        packed = np.column_stack([np.full(len(values), width, np.uint8), values])
        yield [(0, row) for row in cut(packed.tobytes(), packed.shape[1])]

    @cached_property
    def revision(self) -> RevisionCounts:
        """Only revision, closed, with its published counts."""
        survey = self.survey
        count = len(self.numbers)
        stored = StoredSurvey(_KEY, survey.name, survey.revision, survey.digest, survey.canonical, True, count)
        return RevisionCounts(stored, survey, tuple(self._cells()))

    @property
    def columns(self) -> Columns:
        """Reports as columns, the input of joint results."""
        return read_columns(self, [self.revision.stored])

    def _cells(self) -> Iterator[Cell]:
        yield self._cell(ALL, self.numbers)
        if self.survey.cohort is not None:
            cohorts = self.numbers[:, self.survey.cohort]
            for cohort in np.unique(cohorts).tolist():
                yield self._cell(cohort, self.numbers[cohorts == cohort])

    def _cell(self, cohort: int, numbers: NDArray[Any]) -> Cell:
        counts: dict[int, dict[int, int]] = {}
        for _, question, value, count in tallies(numbers, self.survey.masks).tolist():
            counts.setdefault(question, {})[value] = count
        return Cell(0, cohort, len(numbers), 0, counts)


def reports_of(survey: Survey, truths: Sequence[Values], draws: BatchDraws) -> InventedReports:
    """Simulate the reports of respondents with these true values, on the questions that each device draws."""
    count = len(truths[0])
    width = next(width for width in LETTERS if max(question.largest for question in survey.questions) < null(width))
    numbers = np.full((count, len(survey.questions)), null(width), dtype=f"u{width}")
    asked = asked_in_simulation(survey, truths, draws)
    reported = simulate_survey(survey, truths, asked, draws)
    for index, (asks, values) in enumerate(zip(asked, reported, strict=True)):
        numbers[asks, index] = values
    return InventedReports(survey, numbers)
