"""Read an exported folder, or counts typed into a table, and estimate as a server does after the close, without one.

survey.json or survey.yaml   the newest revision; survey-N.json the earlier ones, if any
reports.csv or .parquet      header = names of questions; a cell is the reported whole number, empty where not asked;
                             plus ``wave`` and ``revision`` (``_wave`` if a question has that name)
counts.csv                   in place of reports, counts such as those of a survey on paper

Values are checked as strictly as an aggregator checks reports. Error messages name the line and the column, never the
value, because it may be an answer. Rare public answers, which a file leaves out as ``few``, are one more answer in the
denominator of shares.

Reports, in CSV or Parquet, are read in blocks, and validated: header, provenance, possible values, and the number of
questions asked in each row.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.availability import FEW
from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.report_columns import Columns, place_in
from sottovoce.aggregator.analysis.selection import asked_only
from sottovoce.aggregator.analysis.shown_columns import ReportColumns, ReportedColumn, as_columns, column_type
from sottovoce.aggregator.estimators import DEFAULT_RULE, IntervalRule
from sottovoce.aggregator.export.tables import REVISION, WAVE, extra_name, step_of, unit_grid, values_in_words
from sottovoce.aggregator.file_formats.cell_columns import CodedCells
from sottovoce.aggregator.file_formats.provenance import INVENTED, MANIFEST, SIMULATED, SIMULATED_BEFORE
from sottovoce.aggregator.file_formats.table_source import TableSource, check_names, open_table
from sottovoce.aggregator.storage import Cell
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.pack_values import few, null
from sottovoce.aggregator.storage.reports.batch_columns import is_null, tally
from sottovoce.aggregator.surveys.lifecycle import same_question
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.shared.answers import Grid
from sottovoce.shared.arms.arms import ARM, asked_of, share_asked
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Question, Survey

Values = NDArray[np.int64]
"""Values as read; -1 where not asked, ``LEFT_OUT`` for a rare answer."""

LEFT_OUT = -2

NEVER_FEW = "only public answers are left out of a file as few; a report of a randomized question is a number"

RowBlock = Mapping[str, Values]
"""Values of some rows, by column name."""

_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")

_WHOLE = re.compile(r"[0-9]{1,16}")
_MOST_REMEMBERED = 1 << 16


@dataclass(frozen=True)
class Expected:
    """Validation rules for a file of reports: the newest revision of the survey, and all revisions by number."""

    survey: Survey
    surveys: Mapping[int, Survey]

    @cached_property
    def questions(self) -> dict[str, Question]:
        """Questions of the newest revision by name."""
        return {question.name: question for question in self.survey.questions}

    @property
    def wave(self) -> str:
        """Name of the column of waves."""
        return extra_name("wave", self.questions)

    @property
    def revision(self) -> str:
        """Name of the column of revisions."""
        return extra_name("revision", self.questions)

    def grids(self, header: Sequence[str]) -> dict[str, Grid]:
        """Return the grids of the columns that are in a question's own unit in a file with this header."""
        # Files written before release 0.4.0 have these columns, and steps for numbers.
        if {"wave", "revision"} & {*header} - self.questions.keys():
            return {}
        return {name: grid for name, question in self.questions.items() if (grid := unit_grid(question)) is not None}

    def plain_header(self, names: Sequence[str]) -> list[str]:
        """Return the header with the names of former releases for the additional columns."""
        former = {WAVE: self.wave, REVISION: self.revision}
        return [former.get(name, name) for name in names]

    def check_digest(self, provenance: str, place: str) -> None:
        """Refuse a file whose provenance names another survey or a simulation; ``place`` is for messages.

        Raises SpecError if the text names another digest or a simulation.
        """
        if SIMULATED in provenance or SIMULATED_BEFORE in provenance:
            raise SpecError(f"{place}: {INVENTED}")
        named = _DIGEST.search(provenance)
        if named and named[0] not in {survey.digest for survey in self.surveys.values()}:
            raise SpecError(
                f"{place}: these are reports of another survey: the digest differs from the survey file's digest"
            )

    def check_header(self, names: Sequence[str], place: str) -> None:
        """Check the header of a file. Messages never repeat its names, because it may be a row of answers.

        Raises SpecError if a column is unknown, repeated or missing.
        """
        known = {*self.questions, self.wave, self.revision}
        check_names(names, known, place, "no question of the survey has this name")
        for name, question in self.questions.items():
            if question.mechanism is not None and name not in names:
                raise SpecError(f"{place}: the column of the question '{name}' is missing")
        if self.wave not in names and len(self.survey.waves) > 1:
            raise SpecError(f"{place}: the column '{self.wave}' is missing, and the survey has several waves")
        if self.revision not in names and len(self.surveys) > 1:
            raise SpecError(f"{place}: the column '{self.revision}' is missing, and the survey has several revisions")

    def checked(self, block: RowBlock, first: int, row: str) -> ReportColumns:
        """Validate rows; return the columns in their narrow types.

        Args:
            block: rows as read, with a column for each name of the header.
            first: number of the first row in the file.
            row: prefix of a row number in messages, such as "reports.csv, line".

        Raises:
            SpecError: a value is impossible; the message names its row and column.
        """
        count = len(next(iter(block.values())))
        revision = block.get(self.revision, np.full(count, self.survey.revision))
        self._refuse(
            ~np.isin(revision, list(self.surveys)), first, row, self.revision, "the folder has no such revision"
        )
        wave = block.get(self.wave, np.zeros(count, dtype=np.int64))
        columns = {name: block[name] for name in self.questions if name in block}
        for name, values in columns.items():
            if self.questions[name].mechanism is not None:
                self._refuse(values == LEFT_OUT, first, row, name, NEVER_FEW)
        for number in np.unique(revision).tolist():
            inside, survey = revision == number, self.surveys[number]
            late = inside & ((wave < 0) | (wave >= len(survey.waves)))
            self._refuse(late, first, row, self.wave, f"must be 0 to {len(survey.waves) - 1}, the number of a wave")
            for name, values in columns.items():
                self._check_values(name, np.where(inside, values, -1), survey, first, row)
            if number == self.survey.revision:
                self._check_asked(columns, inside, first, row)
        narrow = {name: self._narrow(name, values) for name, values in columns.items()}
        return ReportColumns(narrow, wave.astype(np.uint16), revision.astype(np.uint32))

    def _check_values(self, name: str, values: Values, survey: Survey, first: int, row: str) -> None:
        """Check the values of a question in one revision: it must ask the question, and its mechanism admit them."""
        question = next((each for each in survey.questions if same_question(each, self.questions[name])), None)
        different = np.unique(values[values >= 0]).tolist()
        wrong = [value for value in different if question is None or not question.admits(value)]
        if wrong:
            largest = None if question is None else question.largest
            reason = "its revision does not ask this" if question is None else _allowed(question, largest or 0)
            self._refuse(np.isin(values, wrong), first, row, name, reason)

    def _check_asked(self, columns: dict[str, Values], inside: NDArray[np.bool_], first: int, row: str) -> None:
        """Check that each row has just the private questions that its device may have asked; a tiny arm is hidden.

        0.4.0 left arms empty beside rare answers. Where the questions that a row has tell its arm, it is filled in.
        """
        survey, fits = self.survey, list[NDArray[np.bool_]]()
        held = {index: columns[survey.questions[index].name] >= 0 for index in survey.private}
        for arm, units in enumerate(survey.units_by_arm):
            rows = inside
            if survey.arms:
                rows = inside & (columns[ARM] == arm) if ARM in columns else np.zeros_like(inside)
            others = [index for unit in {*survey.units}.difference(units) for index in unit]
            for index in others:
                name, reason = survey.questions[index].name, "the arm of the row does not ask this"
                self._refuse(rows & held[index], first, row, name, reason)
            there = [(np.sum([held[index] for index in unit], axis=0), survey.asked_by_unit[unit]) for unit in units]
            asked = np.sum([number == whole for number, whole in there], axis=0)
            begun = np.sum([number > 0 for number, _ in there], axis=0)
            # Each device answers exactly this many private questions, so other rows are forged or damaged. A file
            # leaves out what people were never asked.
            expected, names = asked_of(survey, units), survey.questions
            hidden = [number == 0 for unit, (number, _) in zip(units, there, strict=True)
                      if names[next(iter(unit))].name in survey.conditional]  # fmt: skip
            wrong = (asked != begun) | (asked > expected) | (asked + np.sum(hidden, axis=0) < expected)
            fits.append(inside & ~(wrong | np.any([held[index] for index in others], axis=0)))
            if (rows & wrong).any():
                at = first + int(np.argmax(rows & wrong))
                message = f"must have a value for {expected} of the {len(there)} private questions"
                raise SpecError(
                    f"{row} {at}: {message}{', a block as one with all that it asks' if survey.blocks else ''}"
                )
        if survey.arms and ARM in columns:
            told = (columns[ARM] == -1) & (np.sum(fits, axis=0) == 1)
            columns[ARM] = np.where(told, np.argmax(fits, axis=0), columns[ARM])

    def _narrow(self, name: str, values: Values) -> ReportedColumn:
        asked = [question for survey in self.surveys.values() for question in survey.questions]
        kind = column_type(self.questions[name], asked)
        known = np.where(values < 0, null(kind.itemsize), values.astype(np.uint64))
        return np.where(values == LEFT_OUT, few(kind.itemsize), known).astype(kind)

    @staticmethod
    def _refuse(wrong: NDArray[np.bool_], first: int, row: str, column: str, reason: str) -> None:
        if wrong.any():
            raise SpecError(f"{row} {first + int(np.argmax(wrong))}, column '{column}': {reason}")


def _allowed(question: Question, largest: int) -> str:
    if all(map(question.admits, (0, largest))) and question.mechanism is None:
        return f"must be 0 to {largest}, the number of an answer"
    return f"is out of range: no report of this question can be it (0 to {largest}, as its mechanism has them)"


def read_reports(path: Path, expected: Expected) -> ReportColumns:
    """Read the reports in a file of CSV or Parquet, by the validation rules ``expected`` of the survey.

    Raises:
        SpecError: the file is invalid; the message names line or row, and the column if there is one.
        EstimateError: the extra that reads Parquet is not installed.
    """
    with open_table(path) as source:
        for place, comment in source.comments:
            expected.check_digest(comment, place)
        if len(source.names) == 1 and ";" in source.names[0]:
            raise SpecError(f"{source.header}: the cells must be separated by commas")
        header = expected.plain_header(source.names)
        expected.check_header(header, source.header)
        blocks = [*_blocks(source, header, expected)]
    if not blocks:
        raise SpecError(f"{path.name}: there are no reports below the header")
    return ReportColumns.joined(blocks)


def _blocks(source: TableSource, header: list[str], expected: Expected) -> Iterator[ReportColumns]:
    grids, known = expected.grids(source.names), [dict[str, int]() for _ in header]
    for lines, block in source.columns(source.names):
        # No cell of a report has two lines, so the rows stand on consecutive lines.
        values = {
            key: _numbers(cells, texts, grids.get(key), (source.row, lines[0], key))
            for key, cells, texts in zip(header, block, known, strict=True)
        }
        yield expected.checked(values, lines[0], source.row)


_WORDS = {"": -1, FEW: LEFT_OUT}


def _numbers(cells: CodedCells, known: dict[str, int], grid: Grid | None, place: tuple[str, int, str]) -> Values:
    """Parse the cells of a column, -1 for empty ones, ``LEFT_OUT`` for rare answers.

    They are steps of its ``grid`` if it has one, else whole numbers; ``known`` are texts parsed so far. ``place`` is
    for messages: prefix of a row number, number of the first row, name of the column.
    """
    # Columns have few distinct values, so a cache of parsed texts saves most of the work.
    # Bound the cache, in case a column has mostly distinct values.
    if len(known) > _MOST_REMEMBERED:
        known.clear()
    known |= _WORDS
    for code, text in enumerate(cells.texts):
        if text in known:
            continue
        try:
            known[text] = _whole(text) if grid is None else step_of(text, grid)
        except ValueError:
            row, first, column = place
            allowed = values_in_words(grid) if grid else "a whole number from 0, written in digits"
            where = f"{row} {first + cells.firsts[code]}, column '{column}'"
            raise SpecError(f"{where}: must be {allowed}, or empty where not asked") from None
    values: Values = np.array([*map(known.__getitem__, cells.texts)], dtype=np.int64)[cells.codes]
    return values


def _whole(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError
    return int(text)


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
