"""Edit the institution's name, imprint, contact, colour and logo, for the server and for single surveys."""

import json
from dataclasses import asdict

from flask import g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator import institution as details
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.studio.request_context import forget_institution, shown_institution, words
from sottovoce.aggregator.studio.survey_frame import frame_of

FIELDS = ("name", "imprint", "contact", "accent")
"""Attributes that are typed; the logo is a file."""


def institution() -> str:
    """Show the details of the server's institution."""
    return _page("", asdict(shown_institution()))


def survey_institution(name: str) -> str:
    """Show the details that a survey has of its own; empty ones are the server's."""
    return _page(name, _own(name))


def _own(survey: str) -> dict[str, str]:
    found = storage().institutions.documents(survey)
    return dict(json.loads(found[survey])) if survey in found else {}


def change_institution(name: str = "") -> ResponseReturnValue:
    """Replace the details of the server's institution, or those that a survey has of its own."""
    given = {key: " ".join(request.form.get(key, "").split()) for key in FIELDS}
    former = _own(name) if name else asdict(shown_institution())
    sent = request.files.get("logo")
    try:
        body = sent.read(details.MOST_LOGO_BYTES + 1) if sent else b""
        kept = "" if "no_logo" in request.form else former.get("logo", "")
        checked = details.check_institution({**given, "logo": details.logo_uri(body) if body else kept})
    except details.InvalidInstitution as refused:
        return _page(name, {**given, "logo": former.get("logo", "")}, refused.field), 422
    found = {key: value for key, value in asdict(checked).items() if value}
    # The server's document may be empty: then it replaces the details in the operator's file.
    storage().institutions.save(name, json.dumps(found).encode() if found or not name else None, g.who)
    forget_institution()
    return redirect(f"{_address(name)}?saved", 303)


def _page(survey: str, shown: dict[str, str], refused: str = "") -> str:
    frame = frame_of(survey, "settings") if survey else None
    return render_template(
        "institution.html" if frame is None else "survey_institution.html",
        page="settings",
        frame=frame,
        name=survey,
        shown=shown,
        refused=refused,
        saved="saved" in request.args,
        address=_address(survey),
        least=words().number(details.LEAST_CONTRAST, 1),
        most=words().number(details.MOST_LOGO_BYTES),
    )


def _address(survey: str) -> str:
    return url_for("studio.survey_institution", name=survey) if survey else url_for("studio.institution")


_SERVER, _SURVEY = "/dashboard/institution", "/dashboard/surveys/<name>/settings/institution"

ROUTES = (
    Route("studio.institution", "GET", _SERVER, institution, "Show the institution's details."),
    Route("studio.change_institution", "POST", _SERVER, change_institution, "Change the institution's details."),
    Route("studio.survey_institution", "GET", _SURVEY, survey_institution, "Show the institution of one survey."),
    Route("studio.change_survey_institution", "POST", _SURVEY, change_institution,
          "Change the institution of one survey."),
)  # fmt: skip
"""Routes of the pages about the institution."""
