"""
What an ethics board sees through its link: every text in every language and the privacy account of one revision.

Whoever has the link has no account, and sees results only if the survey's owner has said so.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from flask import Response, current_app, g, render_template, request
from sottovoce.aggregator.accounts.secrets import link_hash
from sottovoce.aggregator.analysis.estimates import SurveyResults
from sottovoce.aggregator.api.results import results_of
from sottovoce.aggregator.http.routing import Kind, Query, Route
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.storage.accounts.models import BoardView
from sottovoce.aggregator.storage.audit_log.events import NOBODY
from sottovoce.aggregator.studio.design.sentences import texts_in_words
from sottovoce.aggregator.studio.labels import title_of
from sottovoce.aggregator.studio.language import words
from sottovoce.aggregator.studio.request_context import as_date, storage, tables, today
from sottovoce.aggregator.studio.survey.privacy_page import account_body
from sottovoce.aggregator.surveys.stored_surveys import survey_of
from sottovoce.shared.spec import Survey


@dataclass(frozen=True)
class SharedAccount:
    """
    What a link shows.

    Attributes:
        view: the link.
        survey: the revision that it is bound to.
        corrected: another revision has been published since.
    """

    view: BoardView
    survey: Survey
    corrected: bool


def ethics() -> Response:
    """The page behind a link; one that is not, or no longer, good shows nothing."""
    shown = _shown(request.args.get("link", ""))
    if shown is None:
        return Response(render_template("ethics.html", shown=None), 404)
    page = render_template(
        "ethics.html",
        shown=shown,
        until=as_date(shown.view.expires_on),
        texts=texts_in_words(shown.survey, words()),
        account=account_body(shown.survey, words()),
        checks=_checks(shown),
        results=_results(shown.view),
        title_of=title_of,
    )
    return Response(page)


def _shown(secret: str) -> SharedAccount | None:
    view = tables().view(link_hash(secret), today())
    stored = [] if view is None else storage().revisions(view.survey)
    bound = [revision for revision in stored if view is not None and revision.digest == view.digest]
    if view is None or not bound:
        return None
    return SharedAccount(view, survey_of(bound[0].document), _last_digest(stored) != view.digest)


def _last_digest(revisions: Sequence[StoredSurvey]) -> str:
    return revisions[-1].digest


def _checks(shown: SharedAccount) -> str:
    """What is typed on another machine to have form and client checked."""
    settings = current_app.extensions["settings"]
    link = shlex.quote(settings.link(shown.survey.name, shown.view.digest))
    survey = shlex.quote(f"{settings.url}/api/v1/surveys/{shown.survey.name}")
    return f"sottovoce verify {link}\ncurl -o survey.json {survey}\nsottovoce audit survey.json --client {link}"


def _results(view: BoardView) -> SurveyResults | None:
    """The results, noted in the journal as read by somebody without an account; None if the board is shown none."""
    if not view.results:
        return None
    g.who = NOBODY
    return results_of(view.survey)


ROUTES = (
    Route(
        "studio.ethics",
        "GET",
        "/dashboard/ethics",
        ethics,
        "What an ethics board is shown.",
        Kind.PAGE,
        ("text/html",),
        query=(Query("link", "The link's secret."),),
    ),
)
"""The page that a link for an ethics board leads to."""
