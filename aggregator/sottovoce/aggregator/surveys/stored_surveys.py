"""The surveys that are stored: one parsed from its bytes, the newest of a name, whether a wave is open."""

from datetime import datetime
from functools import lru_cache

from sottovoce.aggregator.storage import Storage, StoredSurvey
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.parse_survey import read_canonical
from sottovoce.shared.spec import Survey, Wave


@lru_cache(maxsize=64)
def survey_of(document: bytes) -> Survey:
    """The survey in its bytes, stored or of a rehearsal; parsed once, since bytes never change under a digest."""
    return read_canonical(document)


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
        raise unknown_survey()
    return revisions[-1]


def unknown_survey() -> ReportRejected:
    """What whoever asks for a name that was never published is told."""
    return ReportRejected("unknown_survey", "no survey has this name")


def wave_state(wave: Wave, now: datetime) -> str:
    """``early``, ``open`` or ``closed``, by its window alone, which is closed at its start and open at its end."""
    if wave.closes is not None and now >= wave.closes:
        return "closed"
    return "early" if wave.opens is not None and now < wave.opens else "open"
