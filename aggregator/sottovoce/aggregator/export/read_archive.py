"""Read an exported folder: the survey, and its reports as columns, without server or database.

survey.json or survey.yaml   the newest revision; survey-N.json the earlier ones, if any
reports.csv or .parquet      header = names of questions; a cell is the reported whole number, empty where not asked;
                             plus ``wave`` and ``revision`` (``_wave`` if a question has that name)

Values are checked as strictly as an aggregator checks reports. Error messages name the line and the column, never the
value, because it may be an answer.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sottovoce.aggregator.analysis.shown_columns import ReportedColumn
from sottovoce.aggregator.export.read_csv import read_reports
from sottovoce.aggregator.export.row_validation import Expected
from sottovoce.aggregator.file_formats.provenance import INVENTED, MANIFEST
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Survey

SURVEYS = ("survey.json", "survey.yaml", "survey.yml")
REPORTS = ("reports-with-public.csv", "reports-with-public.parquet", "reports.csv", "reports.parquet")
"""Names of report files in order of preference; the first existing one is read."""

_EARLIER = re.compile(r"survey-([1-9][0-9]{0,8})\.json")


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
    columns, wave, revision = read_reports(file, Expected(survey, surveys))
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
