"""List surveys and drafts; redirect the bare address of a survey to the page of its stage."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from flask import g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.authoring.cost_and_precision import DraftFigures
from sottovoce.aggregator.authoring.draft import SurveyDraft
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.invitations.tokens import token_counts
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.request_context import words
from sottovoce.aggregator.studio.survey_frame import first_page, may_open, stage_of
from sottovoce.aggregator.surveys.lifecycle import list_surveys, reports_so_far, survey_of, unknown_survey

STAGES = ("draft", "few", "open", "closed", "forgotten")
STATES = {"draft": {"draft"}, "open": {"few", "open"}, "closed": {"closed", "forgotten"}}
"""Filters of the list, with the stages that each includes."""


@dataclass(frozen=True)
class SurveyListRow:
    """Row of the list.

    Attributes:
        title: title in the reader's language, else in the survey's default language.
        stage: one of ``STAGES``.
        reports: number of reports, in steps of the minimum batch size while the survey is open.
        people: number of people expected; None if not given, or once the survey is closed.
        epsilon: largest total epsilon of a report.
        trial: True for a test run.
        role: the reader's role; "" for none.
        rate: share of the personal links of a closed survey that brought a report; None without links, or with waves.
    """

    name: str
    title: str
    stage: str
    reports: int
    people: int | None
    epsilon: float
    trial: bool
    role: str
    rate: float | None = None


def surveys() -> str:
    """Show the surveys that match the filter and the search, in the requested order."""
    sought = " ".join(request.args.get("q", "")[:200].split())
    by = request.args.get("sort", "")
    by = by if by in SORTS else "title"
    only = request.args.get("state", "")
    rows = _rows()
    found = [row for row in rows if sought.casefold() in f"{row.title} {row.name}".casefold()]
    found = [row for row in found if only not in STATES or row.stage in STATES[only]]
    found.sort(key=SORTS[by])
    return render_template(
        "surveys.html",
        rows=found,
        there=len(rows),
        titles=Counter(row.title for row in rows),
        sought=sought,
        by=by,
        sorts=SORTS,
        only=only,
        states=STATES,
        deleted="deleted" in request.args,
    )


def _rows() -> list[SurveyListRow]:
    """List the surveys and drafts on which the reader has a role."""
    begun = {draft.name: SurveyDraft.read(draft.document) for draft in storage().drafts.drafts()}
    plans = storage().drafts.plans()
    listed = list_surveys(storage())
    published = [_published_row(revisions, plans.get(revisions[-1].name, PlannedSize())) for revisions in listed]
    known = {row.name for row in published}
    written = [_draft_row(name, draft) for name, draft in begun.items() if name not in known]
    return [row for row in (*published, *written) if row.role]


def _published_row(revisions: list[StoredSurvey], plan: PlannedSize) -> SurveyListRow:
    survey, stage = survey_of(revisions[-1].document), stage_of(revisions)
    reports, is_over = sum(map(reports_so_far, revisions)), stage in STATES["closed"]
    has_rate = is_over and survey.asks_for_invitation and len(survey.waves) == 1
    links = token_counts(storage(), survey.name).created if has_rate else 0
    return SurveyListRow(
        name=survey.name,
        title=words().text(survey.title, survey.default_language),
        stage=stage,
        reports=reports,
        people=None if is_over else plan.reports(len(survey.waves)),
        epsilon=survey.epsilon,
        trial=survey.trial,
        role=g.actor.role(survey.name) or "",
        rate=reports / links if links else None,
    )


def _draft_row(name: str, draft: SurveyDraft) -> SurveyListRow:
    title, epsilon = draft.title_in(words().language) or name, DraftFigures(draft).totals.epsilon
    return SurveyListRow(name, title, "draft", 0, draft.people, epsilon, False, g.actor.role(name) or "")


SORTS: Mapping[str, Callable[[SurveyListRow], Any]] = {
    "title": lambda row: row.title.casefold(),
    "stage": lambda row: (STAGES.index(row.stage), row.title.casefold()),
    "reports": lambda row: (-row.reports, row.title.casefold()),
}
"""Sort keys of the list."""


def survey(name: str) -> ResponseReturnValue:
    """Redirect to the page that its reader wants first."""
    revisions = storage().revisions(name)
    if revisions:
        return redirect(url_for(f"studio.{first_page(stage_of(revisions), partial(may_open, name))}", name=name), 303)
    if drafts.find_draft(name) is None:
        raise unknown_survey()
    return redirect(url_for("studio.design", name=name), 303)


ROUTES = (
    Route("studio.surveys", "GET", "/dashboard/", surveys, "List all surveys."),
    Route("studio.survey", "GET", "/dashboard/surveys/<name>/", survey, "Redirect to the page for the survey's stage."),
)
"""Routes of the list and of the bare address of a survey."""
