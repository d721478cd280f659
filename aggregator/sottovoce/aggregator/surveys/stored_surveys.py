"""Read stored surveys: parsing, newest revision, displayed number of reports, state of a wave."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from sottovoce.aggregator.storage import Storage, StoredSurvey
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.parse_survey import read_canonical
from sottovoce.shared.spec import Survey, Wave


@lru_cache(maxsize=64)
def survey_of(document: bytes) -> Survey:
    """Parse canonical bytes of a survey; cached, since equal bytes are the same survey."""
    return read_canonical(document)


def reports_so_far(stored: StoredSurvey) -> int:
    """Return the reports of a revision, rounded down to batches before its first close, so that no single arrival
    shows; from then on those that results show, which move only when it is closed.

    The shown counts need not be a multiple of a batch, and no page may name a total below theirs.
    """
    if stored.was_closed:
        return stored.shown
    batch = survey_of(stored.document).release_batch
    return max(stored.reports // batch * batch, stored.shown)


def newest(storage: Storage, name: str) -> StoredSurvey:
    """Return the newest revision of a survey; raises ReportRejected ``unknown_survey`` if there is none."""
    revisions = storage.revisions(name)
    if not revisions:
        raise unknown_survey()
    return revisions[-1]


def unknown_survey() -> ReportRejected:
    """Return the error for a name that no published survey has."""
    return ReportRejected("unknown_survey", "no survey has this name")


def wave_state(wave: Wave, now: datetime) -> str:
    """Return ``early``, ``open`` or ``closed`` by a wave's window [opens, closes) alone; ignores a close by staff."""
    if wave.closes is not None and now >= wave.closes:
        return "closed"
    return "early" if wave.opens is not None and now < wave.opens else "open"


def released_questions(surveys: Sequence[Survey]) -> frozenset[str]:
    """Return the names of the public questions that a budget can publish with noise: all but the cohort of any
    revision.

    The size of each cohort is part of the results from the first snapshot on, so that noise would hide nothing.
    """
    questions = [question for survey in surveys for question in survey.questions if question.mechanism is None]
    return frozenset(each.name for each in questions) - {each.name for each in questions if each.cohort}
