"""The requests that a client makes by agreement, in all that could tell people or devices apart; it makes no others."""

import json
from collections.abc import Mapping, Sequence

from sottovoce.audit.listener import WireRequest
from sottovoce.audit.mock_aggregator import API, TOKEN, token_body
from sottovoce.shared.spec import Survey

NOT_AGREED = "a request goes elsewhere, or says more, than is agreed"

_PYTHON = {"user-agent": "sottovoce", "accept": "application/json", "accept-encoding": "gzip"}
# What node's own fetch says of every request that is neither stored nor taken from a cache.
_NODE = {
    "user-agent": "node",
    "accept": "*/*",
    "accept-language": "*",
    "accept-encoding": "gzip, deflate",
    "sec-fetch-mode": "cors",
    "cache-control": "no-cache",
    "pragma": "no-cache",
}
_OF_CONNECTION = {"host", "connection", "content-length", "content-type", "authorization"}
_PATHS = {"GET": ("", "/revisions", "/status"), "POST": ("/reports", "/withdraw")}


def is_for_reports(request: WireRequest) -> bool:
    """Return True if a request submits a report."""
    return request.method == "POST" and request.address.endswith("/reports")


def is_agreed(request: WireRequest, surveys: Sequence[Survey]) -> bool:
    """
    Return True if the address is documented and the headers hold only documented values.

    Args:
        request: to the aggregator.
        surveys: that the aggregator serves.
    """
    name, _, _ = request.address.removeprefix(API).partition("/")
    survey = next((each for each in surveys if each.name == name), None)
    if survey is None or request.address not in {f"{API}{name}{path}" for path in _paths(survey, request.method)}:
        return False
    headers = {key.lower(): value for key, value in request.headers}
    own = {key: value for key, value in headers.items() if key not in _OF_CONNECTION}
    is_single = len(headers) == len(request.headers)
    return is_single and own in (_PYTHON, _NODE) and _is_permitted(survey, request, headers) and _is_minimal(request)


def _paths(survey: Survey, method: str) -> list[str]:
    more = [path for path, is_asked in (("/redeem", survey.is_blind), ("/token", survey.asks_for_token)) if is_asked]
    return [*_PATHS.get(method, ()), *(more if method == "POST" else [])]


def _is_permitted(survey: Survey, request: WireRequest, headers: Mapping[str, str]) -> bool:
    """A token goes with reports alone, until they have arrived; whether a signature is one is looked at elsewhere."""
    authorization = headers.get("authorization")
    if authorization is None or (survey.is_blind and is_for_reports(request)):
        return True
    return survey.asks_for_token and is_for_reports(request) and authorization == f"Bearer {TOKEN}"


def _is_minimal(request: WireRequest) -> bool:
    """A withdrawal says which report, and a question about a token its digest; nothing else."""
    if request.address.endswith("/token"):
        return request.body == token_body()
    if request.address.endswith("/withdraw"):
        fields = json.loads(request.body)
        return list(fields) == ["report_id"] and len(str(fields["report_id"])) == 32
    return True
