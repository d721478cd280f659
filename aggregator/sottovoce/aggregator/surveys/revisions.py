"""Check a revision that follows a published one, and set the reference to its predecessor.

A correction may change texts, order, times, and the probabilities of answers that are drawn anew. It may not change
what links and devices rely on: access, memoized questions, and ``release_batch``, which may only grow.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.shared.errors import Problem, Sentence, SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Item, Survey

_MANY = "there are {count} revisions, which is as many as there may be"
_FORGOTTEN = (
    "cannot follow: report ids are deleted, so people who have reported could report again; choose another name"
)

_TEXTS = {
    "title",
    "description",
    "consent",
    "notice",
    "neutral_title",
    "researcher",
    "after",
    "label",
    "hint",
    "revision",
    "replaces",
}
"""Keys of texts in a survey's document, and those in which all revisions differ."""

MOST_REVISIONS = 8
"""Revisions of one survey at most. Devices enforce it too, so that an aggregator cannot make one for each person."""


def next_revision(storage: Storage, survey: Survey) -> Survey:
    """Return the survey as it can be published: with ``replaces`` set to the digest of the newest revision.

    A survey that was published already is returned as it was then. Storage checks again, within its transaction, that
    the predecessor is still the newest. Raises SpecError, with all reasons, if the survey may not follow.
    """
    if any((line.what, line.about) == ("deleted", survey.name) for line in storage.record()):
        raise SpecError([Problem("/name", "belonged to a deleted survey, which devices remember: choose another")])
    stored = storage.revisions(survey.name)
    earlier = [survey_of(row.document) for row in stored]
    for published in earlier:
        if published.is_same_as(survey):
            return published
    if not earlier:
        return survey
    problems = [*_problems(earlier[-1], survey), *_noisy_cohorts(storage, earlier, survey)]
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
    divided = {question.name for each in earlier for question in each.questions if question.cohort}
    asked = {question.name for each in earlier for question in each.questions} - divided
    for number, item in enumerate(survey.items):
        if any(question.cohort and question.name in asked for question in item.questions):
            yield Problem(
                f"/questions/{number}/cohort",
                "cannot be set: a budget is open, and the exact sizes of groups would undo the noise of its tables",
            )


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
    if (survey.asks_for_token, survey.is_blind) != (before.asks_for_token, before.is_blind) or not _same_keys(
        before, survey
    ):
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


def _same_keys(before: Survey, survey: Survey) -> bool:
    """Return True if the waves of both revisions have equal signing keys, so that issued signatures stay valid."""
    return not survey.moduli or all(one == other for one, other in zip(before.moduli, survey.moduli, strict=False))


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
