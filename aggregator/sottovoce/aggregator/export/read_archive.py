"""Read an exported folder, or counts typed into a table, and estimate as a server does after the close, without one.

survey.json or survey.yaml   the newest revision; survey-N.json the earlier ones, if any
reports.csv or .parquet      header = names of questions; a cell is the reported whole number, empty where not asked;
                             plus ``wave`` and ``revision`` (``_wave`` if a question has that name)
counts.csv                   in place of reports, counts such as those of a survey on paper

Values are checked as strictly as an aggregator checks reports. Error messages name the line and the column, never the
value, because it may be an answer. Rare public answers, which a file leaves out as ``few``, are one more answer in the
denominator of shares.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.report_columns import Columns, place_in
from sottovoce.aggregator.analysis.selection import asked_only
from sottovoce.aggregator.analysis.shown_columns import ReportColumns, as_columns
from sottovoce.aggregator.estimators import DEFAULT_RULE, IntervalRule
from sottovoce.aggregator.export.read_reports import Expected, read_reports
from sottovoce.aggregator.file_formats.provenance import INVENTED, MANIFEST
from sottovoce.aggregator.file_formats.table_source import open_table
from sottovoce.aggregator.storage import Cell
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.reports.batch_columns import is_null, tally
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Survey

SURVEYS = ("survey.json", "survey.yaml", "survey.yml")
REPORTS = ("reports-with-public.csv", "reports-with-public.parquet", "reports.csv", "reports.parquet")
"""Names of report files in order of preference; the first existing one is read."""

_EARLIER = re.compile(r"survey-([1-9][0-9]{0,8})\.json")

COUNTS = "counts.csv"
HEADER = ("question", "answer", "value", "sheets")
"""Columns of the table: ``value`` is what a report would carry, ``sheets`` how many sheets have it."""


@dataclass(frozen=True)
class Archive:
    """Content of an exported folder: the reports, and all revisions of their survey by number."""

    reports: ReportColumns
    surveys: Mapping[int, Survey]

    @property
    def survey(self) -> Survey:
        """Newest revision of the survey."""
        return self.surveys[max(self.surveys)]


def read_folder(path: Path) -> Archive:
    """Read the survey and the reports in a folder.

    Raises SpecError, which says where, if the folder or a file is missing, or a file is invalid.
    """
    if not path.is_dir():
        raise SpecError(f'there is no such folder: "{path}"')
    # Folders of real reports in this form have no manifest, those of a simulation have.
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
        if isinstance(found, dict) and found.get("rehearsal") is True:
            raise SpecError(f"{MANIFEST}: {INVENTED}")
    survey = read_survey(path)
    surveys = _earlier(path, survey) | {survey.revision: survey}
    file = next((path / name for name in REPORTS if (path / name).is_file()), None)
    if file is None:
        raise SpecError("the folder has neither reports.csv nor reports.parquet")
    return Archive(read_reports(file, Expected(survey, surveys)), surveys)


def read_survey(path: Path) -> Survey:
    """Return the survey of a folder; raise SpecError if there is none, or two."""
    found = [read_survey_file(path / name) for name in SURVEYS if (path / name).is_file()]
    if not found:
        raise SpecError("the folder has neither survey.json nor survey.yaml")
    # If both files exist, they must agree: there is no way to tell which one the reports answer.
    if len({survey.digest for survey in found}) > 1:
        raise SpecError("survey.json and survey.yaml are two different surveys")
    return found[0]


def _earlier(path: Path, newest: Survey) -> dict[int, Survey]:
    found = {}
    for file in sorted(path.iterdir()):
        named = _EARLIER.fullmatch(file.name)
        if named:
            survey = read_survey_file(file)
            if (survey.name, survey.revision) != (newest.name, int(named[1])) or survey.revision >= newest.revision:
                raise SpecError(f"{file.name} is not an earlier revision of the folder's survey")
            found[survey.revision] = survey
    return found


def is_archive(path: Path) -> bool:
    """Say whether a folder has a survey file, as folders of exported files do."""
    return any((path / name).is_file() for name in SURVEYS)


def results_of_archive(archive: Archive, rule: IntervalRule = DEFAULT_RULE, wave: int | None = None) -> SurveyResults:
    """Count and estimate the reports of a folder, of one wave or all (None), for all respondents together.

    Raises EstimateError if the survey has no such wave.
    """
    read = as_columns(archive.reports, archive.surveys)
    columns, asked = asked_only(read.with_few(read.few))
    # A mean would need the numbers that are left out.
    values = {name: each for name, each in columns.values.items() if name not in read.few_numbers}
    revisions = [_revision(replace(columns, values=values), number, asked) for number in range(len(columns.revisions))]
    return analyse(revisions, None, rule.method, wave, rule.confidence)


def _revision(columns: Columns, number: int, asked: frozenset[str]) -> RevisionCounts:
    inside = columns.revision == number
    waves = np.unique(columns.wave[inside]).tolist()
    cells = [_cell(columns, columns.revisions[number], inside & (columns.wave == wave), wave, asked) for wave in waves]
    return RevisionCounts.closed_with(columns.revisions[number], int(inside.sum()), cells, number, asked=asked)


def _cell(columns: Columns, survey: Survey, inside: np.ndarray, wave: int, asked: frozenset[str]) -> Cell:
    tallies = {}
    for question in columns.survey.questions:
        place = place_in(survey, question)
        if place is not None and question.name in columns.values:
            values = columns.values[question.name][inside]
            values = values[~is_null(values)]
            # Files of former releases left rare public answers empty: the others estimate no share of all.
            whole = question.mechanism is not None or len(values) == inside.sum() or share_asked(survey, place) < 1
            whole = whole or question.name in asked
            tallies[place] = tally(values, survey.masks.get(place, 0), None) if whole else {}
    return Cell(wave, ALL, int(inside.sum()), 0, tallies)


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
    counts = RevisionCounts.closed_with(survey, people, [Cell(0, ALL, people, 0, tallies)])
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
