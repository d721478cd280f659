"""Show a survey's results to everyone who has its link, which an owner makes and can end.

The page shows estimates of randomized questions at the published steps, and nothing finer: no groups or waves, no
reports that no step has shown, no files and no warnings, and of public answers only those of a direct arm, once joint
results exist and if at least five people gave each answer; else it says so, alike for none and for four. Reading it
leaves no line in the audit log.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from flask import Response, current_app, render_template, request
from sottovoce.aggregator.accounts.authentication import link_hash, storage
from sottovoce.aggregator.analysis.estimates import LEAST_COHORT, RevisionCounts
from sottovoce.aggregator.analysis.published_counts import is_direct, revisions_of
from sottovoce.aggregator.http.headers import etag_of, unless_known
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.studio.request_context import tables, today, words
from sottovoce.aggregator.studio.results.results_page import RenderedResults, RenderingCache, snapshot_key
from sottovoce.aggregator.studio.results.results_view import view_of
from sottovoce.aggregator.studio.results.run_analysis import why_nothing
from sottovoce.aggregator.studio.results.view_options import ViewOptions
from sottovoce.shared.accounting import BELIEF_BEFORE, percent_after


def shared_results() -> Response:
    """Show the page of a link; an unknown, expired or ended link gets the same empty page with status 404."""
    view = tables().view(link_hash(request.args.get("link", "")), today())
    revisions = revisions_of(storage(), view.survey) if view is not None and view.public else []
    if not revisions or revisions[-1].survey.trial:
        return _unlisted(Response(render_template("shared.html", results=None), 404))
    cache: RenderingCache = current_app.extensions["rendered_results"]
    survey = revisions[-1].survey
    asked = (each.name for each in survey.questions if is_direct(survey, each) and each.options)
    direct = frozenset() if why_nothing(survey.name) else frozenset(asked)
    key = ("shared", snapshot_key(revisions), words().language, direct)
    page = cache.get(revisions[-1].survey.name, key, lambda: _render(revisions, direct)).live
    return _unlisted(unless_known(Response(page), etag_of(page.encode())))


def _render(revisions: Sequence[RevisionCounts], direct: Collection[str]) -> RenderedResults:
    found = view_of(revisions, ViewOptions.of({}), PlannedSize())
    asked = [card for card in found.cards if card.result.question.name in direct]
    counts = ((card, card.result.tally, range(card.result.question.domain.size)) for card in asked)
    few = [card for card, tally, places in counts if any(tally.get(place, 0) < LEAST_COHORT for place in places)]
    shown = [card for card in found.cards if card.result.question.mechanism or (card in asked and card not in few)]
    view = replace(found, cards=shown)
    names = {
        "survey": view.survey,
        "results": view.results,
        "view": view,
        "still_open": not view.results.closed,
        "worst": percent_after(view.results.epsilon_of_person) / 100 if view.survey.private else None,
        "belief_before": BELIEF_BEFORE,
        "few": few,
        "about": "shared_about_direct" if asked else "shared_about",
    }
    return RenderedResults(view, names, render_template("shared.html", **names))


def _unlisted(reply: Response) -> Response:
    reply.headers["X-Robots-Tag"] = "noindex, nofollow"
    return reply


ROUTES = (
    Route("studio.shared_results", "GET", "/dashboard/shared", shared_results, "Show the public page of results.",
          has_etag=True),
)  # fmt: skip
"""Route of the public page of results."""
