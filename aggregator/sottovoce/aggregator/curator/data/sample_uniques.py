"""How many people stand alone in public answers: to be told before a file with them is written."""

import numpy as np
from sottovoce.aggregator.analysis.shown_columns import Column, ReportColumns
from sottovoce.aggregator.curator.reidentification import MOST_COLUMNS, alone_in_some
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.shared.spec import Survey


def standing_alone(reports: ReportColumns, survey: Survey) -> list[tuple[int, int]]:
    """
    For 1, 2 and 3 public questions known of a person, how many reports nobody else has the like of.

    Args:
        reports: with the public answers.
        survey: says which questions are public.

    Returns:
        (questions known, reports that are the only ones with their answers to some such questions).
    """
    columns = _public(reports, survey)
    return [(known, int(alone_in_some(columns, known).sum())) for known in range(1, min(3, len(columns)) + 1)]


def in_words(reports: ReportColumns, survey: Survey) -> list[str]:
    """The same in sentences."""
    return [
        f"Who knows {known} public answer{'s' * (known > 1)} of a person: {count:,} of {len(reports):,} people are the "
        f"only one with theirs, so that their whole report is found."
        for known, count in standing_alone(reports, survey)
    ]


def _public(reports: ReportColumns, survey: Survey) -> list[Column]:
    """Those with the most different answers, if there are more than can be looked at together."""
    columns = [reports.columns[q.name] for q in survey.questions if q.mechanism is None and q.name in reports.columns]
    answered = [column for column in columns if not is_null(column).all()]
    return sorted(answered, key=lambda column: -len(np.unique(column)))[:MOST_COLUMNS]
