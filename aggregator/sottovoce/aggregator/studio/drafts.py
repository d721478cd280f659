"""Load, save, begin and delete drafts for the pages of the studio."""

from dataclasses import replace
from functools import partial
from typing import NamedTuple
from uuid import uuid4

from flask import current_app, g
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.authoring.draft import SurveyDraft, free_name, short_name
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.authoring.validation import survey_of_draft
from sottovoce.aggregator.intake.group_commit import GroupCommit
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.surveys.lifecycle import newest, survey_of, unknown_survey
from sottovoce.shared.spec import Survey


class LoadedDraft(NamedTuple):
    """Draft with its version number."""

    draft: SurveyDraft
    version: int


def find_draft(name: str, version: int | None = None) -> LoadedDraft | None:
    """Load the newest version of a draft, or the version with this number; None if it is not stored."""
    found = storage().drafts.draft(name, version)
    return None if found is None else LoadedDraft(SurveyDraft.read(found.document), found.version)


def load_draft(name: str) -> LoadedDraft:
    """Load the newest version of a draft; raise ReportRejected (``unknown_survey``) if there is none."""
    found = find_draft(name)
    if found is None:
        raise unknown_survey()
    return found


def save(name: str, typed_over: int, draft: SurveyDraft, *, again: bool = False) -> int | None:
    """Save a new version of a draft, after all waiting reports; an unchanged draft makes no new version.

    A browser that never got the reply to its last save (reply lost, page left) saves over a version that is no longer
    the newest. The stamp of a version names the visit to the page and counts its saves. If every version since then has
    the stamp of the same visit, the save overwrites no other person's work and is accepted. A save that arrives after a
    later save of the same visit is ignored.

    Return the number of the newest version, which is this one or a later one of the same visit; None if another
    person's version came between, and nothing was written.

    Args:
        typed_over: version number that the page showed when the person began to type.
        again: the browser repeats a save without waiting for the reply; if a version of this visit with the same or a
            later number exists, nothing is written, even if others saved since.
    """
    # The writer thread has no Flask request context, so read everything from the request here.
    tables, document = storage().drafts, replace(draft, saved=_now()).dumped
    stored = find_draft(name)
    while stored is not None:
        if stored.draft == draft:
            return stored.version
        since = _stamps_since(name, typed_over)
        own = [number for visit, number in map(_parts, since) if visit and visit == _parts(draft.stamp)[0]]
        if (again or len(own) == len(since)) and any(number >= _parts(draft.stamp)[1] for number in own):
            return stored.version
        # Stamps of pruned versions are unknown. Overwrite only if the version typed over is still stored.
        over = stored.version if since and len(own) == len(since) and find_draft(name, typed_over) else typed_over
        version = _writer().after_reports(partial(tables.save, name, over, document))
        before, stored = stored.version, find_draft(name)
        if version is not None:
            return version
        # Another save won the race. It may be of the same visit, since two saves can be in flight, so look again.
        if stored is None or stored.version == before:
            return None
    return None


def _stamps_since(name: str, version: int) -> list[str]:
    """Return the stamps of all stored versions after this one."""
    numbers = [number for number in storage().drafts.versions(name) if number > version]
    return [stored.draft.stamp for stored in [find_draft(name, number) for number in numbers] if stored is not None]


def _parts(stamp: str) -> tuple[str, int]:
    visit, _, number = stamp.rpartition(".")
    return visit, int(number or 0)


def begin(draft: SurveyDraft, wanted: str = "") -> str:
    """Begin a draft owned by the signed-in account; return its name.

    That is the first free variant, since links to two surveys must differ, of ``wanted``, or with "" of the title.
    """
    name = free_name(short_name(wanted or draft.title, "survey", "-"), taken_names(), "-")
    tables, account, who, document = storage(), g.actor.account.id, g.who, _with_new_stamp(draft).dumped

    def write() -> None:
        tables.drafts.add(name, document)
        tables.access.by(who).grant(account, name, "owner")

    _writer().after_reports(write)
    return name


def begin_correction(name: str) -> None:
    """Begin a draft of the next revision of a published survey, unless one exists; it shares the survey's roles."""
    survey = survey_of(newest(storage(), name).document)
    tables = storage().drafts
    plan, draft = tables.plan(name), draft_of(survey.document, survey.revision + 1)
    document = _with_new_stamp(replace(draft, people=plan.people, group=plan.group)).dumped
    _writer().after_reports(lambda: tables.add(name, document))


def _with_new_stamp(draft: SurveyDraft) -> SurveyDraft:
    """Give a draft a fresh stamp, and the time.

    A deleted or published draft may have had the same name and version number; the stamp tells the two apart.
    """
    return replace(draft, stamp=f"{uuid4().hex}.0", saved=_now())


def finish(name: str, draft: SurveyDraft) -> None:
    """Delete a draft after publishing; the planned number of people is kept."""
    tables, plan = storage().drafts, PlannedSize(draft.people, draft.group)
    _writer().after_reports(lambda: tables.finish(name, plan))


def forget(name: str) -> None:
    """Delete a draft with all its versions, and without a published survey what was set of its institution."""
    if not storage().revisions(name):
        storage().institutions.save(name, None, g.who)
    tables = storage().drafts
    _writer().after_reports(lambda: tables.delete(name))


def current_survey(name: str) -> Survey:
    """Return the survey that the draft currently describes; without a draft, the newest published revision.

    Raises:
        SpecError: the draft is not a valid survey yet.
        ReportRejected: ``unknown_survey``.
    """
    stored = find_draft(name)
    return survey_of_draft(stored.draft, name) if stored is not None else survey_of(newest(storage(), name).document)


def _now() -> str:
    return str(current_app.extensions["clock"]().isoformat(timespec="seconds"))


def taken_names() -> set[str]:
    """Return the names of all drafts and surveys, including deleted surveys: devices still remember those."""
    drafts = {draft.name for draft in storage().drafts.drafts()}
    deleted = {line.about for line in storage().record() if line.what == "deleted"}
    return drafts | {row.name for row in storage().surveys()} | deleted


def _writer() -> GroupCommit:
    found: GroupCommit = current_app.extensions["group_commit"]
    return found
