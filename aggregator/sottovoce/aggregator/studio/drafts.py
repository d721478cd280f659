"""Drafts as the pages read and write them."""

from dataclasses import replace
from functools import partial
from typing import NamedTuple
from uuid import uuid4

from flask import current_app, g
from sottovoce.aggregator.authoring.draft import SurveyDraft
from sottovoce.aggregator.authoring.from_survey import draft_of
from sottovoce.aggregator.authoring.slugs import free_name, short_name
from sottovoce.aggregator.authoring.validation import survey_of_draft
from sottovoce.aggregator.intake.group_commit import GroupCommit
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.studio.request_context import storage
from sottovoce.aggregator.surveys.stored_surveys import newest, survey_of, unknown_survey
from sottovoce.shared.spec import Survey


class LoadedDraft(NamedTuple):
    """A draft, and the version that it is."""

    draft: SurveyDraft
    version: int


def kept_draft(name: str, version: int | None = None) -> LoadedDraft | None:
    """A draft's newest version, or that of this number."""
    found = storage().drafts.draft(name, version)
    return None if found is None else LoadedDraft(SurveyDraft.read(found.document), found.version)


def draft_named(name: str) -> LoadedDraft:
    """
    The newest version of a draft that must be there.

    Raises:
        ReportRejected: ``unknown_survey``.
    """
    found = kept_draft(name)
    if found is None:
        raise unknown_survey()
    return found


def save(name: str, typed_over: int, draft: SurveyDraft, *, again: bool = False) -> int | None:
    """
    Keep another version of a draft, once no report waits; no version is made where nothing has changed.

    Whoever has not heard how a save went, since the reply was lost or the page left, saves over an older version than
    the newest. If all versions since are of the same visit to the page, by its stamp, nobody else is written over; and
    a save that comes after a later one of the same visit has nothing to add to it.

    Args:
        name: the draft's.
        typed_over: the version that was before whoever saves.
        draft: as it is now.
        again: nobody waits for this version, which may have arrived long ago: then it is not looked at who came since.

    Returns:
        The newest version, which holds it or has come after it; None if another one has come between, and nothing is
        written.
    """
    # The thread that writes has no request, so that everything of this one is looked up here.
    tables, document = storage().drafts, draft.dumped
    kept = kept_draft(name)
    while kept is not None:
        if kept.draft == draft:
            return kept.version
        since = _stamps_since(name, typed_over)
        own = [number for visit, number in map(_parts, since) if visit and visit == _parts(draft.stamp)[0]]
        if (again or len(own) == len(since)) and any(number >= _parts(draft.stamp)[1] for number in own):
            return kept.version
        # Of versions that are no longer kept nobody knows whose they were.
        over = kept.version if since and len(own) == len(since) and kept_draft(name, typed_over) else typed_over
        version = _writer().after_reports(partial(tables.save, name, over, document))
        before, kept = kept.version, kept_draft(name)
        if version is not None:
            return version
        # A version that came just now may be of the same visit: two of its saves can be under way at once.
        if kept is None or kept.version == before:
            return None
    return None


def _stamps_since(name: str, version: int) -> list[str]:
    """Those of the versions after this one that are kept."""
    numbers = [number for number in storage().drafts.versions(name) if number > version]
    found = [kept_draft(name, number) for number in numbers]
    return [kept.draft.stamp for kept in found if kept is not None]


def _parts(stamp: str) -> tuple[str, int]:
    visit, _, number = stamp.rpartition(".")
    return visit, int(number or 0)


def begin(draft: SurveyDraft, wanted: str = "") -> str:
    """
    Begin a draft, whose owner is whoever is signed in.

    Args:
        draft: its first version.
        wanted: the name that it is to have; "" makes one of its title.

    Returns:
        The name that it got: the first free one, since links of two surveys may not be alike.
    """
    name = free_name(short_name(wanted or draft.title, "survey", "-"), taken_names(), "-")
    tables, account, who, document = storage(), g.actor.account.id, g.who, _born(draft).dumped

    def write() -> None:
        tables.drafts.add(name, document)
        tables.access.by(who).grant(account, name, "owner")

    _writer().after_reports(write)
    return name


def begin_correction(name: str) -> None:
    """Begin a draft of the next revision of a published survey, unless there is one; its roles are the survey's."""
    survey = survey_of(newest(storage(), name).document)
    tables = storage().drafts
    plan, draft = tables.plan(name), draft_of(survey.document, survey.revision + 1)
    document = _born(replace(draft, people=plan.people, group=plan.group)).dumped
    _writer().after_reports(lambda: tables.add(name, document))


def _born(draft: SurveyDraft) -> SurveyDraft:
    """With a stamp of its own: a draft that was deleted, or published, may have had the same name and version."""
    return replace(draft, stamp=f"{uuid4().hex}.0")


def finish(name: str, draft: SurveyDraft) -> None:
    """Take a draft out that was published; for how many people it was planned stays."""
    tables, plan = storage().drafts, PlannedSize(draft.people, draft.group)
    _writer().after_reports(lambda: tables.finish(name, plan))


def forget(name: str) -> None:
    """Take a draft out, with all of its versions."""
    tables = storage().drafts
    _writer().after_reports(lambda: tables.delete(name))


def survey_as_it_stands(name: str) -> Survey:
    """
    The survey that a draft is by now; without a draft, the newest published revision.

    Raises:
        SpecError: the draft is none yet.
        ReportRejected: ``unknown_survey``.
    """
    kept = kept_draft(name)
    if kept is not None:
        return survey_of_draft(kept.draft, name)
    return survey_of(newest(storage(), name).document)


def taken_names() -> set[str]:
    """The names of drafts and surveys, also of those that were deleted: devices remember them."""
    drafts = {draft.name for draft in storage().drafts.drafts()}
    deleted = {line.about for line in storage().record() if line.what == "deleted"}
    return drafts | {row.name for row in storage().surveys()} | deleted


def _writer() -> GroupCommit:
    found: GroupCommit = current_app.extensions["group_commit"]
    return found
