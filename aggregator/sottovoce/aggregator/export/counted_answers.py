"""Results of counts that were typed into a table, such as those of a survey on paper."""

from collections.abc import Iterator
from pathlib import Path

from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.estimators import DEFAULT_RULE, IntervalRule
from sottovoce.aggregator.export.archive_results import results_of_archive
from sottovoce.aggregator.export.read_archive import read_folder, read_survey
from sottovoce.aggregator.file_formats.table_source import open_table
from sottovoce.aggregator.storage import Cell, StoredSurvey
from sottovoce.aggregator.storage.models import ALL
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Survey

COUNTS = "counts.csv"
HEADER = ("question", "answer", "value", "sheets")
"""Columns of the table: ``value`` is what a report would carry, ``sheets`` how many sheets have it."""


def results_of_folder(path: Path, rule: IntervalRule = DEFAULT_RULE, wave: int | None = None) -> SurveyResults:
    """Estimate the reports of a folder, or the counts in its ``counts.csv`` if it has one.

    ``wave`` is the only wave to estimate, None for all; counts have none. Raises SpecError, which says where, if a file
    is missing or invalid.
    """
    if not (path / COUNTS).is_file():
        return results_of_archive(read_folder(path), rule, wave)
    survey = read_survey(path)
    tallies = _read_counts(path / COUNTS, survey)
    people = max((sum(tally.values()) for tally in tallies.values()), default=0)
    stored = StoredSurvey(0, survey.name, survey.revision, survey.digest, survey.canonical, closed=True, reports=people)
    counts = RevisionCounts(stored, survey, (Cell(0, ALL, people, 0, tallies),))
    return analyse([counts], None, rule.method, wave, rule.confidence)


def _read_counts(file: Path, survey: Survey) -> dict[int, dict[int, int]]:
    places = {question.name: place for place, question in enumerate(survey.questions)}
    tallies: dict[int, dict[int, int]] = {}
    for where, row in _rows(file):
        place, value, sheets = places.get(row["question"]), row["value"], row["sheets"].strip()
        known = place is not None and value.isascii() and value.isdecimal() and len(value) < 16
        if not known or not survey.questions[place or 0].admits(int(value)):
            raise SpecError(f"{where}: names a question or a value that the survey does not have")
        if sheets and not (sheets.isascii() and sheets.isdecimal() and len(sheets) < 10):
            raise SpecError(f"{where}, column 'sheets': must be a whole number, or empty for none")
        tally = tallies.setdefault(place or 0, {})
        tally[int(value)] = tally.get(int(value), 0) + int(sheets or 0)
    return tallies


def _rows(file: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the place and the cells of each line that is not blank."""
    with open_table(file, skip_blank=True) as source:
        if not {"question", "value", "sheets"} <= {*source.names}:
            raise SpecError(f"{source.header}: the columns must be {', '.join(HEADER)}")
        for lines, block in source.columns(source.names):
            for line, *row in zip(lines, *(cells.rows for cells in block), strict=True):
                yield f"{source.row} {line}", dict(zip(source.names, row, strict=True))
