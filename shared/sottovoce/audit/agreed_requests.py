"""The requests that a client makes by agreement, in all that could tell people or devices apart; it makes no others."""

import json
from collections.abc import Iterator
from hashlib import sha256

from sottovoce.audit.watched_device import ORIGIN, TOKEN, Event, is_for_reports
from sottovoce.shared.spec import Survey

_ALWAYS = {"User-Agent": "sottovoce", "Accept-Encoding": "gzip", "Accept": "application/json"}
_SELDOM = {"GET": ("", "/revisions", "/status"), "POST": ("/reports", "/withdraw")}

NOT_AGREED = "a request goes elsewhere, or says more, than is agreed"


def is_redemption(request: Event) -> bool:
    """Whether a request asks for signatures."""
    return str(request.what[1]).endswith("/redeem")


def is_agreed(survey: Survey, request: Event, report_id: str) -> bool:
    """
    Whether a request has an agreed address, says in its headers what is agreed and no more, and trusts nobody else.

    Args:
        survey: that is answered.
        request: whose permission to report is a token or none; a signature is looked at elsewhere.
        report_id: of the report, which is all that a withdrawal tells.
    """
    method, address, headers, body, how = request.what
    posts = [(survey.is_blind, "/redeem"), (survey.asks_for_token, "/token")]
    paths = (*_SELDOM.get(method, ()), *(path for is_asked, path in posts if is_asked and method == "POST"))
    if address not in {f"{ORIGIN}/api/v1/surveys/{survey.name}{path}" for path in paths}:
        return False
    said = {str(name): str(value) for name, value in headers if str(name) != "Content-Length"}
    if survey.is_blind and is_for_reports(request):
        said.pop("Authorization", None)
    is_trusting = how[2] is True and how[3] is None
    if any(address.endswith(path) and json.loads(body or b"{}") != all_ for path, all_ in _all_said(report_id)):
        return False
    return is_trusting and said == _agreed(survey, request)


def _all_said(report_id: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The paths of what says one thing only, and that."""
    yield "/withdraw", {"report_id": report_id}
    yield "/token", {"token_sha256": sha256(TOKEN.encode()).hexdigest()}


def _agreed(survey: Survey, request: Event) -> dict[str, str]:
    """The same for every person and every answer, and a connection of its own for what must not be brought together."""
    is_alone = survey.is_blind and (is_redemption(request) or is_for_reports(request))
    typed = {"Content-Type": "application/json"} if request.what[0] == "POST" else {}
    is_named = survey.asks_for_token and is_for_reports(request)
    permitted = {"Authorization": f"Bearer {TOKEN}"} if is_named else {}
    return {**_ALWAYS, **typed, **permitted, "Connection": "close" if is_alone else "keep-alive"}
