"""Results of an exported folder of ``survey.yaml`` and ``reports.csv``, estimated as a server does after the close."""

from pathlib import Path

import numpy as np
from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.shown_columns import ReportedColumn, place_in
from sottovoce.aggregator.estimators import DEFAULT_RULE, IntervalRule
from sottovoce.aggregator.export.read_archive import SURVEYS, Archive
from sottovoce.aggregator.storage import Cell, StoredSurvey
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.reports.batch_columns import is_null, tally
from sottovoce.shared.spec import Question, Survey


def is_archive(path: Path) -> bool:
    """Say whether a folder has a survey file, as folders of exported files do."""
    return any((path / name).is_file() for name in SURVEYS)


def results_of_archive(archive: Archive, rule: IntervalRule = DEFAULT_RULE, wave: int | None = None) -> SurveyResults:
    """Count and estimate the reports of a folder, of one wave or all (None), for all respondents together.

    Raises EstimateError if the survey has no such wave.
    """
    revisions = [_revision(archive, key, number) for key, number in enumerate(sorted(archive.surveys))]
    return analyse(revisions, None, rule.method, wave, rule.confidence)


def _revision(archive: Archive, key: int, number: int) -> RevisionCounts:
    survey = archive.surveys[number]
    inside = archive.revision == number
    waves = np.unique(archive.wave[inside]).tolist()
    cells = tuple(_cell(archive, survey, inside & (archive.wave == wave), wave) for wave in waves)
    reports = int(inside.sum())
    stored = StoredSurvey(key, survey.name, number, survey.digest, survey.canonical, closed=True, reports=reports)
    return RevisionCounts(stored, survey, cells)


def _cell(archive: Archive, survey: Survey, inside: np.ndarray, wave: int) -> Cell:
    tallies = {}
    for question in archive.survey.questions:
        place = place_in(survey, question)
        if place is not None and question.name in archive.columns:
            counts = _tally(archive.columns[question.name][inside], survey.questions[place], survey.masks.get(place, 0))
            tallies[place] = counts
    return Cell(wave, ALL, int(inside.sum()), 0, tallies)


def _tally(values: ReportedColumn, question: Question, options: int) -> dict[int, int]:
    missing = is_null(values)
    # Rare public answers are left empty in files, so what is left of such a column estimates no share of all.
    if question.mechanism is None and missing.any():
        return {}
    return tally(values[~missing], options, None)
