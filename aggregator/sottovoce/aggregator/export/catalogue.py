"""The closed list of files: by its name, how each is written and whether it holds reports."""

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
from sottovoce.aggregator.analysis.shown_columns import ReportColumns, read_reports
from sottovoce.aggregator.curator.data.released_tables import released_document, write_released_csv, write_released_json
from sottovoce.aggregator.curator.data.survey_source import WITHHELD, opened_last, survey_declaration
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
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.storage.report_reader import ReadableReports
from sottovoce.shared.errors import StorageError


@dataclass(frozen=True)
class Source:
    """
    What files of one survey are written from; reports are read once, when a file needs them.

    Attributes:
        storage: the database, or reports that were invented.
        revisions: all of the survey, oldest first.
        now: the present moment, which says what is closed.
        wave: of whose reports the files are; None for all.
        set_up: how reports were invented; None of real ones.
    """

    storage: ReadableReports
    revisions: Sequence[RevisionCounts]
    now: datetime
    wave: int | None = None
    set_up: Mapping[str, Any] | None = None

    @cached_property
    def about(self) -> About:
        """What every file says of itself."""
        return About.of(self.revisions[-1].survey, self.set_up is not None)

    @cached_property
    def reports(self) -> ReportColumns:
        """
        Private answers and the coarsened cohort.

        Raises:
            EstimateError: they may still be joined by others, or there are none.
        """
        return self._reports(public=False)

    @cached_property
    def reports_with_public(self) -> ReportColumns:
        """
        The same with all public answers.

        Raises:
            StorageError: they are published under a budget; exact ones beside it would undo its noise.
        """
        self.check_not_released()
        return self._reports(public=True)

    def check_not_released(self) -> None:
        """
        Refuse, before files of public answers are made, where they are published under a budget.

        Raises:
            StorageError: they are; exact ones beside it would undo its noise.
        """
        if self.released:
            raise StorageError(WITHHELD)

    @property
    def released(self) -> bool:
        """Whether public answers are published under a budget."""
        return self.revisions[-1].released

    def _reports(self, public: bool) -> ReportColumns:
        check_closed(self.storage, [each.stored for each in self.revisions], self.wave, self.now)
        return read_reports(self.storage, self.revisions, self.wave, public)

    @cached_property
    def released_tables(self) -> dict[str, Any]:
        """
        What was published of public answers under the survey's budget, as JSON.

        Raises:
            StorageError: there is no budget, or its ledger was changed.
        """
        if self.storage.releases is None or not self.released:
            raise StorageError("the survey has no budget, so that nothing was published of its public answers")
        lines = b"".join(self.storage.releases.lines(self.about.survey.name))
        declared = survey_declaration(opened_last(self.revisions, lines)[-1].survey)
        return released_document(lines, declared, self.about)

    @cached_property
    def channels(self) -> list[Channel]:
        """Of all questions."""
        return channels_of(self.revisions, [question.name for question in self.about.survey.questions])

    def channels_in(self, reports: ReportColumns) -> list[Channel]:
        """Of the questions in a file of reports."""
        return [channel for channel in self.channels if channel.question.name in reports.columns]

    @property
    def randomizing(self) -> list[Channel]:
        """Of what is decoded: a public answer is not, and the cohort in the file is not everybody's."""
        return [channel for channel in self.channels if channel.mechanism is not None]

    @property
    def plan(self) -> PlannedSize:
        """For how many people the survey is planned, as far as that was said."""
        tables = self.storage.drafts
        return PlannedSize() if tables is None else tables.plan(self.about.survey.name)

    @property
    def count(self) -> int:
        """Reports that are shown."""
        return analyse(self.revisions, wave=self.wave).reports


Write = Callable[[Source, Path], None]


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
        told = "".join(f"# {line}\n" for line in source.about.lines)
        script = files("sottovoce.aggregator.export.scripts").joinpath(name).read_text(encoding="utf-8")
        path.write_text(told + script, encoding="utf-8")

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
"""Of closed surveys and closed waves."""

WITH_PUBLIC: dict[str, Write] = {
    "reports-with-public.csv": lambda source, path: write_reports_csv(path, source.reports_with_public, source.about),
    "reports-with-public.parquet": lambda s, path: write_reports_parquet(path, s.reports_with_public, s.about),
    "reports-with-public.sav": _statistics_with_public,
    "reports-with-public.dta": _statistics_with_public,
}
"""Nothing shields public answers: never among the others, and only after it was said how many people stand alone."""

AT_ANY_TIME: dict[str, Write] = {
    "export.json": _export,
    "estimates.csv": lambda s, path: estimates.write_estimates_csv(path, s.revisions, s.about, s.wave),
    "estimates.xlsx": lambda s, path: estimates.write_estimates_xlsx(path, s.revisions, s.about, s.wave),
    "codebook.html": lambda source, path: write_codebook(path, source.channels, source.about),
    "ddi.xml": lambda source, path: write_ddi(path, source.channels, source.count, source.about),
    "survey.yaml": lambda source, path: survey_files.write_survey_yaml(path, source.about),
    "survey.json": lambda source, path: survey_files.write_survey_json(path, source.about),
    "preregistration.json": lambda s, path: survey_files.write_preregistration(path, s.revisions, s.about, s.plan),
    "methods.md": _methods,
    "channels.csv": _channels,
    "scores.csv": _scores,
    "analysis.py": _script("analysis.py"),
    "analysis.R": _script("analysis.R"),
}
"""Of texts and shown counts."""

RELEASED: dict[str, Write] = {
    "public-tables.json": lambda source, path: write_released_json(path, source.released_tables, source.about),
    "public-tables.csv": lambda source, path: write_released_csv(path, source.released_tables, source.about),
}
"""Of surveys whose public answers are published under a budget: what was drawn so far."""

SINGLE: dict[str, Write] = AT_ANY_TIME | OF_REPORTS | WITH_PUBLIC | RELEASED


def together(source: Source) -> Iterator[tuple[str, Write]]:
    """All files that stand in one folder, public answers apart; with each earlier revision that was asked."""
    yield from (AT_ANY_TIME | OF_REPORTS | (RELEASED if source.released else {})).items()
    for revision in source.revisions[:-1]:
        survey = revision.survey
        yield f"survey-{survey.revision}.json", _earlier(revision)


def _earlier(revision: RevisionCounts) -> Write:
    return lambda _, path: survey_files.write_survey_json(path, About.of(revision.survey))
