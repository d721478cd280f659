"""Show the privacy account of a survey or draft, for an ethics board, in each of its languages."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from flask import Response, current_app, jsonify, render_template, request
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.i18n.translator import Words, catalogue, words_for
from sottovoce.aggregator.privacy_account.document import AccountTerms, Document, account
from sottovoce.aggregator.privacy_account.page import body, page
from sottovoce.aggregator.studio.design.preview_page import previewed_survey
from sottovoce.aggregator.studio.request_context import attachment, language_of_texts, print_reply, words
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
    body = jsonify(_document(survey, spoken)).data
    return attachment(body, "application/json", f"{name}-privacy.json")


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


_PRIVACY = "/dashboard/surveys/<name>/privacy"

ROUTES = (
    Route("studio.privacy", "GET", _PRIVACY, privacy, "Show a survey's whole privacy account."),
    Route("studio.privacy_print", "GET", f"{_PRIVACY}/account.html", privacy_print,
          "Show the privacy account for printing."),
    Route("studio.privacy_data", "GET", f"{_PRIVACY}/account.json", privacy_data,
          "Return the privacy account as a JSON document."),
)  # fmt: skip
"""Routes of the page "Privacy" and of its files."""
