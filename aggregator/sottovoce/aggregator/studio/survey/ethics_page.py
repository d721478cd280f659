"""Show the privacy account of a survey or draft, for an ethics board, in each of its languages.

A board's link works without an account and shows all texts of one revision, too; results only if the owner of the
survey allowed it.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from flask import Response, current_app, g, jsonify, render_template, request
from sottovoce.aggregator.accounts.authentication import link_hash, storage
from sottovoce.aggregator.analysis.estimates import SurveyResults
from sottovoce.aggregator.api.results import results_of
from sottovoce.aggregator.clock import date_of
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.i18n.translator import Words, catalogue, words_for
from sottovoce.aggregator.privacy_account.document import AccountTerms, Document, account
from sottovoce.aggregator.privacy_account.page import body, page
from sottovoce.aggregator.storage.accounts.models import BoardView
from sottovoce.aggregator.storage.audit_log.events import NO_ACTOR
from sottovoce.aggregator.studio.design.preview_page import previewed_survey
from sottovoce.aggregator.studio.design.sentences import texts_in_words
from sottovoce.aggregator.studio.labels import title_of
from sottovoce.aggregator.studio.request_context import attachment, language_of_texts, print_reply, tables, today, words
from sottovoce.aggregator.studio.survey.release_page import release_state
from sottovoce.aggregator.studio.survey_frame import frame_of
from sottovoce.aggregator.surveys.lifecycle import survey_of, unknown_survey
from sottovoce.shared.spec import Survey


@dataclass(frozen=True)
class AccountSource:
    """Published survey or draft that a privacy account describes; ``survey`` is None for an incomplete draft."""

    survey: Survey | None
    is_draft: bool
    has_draft: bool

    @property
    def language(self) -> str:
        """Language in ``?in=``, if the survey has it; else the reader's; else the survey's default."""
        return words().language if self.survey is None else language_of_texts(self.survey)


def privacy(name: str) -> str:
    """Show the account inside the studio."""
    source = _account_source(name)
    spoken = words_for(source.language)
    return render_template(
        "privacy.html",
        page="privacy",
        frame=frame_of(name, "privacy"),
        source=source,
        spoken=spoken,
        account="" if source.survey is None else account_body(source.survey, spoken),
        release=None if source.is_draft else release_state(name),
    )


def privacy_print(name: str) -> Response:
    """Serve the account as a page to print."""
    survey, spoken = _survey_and_words(_account_source(name))
    return print_reply(page(_document(survey, spoken), survey, spoken, _sums(survey)))


def privacy_data(name: str) -> Response:
    """Download the account as JSON, in the format ``sottovoce-privacy/1``."""
    survey, spoken = _survey_and_words(_account_source(name))
    return attachment(jsonify(_document(survey, spoken)).data, "application/json", f"{name}-privacy.json")


def _account_source(name: str) -> AccountSource:
    revisions, draft = storage().revisions(name), storage().drafts.draft(name)
    if not revisions and draft is None:
        raise unknown_survey()
    if draft is not None and (not revisions or request.args.get("of") == "draft"):
        return AccountSource(previewed_survey(name), is_draft=True, has_draft=True)
    return AccountSource(survey_of(revisions[-1].document), is_draft=False, has_draft=draft is not None)


def _survey_and_words(source: AccountSource) -> tuple[Survey, Words]:
    if source.survey is None:
        raise unknown_survey()
    return source.survey, words_for(source.language)


def account_body(survey: Survey, spoken: Words) -> str:
    """Return the account of a survey as HTML to embed in another page."""
    return body(_document(survey, spoken), survey, spoken, _sums(survey))


def _document(survey: Survey, spoken: Words) -> Document:
    return account(survey, AccountTerms(waves=len(survey.waves)), _form_sentences(spoken), spoken)


def _sums(survey: Survey) -> tuple[str, ...]:
    """Choose the sums of epsilon that the survey itself determines.

    A panel needs more than one wave. The sum over a household is left out, since a survey does not know households.
    """
    return ("question", "report", "panel") if len(survey.waves) > 1 else ("question", "report")


def _form_sentences(spoken: Words) -> Mapping[str, str]:
    """Load the form's catalogue of a language; empty if the aggregator serves no form."""
    found = current_app.extensions["assets"].get(f"catalogues/{spoken.language}.json")
    # Served catalogues have what every form says, and not what only a part of it says of waves, facts and blocks.
    own = {f"odds_{key}": catalogue(spoken.language)[f"results_odds_{key}"] for key in _OF_PARTS}
    return {} if found is None else {**own, **json.loads(found.asset.body)}


_OF_PARTS = ("waves", "crosswise", "unrelated_question", "together_yes_no", "together_option")


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


_PRIVACY = "/dashboard/surveys/<name>/privacy"

ROUTES = (
    Route("studio.privacy", "GET", _PRIVACY, privacy, "Show a survey's whole privacy account."),
    Route("studio.privacy_print", "GET", f"{_PRIVACY}/account.html", privacy_print,
          "Show the privacy account for printing."),
    Route("studio.privacy_data", "GET", f"{_PRIVACY}/account.json", privacy_data,
          "Return the privacy account as a JSON document."),
    Route("studio.ethics", "GET", "/dashboard/ethics", ethics, "Show the page for an ethics board."),
)  # fmt: skip
"""Routes of the page "Privacy", of its files, and of the page for ethics boards."""
