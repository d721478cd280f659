"""The surveys that are stored: one parsed from its bytes, the newest of a name."""

from functools import lru_cache

from sottovoce.aggregator.storage import Storage, StoredSurvey
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.spec import Survey


@lru_cache(maxsize=64)
def survey_of(document: bytes) -> Survey:
    """The survey in its stored bytes; parsed once, since bytes never change under a digest."""
    return load_survey(document)


def reports_so_far(stored: StoredSurvey) -> int:
    """The number of reports of a revision, in whole batches while it is open: who watches it sees nobody come or go."""
    batch = 1 if stored.closed else survey_of(stored.document).release_batch
    return stored.reports // batch * batch


def newest(storage: Storage, name: str) -> StoredSurvey:
    """
    The newest revision of a survey.

    Raises:
        ReportRejected: ``unknown_survey``.
    """
    revisions = storage.revisions(name)
    if not revisions:
        raise ReportRejected("unknown_survey", "no survey has this name")
    return revisions[-1]
