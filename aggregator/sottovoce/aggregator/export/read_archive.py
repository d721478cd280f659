"""
Reads back a folder of files: the survey, and its reports as columns. No server and no database is needed.

survey.json or survey.yaml   the newest revision; survey-N.json the earlier ones, if there were any
reports.csv or .parquet      header = names of questions; a cell is the reported whole number, empty where not asked;
                             ``wave`` and ``revision`` beside them (``_wave`` where a question is called so)

Everything is checked as an aggregator checks what devices send. A message names the line and the column, never what
stands there: it may be an answer.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sottovoce.aggregator.analysis.shown_columns import Column
from sottovoce.aggregator.export.read_csv import read_csv
from sottovoce.aggregator.export.read_parquet import read_parquet
from sottovoce.aggregator.export.row_validation import Expected
from sottovoce.aggregator.file_formats.provenance import INVENTED, MANIFEST
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Survey

SURVEYS = ("survey.json", "survey.yaml", "survey.yml")
REPORTS = ("reports-with-public.csv", "reports-with-public.parquet", "reports.csv", "reports.parquet")
"""The first of them that is there is read."""

_EARLIER = re.compile(r"survey-([1-9][0-9]{0,8})\.json")


@dataclass(frozen=True)
class Archive:
    """
    What a folder holds.

    Attributes:
        survey: the newest revision.
        surveys: all revisions by their number.
        columns: reported values by the question's name; unsigned, all bits set where not asked.
        wave: of each report, from 0.
        revision: of each report.
    """

    survey: Survey
    surveys: Mapping[int, Survey]
    columns: Mapping[str, Column]
    wave: np.ndarray
    revision: np.ndarray


def read_folder(path: Path) -> Archive:
    """
    The survey and the reports in a folder.

    Raises:
        SpecError: there is no such folder, a file is missing, or something in one is wrong; says where.
    """
    if not path.is_dir():
        raise SpecError("there is no such folder")
    if _is_rehearsal(path / MANIFEST):
        raise SpecError(f"{MANIFEST}: {INVENTED}")
    survey = _survey(path)
    surveys = _earlier(path, survey) | {survey.revision: survey}
    file = next((path / name for name in REPORTS if (path / name).is_file()), None)
    if file is None:
        raise SpecError("the folder has neither reports.csv nor reports.parquet")
    read = read_csv if file.suffix == ".csv" else read_parquet
    columns, wave, revision = read(file, Expected(survey, surveys))
    return Archive(survey, surveys, columns, wave, revision)


def _is_rehearsal(manifest: Path) -> bool:
    """Folders of real reports have no such file; whatever else is called so is looked at no further."""
    try:
        found = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("rehearsal") is True


def _survey(path: Path) -> Survey:
    found = [read_survey_file(path / name) for name in SURVEYS if (path / name).is_file()]
    if not found:
        raise SpecError("the folder has neither survey.json nor survey.yaml")
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
