"""
What all pages of one survey share: its title, the line with its state and the one next action, and the bar of pages.

A page that the reader may not open does not stand in the bar.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from flask import current_app, g, render_template, url_for
from sottovoce.aggregator.accounts.permissions import AccessDecision, may
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.language import words
from sottovoce.aggregator.studio.request_context import storage
from sottovoce.aggregator.surveys.stored_surveys import reports_so_far, survey_of, unknown_survey
from sottovoce.shared.spec import Survey

PAGES: dict[str, Sequence[str]] = {
    "design": ("design", "preview", "rehearse"),
    "privacy": ("privacy",),
    "invite": ("invite",),
    "results": ("results", "tables", "models"),
    "files": ("files",),
    "settings": ("settings",),
    "team": ("team", "board", "history"),
}
"""The bar: each page with those that stand under it."""

OF_DRAFTS = ("design", "preview", "rehearse", "privacy", "settings", "team")
"""The pages that a survey has before it is published."""

NEXT = {"draft": "design", "few": "invite", "open": "results", "closed": "tables", "forgotten": "files"}
"""Where the bare address of a survey leads, by its stage; what is to be done there is the sentence of that name."""


@dataclass(frozen=True)
class PageLink:
    """
    One page in the bar.

    Attributes:
        page: its word, which is also its endpoint and the last part of its address.
        address: where it is.
        current: this is it, or it stands above it.
    """

    page: str
    address: str
    current: bool


@dataclass(frozen=True)
class SurveyPage:
    """
    What stands above every page of a survey.

    Attributes:
        name: of the survey.
        title: in the reader's language, else in the survey's own.
        stage: ``draft``, ``few`` (open, and nothing to show yet), ``open``, ``closed`` or ``forgotten``.
        trial: it is a try-out.
        state: its state, in a sentence.
        pages: the bar.
        under: what stands under the page that is open; none, if that is one page.
        next: the page of the one next action.
        stamp: of a draft, which save of which visit to Design has made it; None on a page that shows none.
    """

    name: str
    title: str
    stage: str
    trial: bool
    state: str
    pages: Sequence[PageLink]
    under: Sequence[PageLink]
    next: str
    stamp: str | None = None


def is_there(page: str) -> bool:
    """Whether the studio has the page of this word."""
    return f"studio.{page}" in current_app.view_functions


def may_open(name: str) -> Callable[[str], bool]:
    """Whether the reader may open this page of a survey, by the page's word."""
    return lambda page: is_there(page) and may(g.actor, f"studio.{page}", name) is AccessDecision.ALLOWED


def published_page(name: str, page: str) -> SurveyPage:
    """
    The frame of a page of a published survey.

    Args:
        name: the survey's.
        page: one of the words in ``PAGES``.

    Raises:
        ReportRejected: no survey has this name.
    """
    revisions = storage().revisions(name)
    if not revisions:
        raise unknown_survey()
    survey = survey_of(revisions[-1].document)
    stage = stage_of(revisions)
    state = _state(revisions, stage)
    opens = may_open(name)
    bars = _bar(name, page, opens), _under(name, page, opens)
    return SurveyPage(name, _title(survey), stage, survey.trial, state, *bars, next_page(stage, opens))


def draft_page(name: str, page: str, title: str) -> SurveyPage:
    """
    The frame of a page of a draft; of a correction, that of its survey.

    Args:
        name: the draft's.
        page: one of the words in ``PAGES``.
        title: what it is called if there is no draft of this name any more.
    """
    kept = drafts.kept_draft(name)
    stamp = kept.draft.stamp if kept else None
    title = kept.draft.title_in(words().language) if kept else title
    if storage().revisions(name):
        return replace(published_page(name, page), stamp=stamp)
    opens = may_open(name)
    bar = [PageLink(each, address_of(name, each), each == page) for each in OF_DRAFTS if opens(each)]
    return SurveyPage(name, title or name, "draft", False, words().say("state_draft"), bar, [], "design", stamp)


def frame_of(name: str, page: str) -> SurveyPage:
    """
    The frame of a page that drafts have too.

    Args:
        name: of what was published, or of a draft.
        page: one of the words in ``PAGES``.

    Raises:
        ReportRejected: nothing has this name.
    """
    if storage().revisions(name):
        return published_page(name, page)
    return draft_page(name, page, drafts.draft_named(name).draft.title)


def next_page(stage: str, opens: Callable[[str], bool]) -> str:
    """
    Where a survey's bare address leads.

    Args:
        stage: of the survey.
        opens: whether the reader may open a page.
    """
    return next(page for page in (NEXT[stage], *NEXT.values(), "results") if opens(page))


def stage_of(revisions: Sequence[StoredSurvey]) -> str:
    """The stage of a published survey, see ``SurveyPage``."""
    last = revisions[-1]
    if last.purged:
        return "forgotten"
    if last.closed:
        return "closed"
    return "open" if sum(map(reports_so_far, revisions)) else "few"


def _state(revisions: Sequence[StoredSurvey], stage: str) -> str:
    survey = survey_of(revisions[-1].document)
    reports = sum(map(reports_so_far, revisions))
    if stage == "few" and survey.release_batch == 1:
        return words().say("state_first")
    if stage == "few":
        return words().say("state_few", batch=survey.release_batch)
    return words().count(f"state_{stage}", reports)


def _title(survey: Survey) -> str:
    return words().text(survey.title, survey.default_language)


def _bar(name: str, page: str, opens: Callable[[str], bool]) -> list[PageLink]:
    return [
        PageLink(there[0], address_of(name, there[0]), page in there)
        for there in ([each for each in under if opens(each)] for under in PAGES.values())
        if there
    ]


def _under(name: str, page: str, opens: Callable[[str], bool]) -> list[PageLink]:
    under = next(under for under in PAGES.values() if page in under)
    if len(under) == 1:
        return []
    return [PageLink(each, address_of(name, each), each == page) for each in under if opens(each)]


def address_of(name: str, page: str) -> str:
    """Where a page of a survey is."""
    return url_for(f"studio.{page}", name=name)


def later(name: str, page: str) -> str | None:
    """
    That the page comes with publishing, and what there is until then; None of what is no draft, or was published.

    Args:
        name: the draft's.
        page: its word, of which there is a sentence ``later_`` and the word.
    """
    if storage().revisions(name) or drafts.kept_draft(name) is None:
        return None
    return render_template("later.html", page=page, frame=frame_of(name, page))
