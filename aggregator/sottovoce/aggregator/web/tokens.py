"""One-time tokens for researchers' programs: made and shown once, counted, taken back."""

import csv
import io
from typing import Any

from flask import Blueprint, Response, current_app, jsonify, request
from sottovoce.aggregator.published import survey_of
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.tokens import create_tokens, revoke_tokens, token_counts
from sottovoce.aggregator.web import problems
from sottovoce.aggregator.web.collect import newest
from sottovoce.aggregator.wire import malformed
from sottovoce.shared import canonical

MOST_AT_ONCE = 100_000
"""Tokens that one request makes; the command line makes more."""

blueprint = Blueprint("tokens", __name__, url_prefix="/api/v1/surveys/<name>/tokens")


@blueprint.get("")
def stats(name: str) -> Response:
    """How many were made, spent, revoked, and are unspent; which ones is not known to anybody."""
    return jsonify(token_counts(_storage(), newest(name).name)._asdict())


@blueprint.post("")
def create(name: str) -> Response:
    """Make ``{"count": n}`` tokens; they are in this reply and nowhere else, as JSON or, if asked for, as CSV."""
    count = _given("count")
    if type(count) is not int or not 1 <= count <= MOST_AT_ONCE:
        raise malformed()
    survey = newest(name)
    if not survey_of(survey.document).asks_for_token:
        return problems.response("not_found", "this survey asks for no tokens")
    rows = [(token, _link(survey, token)) for token in create_tokens(_storage(), name, count)]
    if request.accept_mimetypes.best_match(["application/json", "text/csv"]) == "text/csv":
        return _csv(rows)
    return jsonify({"survey": name, "tokens": [{"token": token, "link": link} for token, link in rows]})


@blueprint.post("/revoke")
def revoke(name: str) -> Response:
    """Take back ``{"tokens": [..]}``; the reply says how many of them were still good, and not which."""
    tokens = _given("tokens")
    if type(tokens) is not list or not all(type(token) is str for token in tokens):
        raise malformed()
    return jsonify({"survey": name, "revoked": revoke_tokens(_storage(), newest(name).name, tokens)})


def _storage() -> Any:  # noqa: ANN401 - Flask's register has no types
    return current_app.extensions["storage"]


def _given(key: str) -> Any:  # noqa: ANN401 - checked by who asks for it
    """What the body holds under its one key."""
    try:
        document = canonical.load(request.get_data())
    except ValueError:
        raise malformed() from None
    if document.keys() != {key}:
        raise malformed()
    return document[key]


def _link(survey: StoredSurvey, token: str) -> str:
    return f"{current_app.extensions['settings'].link(survey.name, survey.digest)}&t={token}"


def _csv(rows: list[tuple[str, str]]) -> Response:
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(["token", "link"])
    writer.writerows(rows)
    reply = Response(file.getvalue(), content_type="text/csv; charset=utf-8")
    reply.headers["Content-Disposition"] = "attachment; filename=tokens.csv"
    return reply
