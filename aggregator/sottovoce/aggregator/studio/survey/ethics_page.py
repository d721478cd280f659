"""Show an ethics board all texts in all languages, and the privacy account, of one revision.

The link works without an account. It shows results only if the owner of the survey allowed it.
"""

import shlex
from dataclasses import dataclass

from flask import Response, current_app, g, render_template, request
from sottovoce.aggregator.accounts.authentication import link_hash, storage
from sottovoce.aggregator.analysis.estimates import SurveyResults
from sottovoce.aggregator.api.results import results_of
from sottovoce.aggregator.clock import date_of
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.storage.accounts.models import BoardView
from sottovoce.aggregator.storage.audit_log.events import NO_ACTOR
from sottovoce.aggregator.studio.design.sentences import texts_in_words
from sottovoce.aggregator.studio.labels import title_of
from sottovoce.aggregator.studio.request_context import tables, today, words
from sottovoce.aggregator.studio.survey.privacy_page import account_body
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.shared.spec import Survey


@dataclass(frozen=True)
class SharedAccount:
    """Content of a link for an ethics board; ``corrected``: a newer revision was published since the link's."""

    view: BoardView
    survey: Survey
    corrected: bool


def ethics() -> Response:
    """Show the page of a link; an unknown or expired link gets the same empty page with status 404."""
    shown = _load_account(request.args.get("link", ""))
    if shown is None:
        return Response(render_template("ethics.html", shown=None), 404)
    page = render_template(
        "ethics.html",
        shown=shown,
        until=date_of(shown.view.expires_on),
        texts=texts_in_words(shown.survey, words()),
        account=account_body(shown.survey, words()),
        checks=_checks(shown),
        results=_results(shown.view),
        title_of=title_of,
    )
    return Response(page)


def _load_account(secret: str) -> SharedAccount | None:
    view = tables().view(link_hash(secret), today())
    view = None if view is None or view.public else view
    stored = [] if view is None else storage().revisions(view.survey)
    bound = [revision for revision in stored if view is not None and revision.digest == view.digest]
    if view is None or not bound:
        return None
    return SharedAccount(view, survey_of(bound[0].document), stored[-1].digest != view.digest)


def _checks(shown: SharedAccount) -> str:
    """Return the commands for the board to verify the form and audit the client on its own computer."""
    settings = current_app.extensions["settings"]
    link = shlex.quote(settings.link(shown.survey.name, shown.view.digest))
    survey = shlex.quote(f"{settings.url}/api/v1/surveys/{shown.survey.name}")
    return f"sottovoce device verify {link}\ncurl -o survey.json {survey}\nsottovoce audit survey.json --client {link}"


def _results(view: BoardView) -> SurveyResults | None:
    """Return the results, and log the reading without an account; None if the link does not include results."""
    if not view.results:
        return None
    g.who = NO_ACTOR
    return results_of(view.survey)


ROUTES = (Route("studio.ethics", "GET", "/dashboard/ethics", ethics, "Show the page for an ethics board."),)
"""Route of the page for ethics boards."""
