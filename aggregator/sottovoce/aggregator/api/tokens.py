"""Create, count and revoke one-time tokens for researchers."""

import re
from collections.abc import Collection
from typing import Any

from flask import Response, current_app, g, jsonify, request
from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.headers import bearer_token
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.intake.decode import malformed
from sottovoce.aggregator.invitations.personal_links import links_csv
from sottovoce.aggregator.invitations.tokens import (
    KeyReused,
    TokenRequest,
    as_document,
    create_tokens,
    create_tokens_once,
    revoke_tokens,
    token_counts,
)
from sottovoce.aggregator.surveys.lifecycle import newest, survey_of
from sottovoce.shared import canonical

MOST_AT_ONCE = 100_000
"""Maximum number of tokens for one request; the command line allows more."""

_KEY = re.compile(r'("?)[A-Za-z0-9._~:+/=-]{16,200}\1').fullmatch


def stats(name: str) -> Response:
    """Return the numbers of tokens created, spent, revoked, unspent and on hold after a restore; never which ones."""
    storage = current_app.extensions["storage"]
    return jsonify(as_document(token_counts(storage, newest(storage, name).name)))


def create(name: str) -> Response:
    """Create ``{"count": n}`` tokens, with ``"wave": w`` for links to a wave other than 0.

    Only this reply contains them, as JSON or, by content negotiation, as CSV. With an ``Idempotency-Key`` a repeated
    request returns the same tokens.
    """
    given = _parse_body({"count"}, {"wave"})
    count, wave = given["count"], given.get("wave", 0)
    if type(count) is not int or not 1 <= count <= MOST_AT_ONCE:
        raise malformed(f"count is a whole number from 1 to {MOST_AT_ONCE:,}")
    if type(wave) is not int or wave < 0:
        raise malformed("wave is a whole number from 0 on")
    storage = current_app.extensions["storage"]
    survey = newest(storage, name)
    parsed = survey_of(survey.document)
    if not parsed.asks_for_invitation:
        return problems.response("not_found", "this survey asks for no tokens")
    if wave >= len(parsed.waves):
        return problems.response("not_found", "the survey has no such wave")
    link = current_app.extensions["settings"].link(survey.name, survey.digest, wave)
    key = _idempotency_key()
    try:
        if key:
            researcher = bearer_token(request.headers.get("Authorization", ""))
            asked = TokenRequest(researcher, name, key, canonical.dump({"count": count, "wave": wave}), g.who)
            made = create_tokens_once(storage, name, count, asked)
        else:
            made = create_tokens(storage, name, count, g.who)
    except KeyReused:
        return problems.response("key_reused")
    rows = [(token, f"{link}&t={token}") for token in made]
    if request.accept_mimetypes.best_match(["application/json", "text/csv"]) == "text/csv":
        reply = Response(links_csv(rows, parsed.trial), content_type="text/csv; charset=utf-8")
        reply.headers["Content-Disposition"] = "attachment; filename=tokens.csv"
        return reply
    trial = {"trial": True} if parsed.trial else {}
    return jsonify({**trial, "survey": name, "tokens": [{"token": token, "link": link} for token, link in rows]})


def _idempotency_key() -> str:
    """Return the ``Idempotency-Key`` of the request, without quotation marks; "" for none."""
    given = request.headers.get("Idempotency-Key")
    if given is None:
        return ""
    if _KEY(given) is None:
        raise malformed("an Idempotency-Key is 16 to 200 letters, digits and . _ ~ : + / = - between quotation marks")
    return given.strip('"')


def revoke(name: str) -> Response:
    """Revoke ``{"tokens": [..]}``; the reply has the number of tokens that were unspent, not which ones."""
    tokens = _parse_body({"tokens"})["tokens"]
    if type(tokens) is not list or not all(type(token) is str for token in tokens):
        raise malformed("tokens is a list of texts")
    storage = current_app.extensions["storage"]
    return jsonify({"survey": name, "revoked": revoke_tokens(storage, newest(storage, name).name, tokens, g.who)})


def _parse_body(keys: set[str], optional: Collection[str] = ()) -> dict[str, Any]:
    """Parse the body as an object with exactly these keys, and perhaps optional ones; callers check the values."""
    try:
        document = canonical.load(request.get_data())
    except ValueError as error:
        raise malformed(f"the body {error}") from None
    if not keys <= document.keys() <= keys | set(optional):
        hint = "".join(f", and perhaps {key}" for key in optional)
        raise malformed(f"the body is an object with {' and '.join(keys)}{hint}")
    return document


_TOKENS = "/api/v1/surveys/<name>/tokens"

ROUTES = (
    Route("tokens.stats", "GET", _TOKENS, stats,
          "Count one-time tokens: created, used, revoked, unused, and on hold after a restore.", Kind.RESEARCHER,
          ("token-counts",)),
    Route("tokens.create", "POST", _TOKENS, create,
          "Create one-time tokens; only this reply shows them, as JSON or as CSV.", Kind.RESEARCHER,
          ("tokens", "text/csv"), body="token-request", refuses=("not_found", "key_reused")),
    Route("tokens.revoke", "POST", f"{_TOKENS}/revoke", revoke,
          "Revoke one-time tokens; the reply counts those that were still valid.", Kind.RESEARCHER, ("revoked",),
          body="revoke"),
)  # fmt: skip
"""Routes of one-time tokens."""
