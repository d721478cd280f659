"""Results of an exported folder of ``survey.yaml`` and ``reports.csv``, estimated as a server does after the close.

Rare public answers, which a file leaves out as ``few``, are one more answer in the denominator of shares.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.selection import asked_only
from sottovoce.aggregator.analysis.shown_columns import ReportColumns, as_columns, place_in
from sottovoce.aggregator.estimators import DEFAULT_RULE, IntervalRule
from sottovoce.aggregator.export.read_archive import SURVEYS, Archive
from sottovoce.aggregator.storage import Cell, StoredSurvey
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.reports.batch_columns import is_null, tally
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.spec import Survey


def is_archive(path: Path) -> bool:
    """Say whether a folder has a survey file, as folders of exported files do."""
    return any((path / name).is_file() for name in SURVEYS)


def results_of_archive(archive: Archive, rule: IntervalRule = DEFAULT_RULE, wave: int | None = None) -> SurveyResults:
    """Count and estimate the reports of a folder, of one wave or all (None), for all respondents together.

    Raises EstimateError if the survey has no such wave.
    """
    read = as_columns(ReportColumns(archive.columns, archive.wave, archive.revision), archive.surveys)
    columns, asked = asked_only(read.with_few(read.few))
    surveys = dict(zip(sorted(archive.surveys), columns.revisions, strict=True))
    # A mean would need the numbers that are left out.
    values = {name: each for name, each in columns.values.items() if name not in read.few_numbers}
    whole = replace(archive, survey=columns.survey, surveys=surveys, columns=values)
    revisions = [_revision(whole, key, number, asked) for key, number in enumerate(sorted(archive.surveys))]
    return analyse(revisions, None, rule.method, wave, rule.confidence)


def _revision(archive: Archive, key: int, number: int, asked: frozenset[str]) -> RevisionCounts:
    survey = archive.surveys[number]
    inside = archive.revision == number
    waves = np.unique(archive.wave[inside]).tolist()
    cells = tuple(_cell(archive, survey, inside & (archive.wave == wave), wave, asked) for wave in waves)
    reports = int(inside.sum())
    stored = StoredSurvey(key, survey.name, number, survey.digest, survey.canonical, closed=True, reports=reports)
    return RevisionCounts(stored, survey, cells, asked=asked)


def _cell(archive: Archive, survey: Survey, inside: np.ndarray, wave: int, asked: frozenset[str]) -> Cell:
    tallies = {}
    for question in archive.survey.questions:
        place = place_in(survey, question)
        if place is not None and question.name in archive.columns:
            values = archive.columns[question.name][inside]
            values = values[~is_null(values)]
            # Files of former releases left rare public answers empty: the others estimate no share of all.
            whole = question.mechanism is not None or len(values) == inside.sum() or share_asked(survey, place) < 1
            whole = whole or question.name in asked
            tallies[place] = tally(values, survey.masks.get(place, 0), None) if whole else {}
    return Cell(wave, ALL, int(inside.sum()), 0, tallies)
