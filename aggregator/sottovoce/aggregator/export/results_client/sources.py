"""Sources of joint analyses: reports in a folder of files, or in a database (``http_source`` has remote ones); margins
and weights in files.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.analysis.availability import NO_SURVEY, check_closed
from sottovoce.aggregator.analysis.data_file.data_columns import data_columns
from sottovoce.aggregator.analysis.data_file.read_table import read_table
from sottovoce.aggregator.analysis.disclosure_control import answered
from sottovoce.aggregator.analysis.report_columns import Columns, Progress, read_columns
from sottovoce.aggregator.analysis.requests import Request, parse_request, read_shares
from sottovoce.aggregator.analysis.shown_columns import ReportColumns, as_columns, is_few
from sottovoce.aggregator.analysis.weights import MarginShares, raked
from sottovoce.aggregator.clock import Clock
from sottovoce.aggregator.export.offline.locations import Bucket, is_countable, place_named
from sottovoce.aggregator.export.offline.offline_results import Opened, layout_of, open_folder, read_rows
from sottovoce.aggregator.export.read_archive import LEFT_OUT, Archive, Expected, read_folder
from sottovoce.aggregator.file_formats.table_source import open_table
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.errors import EstimateError, SpecError, cannot_read
from sottovoce.shared.spec import Survey

LARGEST = 1 << 20
"""Largest size of a file of margins in bytes."""

HEADER = "weight"


def read_margins(path: Path) -> MarginShares:
    """Read known margins from YAML or JSON: ``question: {category: share}``, or joint ``a x b: {one x other: share}``.

    Raises SurveyError if the file cannot be read or contains no margins.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise SpecError(cannot_read(path, error)) from None
    if len(data) > LARGEST:
        raise SpecError(f"{path.name} is larger than 1 MiB")
    try:
        given = parse_yaml(data)
    except SpecError as error:
        raise SpecError(f"{path.name}: {'; '.join(problem.message for problem in error.problems)}") from None
    parse_request("weights", {"margins": given})
    return read_shares(given)


def read_weights(path: Path) -> NDArray[np.float64]:
    """Read weights from CSV: a header ``weight``, then one weight per line. The analysis checks their number later.

    Raises SpecError, with the line, if the file cannot be read or a line is no number above 0.
    """
    found = [np.empty(0)]
    with open_table(path, comments=False) as source:
        if source.names != [HEADER]:
            raise SpecError(f"{path.name}, line 1: the header must be '{HEADER}', with nothing beside it")
        for lines, [cells] in source.columns([HEADER]):
            places = (f"{source.row} {lines[first]}" for first in cells.firsts)
            found.append(np.array([*map(_weight, cells.texts, places)])[cells.codes])
    return np.concatenate(found)


def weights_csv(weights: Sequence[float]) -> str:
    """Return weights as CSV, in the form that ``read_weights`` reads."""
    return "\n".join([HEADER, *(repr(weight) for weight in weights), ""])


def _weight(text: str, place: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight > 0):
        raise SpecError(f"{place}: the weight is missing, or not a number above 0")
    return weight


def with_covariates(columns: Columns, path: Path) -> Columns:
    """Add an analyst's own columns, such as arm or region, to the reports of a folder as public questions.

    Args:
        columns: the reports.
        path: file with a header and one line for each report, in the order of the reports; an empty cell is missing.

    Raises:
        SpecError: the file cannot be read, has another number of lines, or a column has the name of a question.
    """
    table = read_table(path)
    if len(table) != len(columns):
        raise SpecError(
            f"{path.name}: there are {len(table):,} lines for {len(columns):,} reports; give each report one"
        )
    added = data_columns(table, {})
    if len(added.revisions) > 1 or added.survey.private:
        raise SpecError(f"{path.name}: covariates are public; leave columns of channels out")
    taken = [name for name in added.values if columns.question(name) is not None]
    if taken:
        raise SpecError(f"{path.name}: the survey has a question '{taken[0]}'; rename the column")
    # New questions come last, so that the places of the survey's own do not change.
    more = added.survey.questions
    revisions = tuple(replace(survey, questions=(*survey.questions, *more)) for survey in columns.revisions)
    return replace(columns, revisions=revisions, values={**columns.values, **added.values})


def all_rows(folder: Opened) -> Archive:
    """Read all reports of a folder into memory as columns, the input of joint analyses.

    Raises SpecError, which says where, if a part does not match the manifest, or a row in it is invalid.
    """
    surveys = {survey.revision: survey for survey in folder.described.surveys}
    blocks = list(_blocks(folder, Expected(folder.described.survey, surveys)))
    if not blocks:
        raise SpecError("there are no reports in the folder")
    return Archive(ReportColumns.joined(blocks), surveys)


def _blocks(folder: Opened, expected: Expected) -> Iterator[ReportColumns]:
    names = folder.described.header[:-1]
    for of_wave, path, part in folder.described.parts:
        first = 1
        with folder.place.whole(path, part) as file:
            for columns, times in read_rows(file, layout_of(folder.described, of_wave.revision)):
                block = {name: _whole(column) for name, column in zip(names, columns, strict=True)}
                block[expected.wave] = np.full(len(times), of_wave.wave, dtype=np.int64)
                block[expected.revision] = np.full(len(times), of_wave.revision, dtype=np.int64)
                # Parts store distinct rows with multiplicities; analyses need one row per report.
                yield expected.checked(block, first, f"{path}, row").taken(np.repeat(np.arange(len(times)), times))
                first += len(times)


def _whole(column: np.ndarray) -> np.ndarray:
    """Return signed values, -1 where not asked, ``LEFT_OUT`` for rare answers.

    Raises SpecError if a value exceeds 2^53, the limit of any report.
    """
    values = np.where(is_null(column) | is_few(column), 0, column)
    if len(values) and int(values.max()) > 2**53:
        raise SpecError("a value is out of range: no report can be it")
    return np.where(is_few(column), LEFT_OUT, np.where(is_null(column), -1, values.astype(np.int64)))


Document = dict[str, Any]


class ReportSource(Protocol):
    """A source of reports that can be analysed."""

    @property
    def survey(self) -> Survey:
        """Newest revision of the survey that the reports answer."""

    def answer(self, kind: str, options: Document, weights: ArrayLike | None = None) -> Document:
        """Run one analysis and return its document.

        Args:
            kind: kind of request, one of ``requests.KINDS_OF_REQUEST``.
            options: JSON body of the request.
            weights: one weight per report, in the order of the folder's file; only folders support it.

        Raises:
            SurveyError: the analysis is not available; the message says why.
        """


DROP_FEW = "drop_few"
"""Option of analyses of files: leave out the reports whose answer the file leaves out as ``few``."""


class ReadColumns:
    """Source of the reports in a file that was read as a whole."""

    columns: Columns

    def answer(self, kind: str, options: Document, weights: ArrayLike | None = None) -> Document:
        """Run one analysis on the columns in memory."""
        asked = parse_request(kind, {name: given for name, given in options.items() if name != DROP_FEW})
        return self._run(asked, replace(self.columns, few={}) if options.get(DROP_FEW) else self.columns, weights)

    def _run(self, asked: Request, columns: Columns, weights: ArrayLike | None) -> Document:
        return asked.document(columns, weights)


class FolderReports(ReadColumns):
    """Reports in a folder of files.

    Args:
        folder: with ``survey.json`` or ``survey.yaml``, and ``reports.csv`` or ``reports.parquet``; or an output of
            ``export --format parquet``, also in a bucket (``s3://``).
        name: expected name of the survey; None to accept any.
        covariates: file of an analyst's own columns, one line for each report in the order of the file; or None.

    Raises:
        SpecError: the folder is invalid, or contains another survey; or the covariates do not fit it.
    """

    def __init__(self, folder: Path | str, name: str | None = None, covariates: Path | None = None) -> None:
        place = place_named(folder)
        is_parts = isinstance(place, Bucket) or is_countable(place)
        read = all_rows(open_folder(place)) if is_parts else read_folder(Path(folder))
        if name is not None and name != read.survey.name:
            raise SpecError("the folder holds another survey than the one that is named")
        self.survey = read.survey
        self.archive = read
        columns = as_columns(read.reports, read.surveys)
        self.columns = columns if covariates is None else with_covariates(columns, covariates)

    def weights(self, margins: MarginShares) -> Sequence[float]:
        """Return raking weights to the margins, one per report, in the order of the file."""
        return [float(weight) for weight in raked(self.columns, margins).weights]


class StoredReports:
    """Reports of a survey in a database.

    Args:
        clock: determines which waves are closed.
        progress: called while reports are read.

    Raises:
        EstimateError: there is no such survey.
    """

    def __init__(self, storage: Storage, name: str, clock: Clock, progress: Progress | None = None) -> None:
        self._storage = storage
        self._revisions = storage.revisions(name)
        self._clock = clock
        self._progress = progress
        if not self._revisions:
            raise EstimateError(NO_SURVEY)

    @property
    def survey(self) -> Survey:
        """Newest revision of the survey."""
        return survey_of(self._revisions[-1].document)

    def answer(self, kind: str, options: Document, weights: ArrayLike | None = None) -> Document:
        """Run the analysis; ``weights`` must be None, because rows of a database have no defined order."""
        if weights is not None:
            raise EstimateError(NO_ORDER)
        asked = parse_request(kind, options)
        check_closed(self._storage, self._revisions, asked.wave, self._clock())

        def read() -> Columns:
            return read_columns(self._storage, self._revisions, asked.wave, self._progress)

        return answered(self._storage, self._revisions[-1].name, asked, read)


NO_ORDER = (
    "one weight a report needs reports in an order: export the files and name their folder with --from, or give the "
    "margins themselves as weights"
)
