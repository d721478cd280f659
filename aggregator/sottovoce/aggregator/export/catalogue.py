"""Catalogue of export files: how each is written, and which ones contain reports or public answers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from sottovoce.aggregator.analysis.availability import check_closed
from sottovoce.aggregator.analysis.estimates import RevisionCounts, analyse
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.analysis.shown_columns import ReportColumns, file_questions, read_reports
from sottovoce.aggregator.curator.data.released_tables import released_document, write_released_csv, write_released_json
from sottovoce.aggregator.curator.data.survey_source import EXACT_TABLES_SUPPRESSED, declared_at_opening
from sottovoce.aggregator.export import estimates, survey_files
from sottovoce.aggregator.export.channels import (
    CHANNEL_COLUMNS,
    SCORE_COLUMNS,
    Channel,
    channel_rows,
    channels_of,
    score_rows,
)
from sottovoce.aggregator.export.codebook import write_codebook
from sottovoce.aggregator.export.ddi import write_ddi
from sottovoce.aggregator.export.methods import write_methods
from sottovoce.aggregator.export.statistics_files import write_statistics_file
from sottovoce.aggregator.export.tables import write_reports_csv, write_reports_parquet
from sottovoce.aggregator.file_formats.csv_cells import write_csv
from sottovoce.aggregator.file_formats.json_text import json_text, marked
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.institution import Institution
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.storage.report_reader import ReadableReports
from sottovoce.shared.errors import StorageError


@dataclass(frozen=True)
class Source:
    """Data source of the files of one survey; reports are read once, when a file needs them.

    Attributes:
        storage: the database, or simulated reports.
        revisions: all revisions of the survey, oldest first.
        now: the current time, which determines what is closed.
        wave: wave of the reports in the files; None for all.
        set_up: settings of a simulation; None for real reports.
        institution: that the codebook names.
    """

    storage: ReadableReports
    revisions: Sequence[RevisionCounts]
    now: datetime
    wave: int | None = None
    set_up: Mapping[str, Any] | None = None
    institution: Institution = Institution()

    @cached_property
    def about(self) -> About:
        """Provenance that every file states."""
        return About.of(self.revisions[-1].survey, self.set_up is not None)

    @cached_property
    def reports(self) -> ReportColumns:
        """Reports with private questions and the coarsened cohort.

        Raises:
            EstimateError: the survey or wave is not closed, or there are no reports.
        """
        return self._reports(public=False)

    @cached_property
    def reports_with_public(self) -> ReportColumns:
        """Reports with private questions and all public answers.

        Raises:
            EstimateError: the survey or wave is not closed, or there are no reports.
            StorageError: public answers are published under a budget; exact ones would undo its noise.
        """
        # Exact answers next to noisy tables would undo the noise.
        self.check_not_released()
        return self._reports(public=True)

    def check_not_released(self) -> None:
        """Refuse files of public answers if these are published under a budget.

        Raises:
            StorageError: they are; exact ones would undo the noise.
        """
        if self.released:
            raise StorageError(EXACT_TABLES_SUPPRESSED)

    @property
    def released(self) -> bool:
        """True if public answers are published under a budget."""
        return self.revisions[-1].released

    @property
    def has_tables(self) -> bool:
        """True if there is a ledger of published tables; a database older than its budget has none."""
        return self.storage.releases is not None and self.storage.releases.has_ledger(self.about.survey.name)

    def _reports(self, public: bool) -> ReportColumns:
        check_closed(self.storage, [each.stored for each in self.revisions], self.wave, self.now)
        return read_reports(self.storage, self.revisions, self.wave, public)

    @cached_property
    def released_tables(self) -> dict[str, Any]:
        """Tables of public answers published so far under the survey's budget, as a JSON document.

        Raises:
            StorageError: there is no budget, or its ledger was changed.
        """
        if self.storage.releases is None or not self.has_tables:
            raise StorageError("the survey has no budget, so that nothing was published of its public answers")
        lines = b"".join(self.storage.releases.lines(self.about.survey.name))
        return released_document(lines, declared_at_opening(self.revisions, lines)[1], self.about)

    @cached_property
    def channels(self) -> list[Channel]:
        """Channels of all questions of the newest revision."""
        return channels_of(self.revisions, [question.name for question in self.about.survey.questions])

    def channels_in(self, reports: ReportColumns) -> list[Channel]:
        """Return the channels of the questions in a file of reports."""
        return [channel for channel in self.channels if channel.question.name in reports.columns]

    @property
    def randomizing(self) -> list[Channel]:
        """Channels of randomized questions, the only ones that an analyst must decode."""
        return [channel for channel in self.channels if channel.mechanism is not None]

    @property
    def plan(self) -> PlannedSize:
        """Planned sample size, as far as the researcher entered it."""
        tables = self.storage.drafts
        return PlannedSize() if tables is None else tables.plan(self.about.survey.name)

    @property
    def count(self) -> int:
        """Number of published reports of the wave, or of all waves."""
        return analyse(self.revisions, wave=self.wave).reports


Write = Callable[[Source, Path], object]


def _statistics(source: Source, path: Path) -> None:
    write_statistics_file(path, source.reports, source.channels_in(source.reports), source.about)


def _statistics_with_public(source: Source, path: Path) -> None:
    reports = source.reports_with_public
    write_statistics_file(path, reports, source.channels_in(reports), source.about)


def _channels(source: Source, path: Path) -> None:
    write_csv(path, source.about, CHANNEL_COLUMNS, channel_rows(source.randomizing))


def _scores(source: Source, path: Path) -> None:
    write_csv(path, source.about, SCORE_COLUMNS, score_rows(source.randomizing))


def _script(name: str) -> Write:
    def write(source: Source, path: Path) -> None:
        header = "".join(f"# {line}\n" for line in source.about.lines)
        script = files("sottovoce.aggregator.export.scripts").joinpath(name).read_text(encoding="utf-8")
        path.write_text(header + script, encoding="utf-8")

    return write


def _export(source: Source, path: Path) -> None:
    journal = source.storage.journal
    document = export_document(analyse(source.revisions, wave=source.wave), None if journal is None else journal.head())
    path.write_text(json_text(marked(document, source.about)), encoding="utf-8")


def _methods(source: Source, path: Path) -> None:
    write_methods(path, analyse(source.revisions, wave=source.wave), source.about)


OF_REPORTS: dict[str, Write] = {
    "reports.csv": lambda source, path: write_reports_csv(path, source.reports, source.about),
    "reports.parquet": lambda source, path: write_reports_parquet(path, source.reports, source.about),
    "reports.sav": _statistics,
    "reports.dta": _statistics,
}
"""Files of reports, for closed surveys and closed waves."""

WITH_PUBLIC: dict[str, Write] = {
    "reports-with-public.csv": lambda source, path: write_reports_csv(path, source.reports_with_public, source.about),
    "reports-with-public.parquet": lambda s, path: write_reports_parquet(path, s.reports_with_public, s.about),
    "reports-with-public.sav": _statistics_with_public,
    "reports-with-public.dta": _statistics_with_public,
}
"""
Files with exact public answers, which no noise protects.

They are never part of an archive, and the researcher first sees how many respondents are unique.
"""


def _codebook(source: Source, path: Path) -> None:
    results = analyse(source.revisions, wave=source.wave)
    write_codebook(path, source.channels, source.about, results, source.institution)


AT_ANY_TIME: dict[str, Write] = {
    "export.json": _export,
    "estimates.csv": lambda s, path: estimates.write_estimates_csv(path, s.revisions, s.about, s.wave),
    "estimates.xlsx": lambda s, path: estimates.write_estimates_xlsx(path, s.revisions, s.about, s.wave),
    "codebook.html": _codebook,
    "ddi.xml": lambda s, path: write_ddi(path, s.channels, file_questions(s.revisions[-1]), s.count, s.about),
    "survey.yaml": lambda source, path: survey_files.write_survey_yaml(path, source.about),
    "survey.json": lambda source, path: survey_files.write_survey_json(path, source.about),
    "preregistration.json": lambda s, path: survey_files.write_preregistration(path, s.revisions, s.about, s.plan),
    "methods.md": _methods,
    "channels.csv": _channels,
    "scores.csv": _scores,
    "analysis.py": _script("analysis.py"),
    "analysis.R": _script("analysis.R"),
}
"""Files of texts and published counts, available at any time."""

RELEASED: dict[str, Write] = {
    "public-tables.json": lambda source, path: write_released_json(path, source.released_tables, source.about),
    "public-tables.csv": lambda source, path: write_released_csv(path, source.released_tables, source.about),
}
"""Files for surveys whose public answers are published under a budget: the noisy tables so far."""

SINGLE: dict[str, Write] = AT_ANY_TIME | OF_REPORTS | WITH_PUBLIC | RELEASED


def together(source: Source) -> Iterator[tuple[str, Write]]:
    """Yield all files of an archive, without exact public answers, and the survey file of each earlier revision."""
    yield from (AT_ANY_TIME | OF_REPORTS | (RELEASED if source.has_tables else {})).items()
    for revision in source.revisions[:-1]:
        survey = revision.survey
        yield f"survey-{survey.revision}.json", _earlier(revision)


def _earlier(revision: RevisionCounts) -> Write:
    return lambda _, path: survey_files.write_survey_json(path, About.of(revision.survey))
