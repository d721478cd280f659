"""Read an exported folder: the survey, and its reports as columns, without server or database.

survey.json or survey.yaml   the newest revision; survey-N.json the earlier ones, if any
reports.csv or .parquet      header = names of questions; a cell is the reported whole number, empty where not asked;
                             plus ``wave`` and ``revision`` (``_wave`` if a question has that name)

Values are checked as strictly as an aggregator checks reports. Error messages name the line and the column, never the
value, because it may be an answer.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.shown_columns import ReportedColumn
from sottovoce.aggregator.export.own_units import steps_of, values_in_words
from sottovoce.aggregator.export.read_csv import Place, Read, joined, numbers, read_csv
from sottovoce.aggregator.export.row_validation import Expected, Values
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.aggregator.file_formats.provenance import INVENTED, MANIFEST
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.shared.answers import Grid
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Survey

SURVEYS = ("survey.json", "survey.yaml", "survey.yml")
REPORTS = ("reports-with-public.csv", "reports-with-public.parquet", "reports.csv", "reports.parquet")
"""Names of report files in order of preference; the first existing one is read."""

_EARLIER = re.compile(r"survey-([1-9][0-9]{0,8})\.json")

_WHOLE = frozenset({"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "TINYINT", "SMALLINT", "INTEGER", "BIGINT"})

_MEASURED = _WHOLE | {"FLOAT", "DOUBLE", "DECIMAL", "DATE"}

CHUNK = 1 << 20


def read_parquet(path: Path, expected: Expected) -> Read:
    """Read the reports in a Parquet file, by the validation rules ``expected`` of the survey.

    Raises:
        SpecError: the file is invalid; the message names the row, and the column if there is one.
        EstimateError: an optional library is not installed.
    """
    duckdb = needed("duckdb")
    with duckdb.connect() as connection:
        try:
            table = connection.read_parquet(str(path))
            pairs = connection.sql(
                "SELECT value FROM parquet_kv_metadata($file)", params={"file": str(path)}
            ).fetchall()
        except duckdb.Error:
            raise SpecError(f"{path.name} cannot be read as Parquet") from None
        for (value,) in pairs:
            expected.check_digest(value.decode("utf-8", "replace"), path.name)
        expected.check_header(expected.plain_header(table.columns), path.name)
        blocks = list(_blocks(table, path.name, expected))
    if not blocks:
        raise SpecError(f"{path.name}: there are no reports")
    return joined(blocks)


def _blocks(table: Any, file: str, expected: Expected) -> Iterator[Read]:  # noqa: ANN401 - the library's relation
    grids = expected.grids(table.columns)
    for name, kind in zip(table.columns, table.types, strict=True):
        allowed = _MEASURED if name in grids else _WHOLE
        # Rare answers, left out as a word, make texts of the numbers of a public question.
        if name in expected.questions and expected.questions[name].mechanism is None:
            allowed |= {"VARCHAR"}
        if str(kind).partition("(")[0] not in allowed:
            required = "numbers or dates" if name in grids else "whole numbers"
            raise SpecError(f"{file}, column '{name}': must be of a type of {required}")
    for start in range(0, len(table), CHUNK):
        found = table.limit(CHUNK, start).fetchnumpy()
        named = zip(expected.plain_header(list(found)), found.values(), strict=True)
        block = {
            name: numbers([*np.ma.filled(values, "")], {}, Place(f"{file}, row", start + 1, name), grids.get(name))
            if values.dtype.kind == "O"
            else _steps(values, start + 1, f"{file}, row", name, grids[name])
            if name in grids
            else _whole(values, start + 1, f"column '{name}'", file)
            for name, values in named
        }
        yield expected.checked(block, start + 1, f"{file}, row")


def _steps(found: np.ndarray, first: int, row: str, column: str, grid: Grid) -> Values:
    """Return the steps of masked values in a question's own unit, -1 where not asked; ``row`` prefixes numbers in
    messages.
    """
    missing = np.ma.getmaskarray(found)
    steps = np.full(len(found), -1, dtype=np.int64)
    steps[~missing] = steps_of(np.ma.getdata(found)[~missing], grid)
    wrong = ~missing & (steps < 0)
    if wrong.any():
        where = f"{row} {first + int(np.argmax(wrong))}, column '{column}'"
        raise SpecError(f"{where}: must be {values_in_words(grid)}, or empty where not asked")
    return steps


def _whole(found: np.ndarray, first: int, column: str, file: str) -> Values:
    missing = np.ma.getmaskarray(found)
    values = np.ma.getdata(found)
    # Values above 2^53 exceed any report, and might not fit the signed type below.
    large = ~missing & ((values < 0) | (values > np.uint64(2**53)) if values.dtype.kind == "u" else values < 0)
    if large.any():
        raise SpecError(f"{file}, row {first + int(np.argmax(large))}, {column}: is out of range")
    return np.where(missing, -1, np.where(missing, 0, values).astype(np.int64))


@dataclass(frozen=True)
class Archive:
    """Content of an exported folder: the newest revision, all revisions by number, and the reports.

    Attributes:
        columns: reported values by question name; unsigned, all bits set where not asked.
        wave, revision: of each report; waves count from 0.
    """

    survey: Survey
    surveys: Mapping[int, Survey]
    columns: Mapping[str, ReportedColumn]
    wave: np.ndarray
    revision: np.ndarray


def read_folder(path: Path) -> Archive:
    """Read the survey and the reports in a folder.

    Raises SpecError, which says where, if the folder or a file is missing, or a file is invalid.
    """
    if not path.is_dir():
        raise SpecError(f'there is no such folder: "{path}"')
    if _is_rehearsal(path / MANIFEST):
        raise SpecError(f"{MANIFEST}: {INVENTED}")
    survey = read_survey(path)
    surveys = _earlier(path, survey) | {survey.revision: survey}
    file = next((path / name for name in REPORTS if (path / name).is_file()), None)
    if file is None:
        raise SpecError("the folder has neither reports.csv nor reports.parquet")
    read = read_csv if file.suffix == ".csv" else read_parquet
    columns, wave, revision = read(file, Expected(survey, surveys))
    return Archive(survey, surveys, columns, wave, revision)


def _is_rehearsal(manifest: Path) -> bool:
    """Say whether the file is the manifest of a simulation; folders of real reports in this form have none."""
    try:
        found = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("rehearsal") is True


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
