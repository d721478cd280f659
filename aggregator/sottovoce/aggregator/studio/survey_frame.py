"""Build the frame that all pages of a survey share: title, state, next action and navigation bar.

The bar leaves out pages that the reader may not open.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from flask import current_app, g, render_template, url_for
from sottovoce.aggregator.accounts.authentication import AccessDecision, access_decision, storage
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.request_context import words
from sottovoce.aggregator.surveys.lifecycle import reports_so_far, survey_of, unknown_survey

PAGES: dict[str, Sequence[str]] = {
    "design": ("design", "preview", "rehearse"),
    "privacy": ("privacy",),
    "invite": ("invite",),
    "results": ("results", "tables", "models"),
    "files": ("files",),
    "settings": ("settings",),
    "team": ("team", "board", "history"),
}
"""Navigation bar: each entry with the pages grouped below it."""

OF_DRAFTS = ("design", "preview", "rehearse", "privacy", "settings", "team")
"""Pages that a survey has before it is published."""

NEXT = {"draft": "design", "few": "invite", "open": "results", "closed": "tables", "forgotten": "files"}
"""Page of a survey's next action, by stage; the action is the sentence of that name."""


@dataclass(frozen=True)
class PageLink:
    """Link to a page in the navigation bar.

    Attributes:
        page: key of the page, which is also its endpoint and the last part of its URL.
        current: True for the open page and for the entry that groups it.
    """

    page: str
    address: str
    current: bool


@dataclass(frozen=True)
class SurveyPage:
    """Frame of a page of a survey.

    Attributes:
        title: title in the reader's language, else in the survey's default language.
        stage: ``draft``, ``few`` (open, and nothing to show yet), ``open``, ``closed`` or ``forgotten`` (purged).
        trial: True for a test run.
        state: sentence that describes the stage.
        under: pages grouped below the open entry of the navigation bar; empty if the entry is a single page.
        next: page of the next action.
        stamp: stamp of the draft's version (visit and number of the save); None if the page shows no draft.
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


def may_open(name: str, page: str) -> bool:
    """Return True if the studio has the page with this key, and the reader may open the survey's."""
    end = f"studio.{page}"
    return end in current_app.view_functions and access_decision(g.actor, end, name) is AccessDecision.ALLOWED


def published_page(name: str, page: str) -> SurveyPage:
    """Build the frame of a published survey's page in ``PAGES``; raise ReportRejected without such a survey."""
    revisions = storage().revisions(name)
    if not revisions:
        raise unknown_survey()
    survey = survey_of(revisions[-1].document)
    stage = stage_of(revisions)
    opens = partial(may_open, name)
    groups = [group for under in PAGES.values() if (group := [*filter(opens, under)])]
    pages = [PageLink(group[0], url_for(f"studio.{group[0]}", name=name), page in group) for group in groups]
    under = next(under for under in PAGES.values() if page in under)
    shown = filter(opens, under) if len(under) > 1 else ()
    below = [PageLink(each, url_for(f"studio.{each}", name=name), each == page) for each in shown]
    if stage != "few":
        state = words().count(f"state_{stage}", sum(map(reports_so_far, revisions)))
    elif survey.release_batch == 1:
        state = words().translate("state_first")
    else:
        state = words().translate("state_few", batch=survey.release_batch)
    title = words().text(survey.title, survey.default_language)
    return SurveyPage(name, title, stage, survey.trial, state, pages, below, next_page(stage, opens))


def draft_page(name: str, page: str) -> SurveyPage:
    """Build the frame of a draft's page in ``PAGES``; a correction and a survey without a draft have the survey's."""
    stored = drafts.find_draft(name)
    stamp = stored.draft.stamp if stored else None
    if stored is None or storage().revisions(name):
        return replace(published_page(name, page), stamp=stamp)
    title, opens = stored.draft.title_in(words().language), partial(may_open, name)
    bar = [PageLink(each, url_for(f"studio.{each}", name=name), each == page) for each in OF_DRAFTS if opens(each)]
    return SurveyPage(name, title or name, "draft", False, words().translate("state_draft"), bar, [], "design", stamp)


def frame_of(name: str, page: str) -> SurveyPage:
    """Build the frame of a page that surveys and drafts both have; raise ReportRejected if neither has this name."""
    return published_page(name, page) if storage().revisions(name) else draft_page(name, page)


def next_page(stage: str, opens: Callable[[str], bool]) -> str:
    """Choose the page of a survey's next action; ``opens`` says if the reader may open one."""
    return next(page for page in (NEXT[stage], *NEXT.values(), "results") if opens(page))


def first_page(stage: str, opens: Callable[[str], bool]) -> str:
    """Choose the page that the bare address of a survey redirects to: its figures, as long as there are any."""
    return "results" if stage == "closed" and opens("results") else next_page(stage, opens)


def stage_of(revisions: Sequence[StoredSurvey]) -> str:
    """Return the stage of a published survey, see ``SurveyPage``."""
    last = revisions[-1]
    if last.purged:
        return "forgotten"
    if last.closed:
        return "closed"
    return "open" if sum(map(reports_so_far, revisions)) else "few"


def draft_placeholder(name: str, page: str) -> str | None:
    """Return the page that tells of a draft: available after publishing (sentence ``later_<page>``).

    None if the survey was published or no draft exists.
    """
    if storage().revisions(name) or drafts.find_draft(name) is None:
        return None
    return render_template("later.html", page=page, frame=frame_of(name, page))
