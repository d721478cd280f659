"""Read and list stored surveys; write texts and check before a correction, a close or a reopening.

A correction follows a published revision and refers to it. It may change texts, order, times, and the probabilities of
answers that are drawn anew. It may not change what links and devices rely on: access, memoized questions, and
``release_batch``, which may only grow.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any

from sottovoce.aggregator.clock import Clock, now, present
from sottovoce.aggregator.storage import Storage, StoredSurvey
from sottovoce.shared.errors import Problem, ReportRejected, Sentence, SpecError
from sottovoce.shared.parse_survey import parse_survey, read_canonical
from sottovoce.shared.spec import Item, Question, Survey, Wave
from sottovoce.shared.survey_keys import SURVEY_TEXTS

TRIAL = "Test run: not the real survey."

_OPENS_AGAIN = (
    "The survey is closed. A correction opens it again, and tables, models and files of reports are hidden until it is "
    "closed again; one that changes texts only leaves it closed, unless you choose otherwise (--reopen)."
)

_LATER_CLOSES = (
    "After a reopening or a correction results stay as they are until the next close. That one shows everything if "
    "each group (revision, wave, cohort) is unchanged or has at least {batch} more reports; otherwise results stay as "
    "they are, without tables, models and files of reports. As long as these are hidden, a question that public "
    "answers hid from some people shows the counts of all, and no results are shown by arm."
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
    return frozenset(each.name for each in questions) - {each.name for each in questions if "cohort" in each.marks}


def list_surveys(storage: Storage) -> list[list[StoredSurvey]]:
    """Return the revisions of each survey, oldest first; surveys are ordered by name."""
    return [list(rows) for _, rows in groupby(storage.surveys(), attrgetter("name"))]


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
    words.append(
        "Reports count for the revision that they answer; results add up each question that keeps its type and answers,"
        " also with other odds."
    )
    asked = {each.name for row in earlier for each in survey_of(row.document).questions}
    for fate, told in (("anew", "Counts start anew"), ("gone", "Results no longer show")):
        names = [each.name for each, known in fate_of_counts(earlier, survey) if known == fate and each.name in asked]
        words += [f"{told}: {', '.join(names)}."] if names else []
    words.append("People who answered an earlier revision are not asked again and keep its receipt.")
    return "\n".join(words)


def fate_of_counts(earlier: Sequence[StoredSurvey], survey: Survey) -> list[tuple[Question, str]]:
    """Pair each question with what publishing a correction does to its counts in the results.

    ``same`` if an earlier revision's are added, ``anew`` if not, ``gone`` if the correction does not ask it.
    """
    before = [each for row in earlier for each in survey_of(row.document).questions]
    kept = [(each, any(same_question(each, other) for other in before)) for each in survey.questions]
    names = {each.name for each in survey.questions}
    gone = {each.name: (each, "gone") for each in before if each.name not in names}
    return [*((each, "same" if goes_on else "anew") for each, goes_on in kept), *gone.values()]


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
    if stored.was_closed or batch == 1:
        return again if stored.was_closed else f"All reports are already in the results. {again}", False
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


_MANY = "there are {count} revisions, which is as many as there may be"
_FORGOTTEN = (
    "cannot follow: report ids are deleted, so people who have reported could report again; choose another name"
)

_TEXTS = {*SURVEY_TEXTS, "researcher", "after", "label", "hint", "revision", "replaces"}
"""Keys of texts in a survey's document, and those in which all revisions differ."""

MOST_REVISIONS = 8
"""Revisions of one survey at most. Devices enforce it too, so that an aggregator cannot make one for each person."""


def is_deleted(storage: Storage, name: str) -> bool:
    """Return True if a survey of this name was deleted; devices remember it, so that no other one may have it."""
    return any((line.what, line.about) == ("deleted", name) for line in storage.record())


def next_revision(storage: Storage, survey: Survey, clock: Clock = now) -> Survey:
    """Return the survey as it can be published: with ``replaces`` set to the digest of the newest revision.

    A survey that was published already is returned as it was then. Storage checks again, within its transaction, that
    the predecessor is still the newest. Raises SpecError, with all reasons, if the survey may not follow.
    """
    if is_deleted(storage, survey.name):
        raise SpecError([Problem("/name", "belonged to a deleted survey, which devices remember: choose another")])
    stored = storage.revisions(survey.name)
    earlier = [survey_of(row.document) for row in stored]
    for published in earlier:
        if published.is_same_as(survey):
            return published
    if not earlier:
        return survey
    problems = [*_problems(earlier[-1], survey), *_noisy_cohorts(storage, earlier, survey)]
    # What a close has shown is compared at the next one.
    if not any(row.was_closed for row in stored):
        problems += _reopened_waves(earlier, survey, present(storage, clock))
    if survey.is_blind and any(row.purged for row in stored):
        problems.append(Problem("/revision", _FORGOTTEN))
    if len(earlier) >= MOST_REVISIONS:
        problems.append(Problem("/revision", Sentence(_MANY, count=len(earlier))))
    if problems:
        raise SpecError(problems)
    return parse_survey({**survey.document, "replaces": earlier[-1].digest})


def _noisy_cohorts(storage: Storage, earlier: Sequence[Survey], survey: Survey) -> Iterator[Problem]:
    """Yield the cohort if its counts may have been published with noise, which exact group sizes would undo."""
    if not storage.releases.has_any(survey.name):
        return
    divided = {question.name for each in earlier for question in each.questions if "cohort" in question.marks}
    asked = {question.name for each in earlier for question in each.questions} - divided
    for number, item in enumerate(survey.items):
        if any("cohort" in question.marks and question.name in asked for question in item.questions):
            yield Problem(
                f"/questions/{number}/cohort",
                "cannot be set: a budget is open, and the exact sizes of groups would undo the noise of its tables",
            )


def _reopened_waves(earlier: Sequence[Survey], survey: Survey, now: datetime) -> Iterator[Problem]:
    """Yield the waves that were over and would not be: tables of them less earlier ones would be a few people."""
    several = any(len(each.waves) > 1 for each in earlier)
    for number, wave in enumerate(survey.waves if several else ()):
        windows = [each.waves[number] for each in earlier if number < len(each.waves)]
        is_over = bool(windows) and all(wave_state(each, now) == "closed" for each in windows)
        if is_over and wave_state(wave, now) != "closed":
            pointer = f"/waves/{number}" if "waves" in survey.document else "/closes"
            yield Problem(pointer, "is over, and its tables may have been read: add a later wave instead")


def may_stay_closed(storage: Storage, survey: Survey) -> bool:
    """Return True if the survey is closed and its correction changes texts only, so that it need not reopen."""
    stored = storage.revisions(survey.name)
    closed = bool(stored) and all(row.closed for row in stored)
    return closed and _without_texts(survey_of(stored[-1].document).document) == _without_texts(survey.document)


def _without_texts(value: Any) -> Any:  # noqa: ANN401 - any part of a document
    if isinstance(value, Mapping):
        return {key: _without_texts(each) for key, each in value.items() if key not in _TEXTS}
    return [_without_texts(each) for each in value] if isinstance(value, list | tuple) else value


def _problems(before: Survey, survey: Survey) -> Iterator[Problem]:
    if survey.revision <= before.revision:
        message = "must be higher than {revision}: a changed survey is a new revision"
        yield Problem("/revision", Sentence(message, revision=before.revision))
    if survey.replaces not in {None, before.digest}:
        yield Problem("/replaces", "is not the newest revision that was published; leave it out, it is filled in")
    access = [(each.asks_for_token, each.is_blind) for each in (survey, before)]
    # Issued signatures stay valid only under equal signing keys.
    pairs = zip(before.moduli, survey.moduli, strict=False) if survey.moduli else ()
    if access[0] != access[1] or any(one != other for one, other in pairs):
        yield Problem("/access", "cannot change: links that were handed out would not fit any more")
    if _memoized_mechanisms(survey) != _memoized_mechanisms(before):
        yield Problem("/questions", "what devices remember for all waves (memoized_rr) cannot change: none draws again")
    if survey.release_batch < before.release_batch:
        message = "may not be less than {batch}, only the same or more"
        yield Problem("/privacy/release_batch", Sentence(message, batch=str(before.release_batch)))
    if before.delete_on is not None and (survey.delete_on or date.max) > before.delete_on:
        message = "may not be later than {day}: people were told that day"
        yield Problem("/retention/delete_on", Sentence(message, day=str(before.delete_on)))
    yield from _broken_promises(before, survey)


def _broken_promises(before: Survey, survey: Survey) -> Iterator[Problem]:
    if _arms(before, survey) != _arms(survey, before):
        yield Problem("/arms", "cannot change, nor can the arms of a question: people are in them already")
    if survey.document.get("analysis_plan") != before.document.get("analysis_plan"):
        yield Problem("/analysis_plan", "cannot change: it was made before the reports came")
    if survey.trial != before.trial:
        yield Problem("/trial", "cannot change: people were told whether it is the real survey")


def _arms(survey: Survey, other: Survey) -> tuple[Any, ...]:
    """Return the arms of a revision, and those of each question or note that the other revision has, too."""
    own, others = ({name: item.arms for item in each.items for name in _names(item)} for each in (survey, other))
    return survey.arms, "arms_per_wave" in survey.document, {name: own[name] for name in own.keys() & others.keys()}


def _names(item: Item) -> tuple[str, ...]:
    return item.name, *(question.name for question in item.questions)


def _memoized_mechanisms(survey: Survey) -> dict[str, Any]:
    """Return the mechanisms of the memoized questions, by name of the question."""
    questions = [survey.questions[index] for index in survey.memoized]
    return {question.name: question.mechanism and question.mechanism.dump() for question in questions}


def same_question(one: Question, other: Question) -> bool:
    """Return True if two questions estimate the same quantity, possibly through different mechanisms."""
    # Another fixed value for missing answers changes the estimated share.
    asked = ((each.type, each.domain, each.absent, each.mechanism is None) for each in (one, other))
    return one.name == other.name and next(asked) == next(asked)
