"""Reply to errors: RFC 9457 problem documents for programs, pages for browsers; the only module with status codes.

For privacy, no reply or log entry quotes what a request contained.
"""

import json
import logging
from collections.abc import Callable
from errno import EDQUOT, ENOSPC

from flask import Flask, Response, g, request, url_for
from sottovoce.aggregator.health import storage_failures
from sottovoce.aggregator.http import error_pages
from sottovoce.aggregator.http.problem_docs import EXPLANATIONS
from sottovoce.aggregator.i18n import translator
from sottovoce.aggregator.storage.accounts.models import AccessRefused
from sottovoce.shared import errors
from werkzeug.exceptions import HTTPException, MethodNotAllowed

CONTENT_TYPE = "application/problem+json"

STATUS = {code: each.status for code, each in EXPLANATIONS.items()}
"""HTTP status by stable code."""

TITLES = {code: each.title for code, each in EXPLANATIONS.items()}
"""Title of the problem document, by stable code."""

EXPLAINED = "/problems/"
"""Path of the pages that explain the codes, the same on every aggregator."""

STAFF = "/dashboard/"
"""Path of researchers' pages, whose errors have texts for researchers."""

NO_ROOM = "the disk has no room for the file that was asked for"

RETRY_AFTER = "5"  # seconds
COME_BACK = frozenset({429, 503})
"""Statuses whose replies carry ``Retry-After``."""

CHALLENGE = [("WWW-Authenticate", "Bearer")]
"""Header that every 401 reply must carry (RFC 9110, 11.6.1)."""

_log = logging.getLogger("sottovoce")

_BY_STATUS = {404: "not_found", 405: "method_not_allowed", 413: "too_large", 415: "unsupported_type"}


class Refusal(Exception):
    """Refusal of a request; ``code`` is a key of ``STATUS``, ``detail`` a sentence about this case."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail


def document(code: str, detail: str = "", problems: list[dict[str, str]] | None = None) -> bytes:
    """Return the problem document for a code of ``STATUS``, as JSON.

    ``detail`` is a sentence about this case, which must not quote the request; ``problems`` are places and messages.
    """
    body: dict[str, object] = {"type": EXPLAINED + code, "title": TITLES[code], "status": STATUS[code], "code": code}
    if detail:
        body["detail"] = detail
    if problems:
        body["problems"] = problems
    return json.dumps(body).encode()


def response(code: str, detail: str = "", problems: list[dict[str, str]] | None = None) -> Response:
    """Return Flask's error reply to the current request; the arguments are those of ``document``."""
    # Unknown paths and bodies that are too large are refused before authentication, so ``actor`` is not set for them.
    is_anybody = request.endpoint is None or code == "too_large" or g.get("actor") is not None
    home = url_for("studio.surveys") if request.path.startswith(STAFF) and is_anybody else ""
    status, headers, body = reply(code, lambda name: request.headers.get(name, ""), detail, problems, home)
    return Response(body, status, headers)


def reply(
    code: str,
    header: Callable[[str], str],
    detail: str = "",
    problems: list[dict[str, str]] | None = None,
    home: str = "",
) -> tuple[int, list[tuple[str, str]], bytes]:
    """Return status, headers and body: a page if the request prefers HTML, else the problem ``document``.

    ``header`` looks up a header of the request by its name in lower case, "" if missing; ``home`` is the path of the
    researchers' list of surveys, "" for respondents.
    """
    if error_pages.wants_page(header("accept")):
        language = translator.cookie_language(header("cookie")) or translator.language_of(header("accept-language"))
        return (
            STATUS[code],
            [*error_pages.headers(language), *_more(code)],
            error_pages.problem_page(code, language, home),
        )
    return STATUS[code], [("Content-Type", CONTENT_TYPE), *_more(code)], document(code, detail, problems)


def _more(code: str) -> list[tuple[str, str]]:
    headers = []
    if STATUS[code] in COME_BACK:
        headers.append(("Retry-After", RETRY_AFTER))
    if STATUS[code] == STATUS["unauthorized"]:
        headers += CHALLENGE
    return headers


def describe(error: Exception, where: str | None) -> tuple[str, str]:
    """Return code and detail for an exception in the route ``where``, and log it if an operator must act."""
    if isinstance(error, AccessRefused):
        return "forbidden", str(error)
    if isinstance(error, Refusal):
        return error.code, error.detail
    if isinstance(error, errors.ReportRejected | errors.EstimateError | errors.RevisionConflict):
        return error.code, str(error)
    if isinstance(error, errors.StorageError):
        storage_failures.note(str(error))
        return "storage", ""
    if isinstance(error, OSError) and error.errno in {ENOSPC, EDQUOT}:
        storage_failures.note(f"{NO_ROOM} ({where})")
        return "storage", NO_ROOM
    # Privacy: log files and lines only, since the request and the exception's text may contain answers.
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}")
        trace = trace.tb_next
    _log.error("bug: %s at %s in %s", type(error).__name__, where, " < ".join(reversed(frames)))
    return "internal", ""


def register(app: Flask) -> None:
    """Register error handlers that answer every error with a problem document or page."""
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _error)


def _error(error: Exception) -> Response:
    if isinstance(error, errors.SpecError | errors.OptionsError):
        return response(error.code, problems=[problem._asdict() for problem in error.problems])
    return response(*describe(error, request.endpoint))


def _http_error(error: HTTPException) -> Response:
    found = response(_BY_STATUS.get(error.code or 0, "malformed" if (error.code or 0) < 500 else "internal"))
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        found.headers["Allow"] = ", ".join(sorted(error.valid_methods))
    return found
