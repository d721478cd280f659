"""List surveys; write texts and check before a correction, a close or a reopening.

Read stored surveys: parsing, newest revision, displayed number of reports, state of a wave.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from operator import attrgetter

from sottovoce.aggregator.storage import Storage, StoredSurvey
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.parse_survey import read_canonical
from sottovoce.shared.spec import Survey, Wave

TRIAL = "Test run: not the real survey."

_OPENS_AGAIN = (
    "The survey is closed. A correction opens it again, and tables, models and files of reports are hidden until it is "
    "closed again; one that changes texts only leaves it closed, unless you choose otherwise (--reopen)."
)

_LATER_CLOSES = (
    "After a reopening or a correction results stay as they are until the next close. That one shows everything if "
    "each group (revision, wave, cohort) is unchanged or has at least {batch} more reports; otherwise results stay as "
    "they are, without tables, models and files of reports."
)


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


@dataclass(frozen=True)
class ListedSurvey:
    """Entry in a list of surveys.

    Attributes:
        reports: number of reports; rounded down to batches for each open revision, for privacy.
        revisions: pairs (revision, state), oldest first; the state is ``answers``, ``retired`` or ``closed``.
    """

    name: str
    survey: Survey
    closed: bool
    reports: int
    revisions: Sequence[tuple[StoredSurvey, str]]


def list_surveys(storage: Storage) -> list[ListedSurvey]:
    """Return all surveys ordered by name, each with the states of its revisions."""
    return [_list_survey(list(rows)) for _, rows in groupby(storage.surveys(), attrgetter("name"))]


def _list_survey(rows: Sequence[StoredSurvey]) -> ListedSurvey:
    last = rows[-1]
    states = [(row, "closed" if row.closed else "retired" if row.retired else "answers") for row in rows]
    return ListedSurvey(last.name, survey_of(last.document), last.closed, sum(map(reports_so_far, rows)), states)


def correction_words(earlier: Sequence[StoredSurvey], survey: Survey) -> str:
    """Return a text on what publishing a correction does to links and counts; ``earlier`` revisions oldest first."""
    numbers = ", ".join(str(row.revision) for row in earlier)
    words = [
        f"This corrects {survey.name}, of which there is revision {numbers}.",
        "Links that were handed out stay good: each shows the revision that it names, unless that one is retired.",
    ]
    if survey.asks_for_token:
        words.append("Personal links that were not used yet stay good, each for one report, whatever revision.")
    if survey.is_blind:
        words.append("Invitations stay good, redeemed or not, each for one report a wave, whatever revision.")
    signed = signed_before(earlier, survey)
    if signed:
        words.append(
            f"People who redeemed an invitation before this have signatures for {signed} of the {len(survey.waves)}"
            " waves, and need another invitation for the others."
        )
    if all(row.closed for row in earlier):
        words.append(_OPENS_AGAIN)
    words.append("Reports count for the revision that they answer; results add up questions whose numbers are equal.")
    words.append("People who answered an earlier revision are not asked again and keep its receipt.")
    return "\n".join(words)


def hours_of_waiting(storage: Storage, name: str) -> int:
    """Return for how many hours devices may delay sending a report; 0 if they send at once."""
    return max(survey_of(row.document).send_within_hours for row in storage.revisions(name))


def signed_before(earlier: Sequence[StoredSurvey], survey: Survey) -> int:
    """Return the number of waves that were signed already if the correction adds waves, else 0."""
    before = len(survey_of(earlier[-1].document).waves) if earlier and survey.is_blind else len(survey.waves)
    return before if before < len(survey.waves) else 0


def closing_words(storage: Storage, name: str) -> tuple[str, bool]:
    """Return the warning text for ``survey close``, and True if it needs confirmation; for operators only."""
    words, alone = _shown_by_closing(storage, name)
    hours = hours_of_waiting(storage, name)
    if not hours:
        return words, alone
    long = "an hour" if hours == 1 else f"{hours} hours"
    lost = (
        f"Devices wait up to {long} before they send. If you close now, the server refuses reports that are still "
        f"waiting. To lose none, publish a correction that closes {long} from now or later (closes)."
    )
    return f"{lost}\n{words}", True


def _shown_by_closing(storage: Storage, name: str) -> tuple[str, bool]:
    stored = newest(storage, name)
    batch = survey_of(stored.document).release_batch
    again = _LATER_CLOSES.format(batch=batch)
    if stored.was_closed:
        return again, False
    if batch == 1:
        return f"All reports are already in the results. {again}", False
    last = f"in each group (revision, wave, cohort) up to {batch - 1} reports that came after the last full step"
    return f"Closing publishes the last counts: {last}. This cannot be undone. {again}", True


def reopening_words(storage: Storage, name: str) -> str:
    """Return a text on what later closes will show; for operators only."""
    return f"Open. {_LATER_CLOSES.format(batch=survey_of(newest(storage, name).document).release_batch)}"


def check_reopening(storage: Storage, name: str, now: datetime) -> None:
    """Raise ReportRejected if there is no such survey, its window is over, or its report ids were deleted."""
    closes = survey_of(newest(storage, name).document).closes
    if closes is not None and now >= closes:
        raise ReportRejected("closed", "the survey's window is over; a correction with a later end opens it again")
    if any(row.purged for row in storage.revisions(name)):
        raise ReportRejected("closed", "report ids are forgotten, so that a report that comes again would count twice")
