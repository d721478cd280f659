"""Count sample uniques in public answers, to warn before a file with public answers is written."""

import numpy as np
from sottovoce.aggregator.analysis.shown_columns import ReportColumns, ReportedColumn
from sottovoce.aggregator.curator.reidentification import MOST_COLUMNS, unique_in_some
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.shared.spec import Survey


def count_sample_uniques(reports: ReportColumns, survey: Survey) -> list[tuple[int, int]]:
    """Count reports unique in some combination of 1, 2 and 3 public answers: (answers known, unique reports)."""
    columns = _public(reports, survey)
    return [(known, int(unique_in_some(columns, known).sum())) for known in range(1, min(3, len(columns)) + 1)]


def in_words(reports: ReportColumns, survey: Survey) -> list[str]:
    """Return one sentence for each row of ``count_sample_uniques``."""
    return [
        f"Who knows {known} public answer{'s' * (known > 1)} of a person: {count:,} of {len(reports):,} people are the "
        f"only one with theirs, so that their whole report is found."
        for known, count in count_sample_uniques(reports, survey)
    ]


def _public(reports: ReportColumns, survey: Survey) -> list[ReportedColumn]:
    """Return the answered public columns; of too many, those with the most distinct answers."""
    columns = [reports.columns[q.name] for q in survey.questions if q.mechanism is None and q.name in reports.columns]
    answered = [column for column in columns if not is_null(column).all()]
    return sorted(answered, key=lambda column: -len(np.unique(column)))[:MOST_COLUMNS]
