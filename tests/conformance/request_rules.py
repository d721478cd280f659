"""Check that a client makes only the agreed requests, in all that could tell people or devices apart.

Where reports are signed, neither the invitation nor the blinded ids that were sent for signing can be linked to the
report, in any run.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from sottovoce.shared.errors import SurveyError
from sottovoce.shared.redemption import parse_request, spell
from sottovoce.shared.report import Report
from sottovoce.shared.spec import Survey

from tests.conformance.client_process import API, TOKEN, RunObservation, token_body
from tests.conformance.listener import Disk, WireRequest
from tests.conformance.signing_keys import SCHEME, blinded_of, is_signed

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
    """Return whether a request submits a report."""
    return request.method == "POST" and request.address.endswith("/reports")


def is_agreed(request: WireRequest, surveys: Sequence[Survey]) -> bool:
    """Return whether the address is documented and the headers hold only documented values; ``surveys`` are those
    served.
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
    """Check that a token goes with reports alone, until they have arrived; its signature is checked elsewhere."""
    authorization = headers.get("authorization")
    if authorization is None or (survey.is_blind and is_for_reports(request)):
        return True
    return survey.asks_for_token and is_for_reports(request) and authorization == f"Bearer {TOKEN}"


def _is_minimal(request: WireRequest) -> bool:
    """Check that a withdrawal says which report, and a question about a token its digest; nothing else."""
    if request.address.endswith("/token"):
        return request.body == token_body()
    if request.address.endswith("/withdraw"):
        fields = json.loads(request.body)
        return list(fields) == ["report_id"] and len(str(fields["report_id"])) == 32
    return True


NOT_SIGNED = "a report does not come with the signature of its id alone"
TWICE = "an invitation is not redeemed once, for one id of each wave"
NOT_BLINDED = "what is sent to be signed is not the ids, blinded with the random bytes that were drawn for it"
SECRET_IN_REPORT = "the invitation, or what was sent to be signed, goes with the report"
SHARED = "redemption and report share a connection"
SECRET_RETAINED = "what was sent to be signed, the signature or the invitation is kept for longer than it is needed"


def is_redemption(request: WireRequest) -> bool:
    """Return whether a request asks for signatures."""
    return request.address.endswith("/redeem")


def unlike_redemption(survey: Survey, reports: Sequence[Report], seen: RunObservation, tape: bytes) -> str:
    """Name the rule that one run breaks when it redeems and reports; "" if none.

    ``survey`` has the test keys, ``reports`` are one of each wave, ``tape`` is the random bytes of the redemption.
    """
    asked = {each.body for each in seen.requests if is_redemption(each)}
    try:
        [request] = [parse_request(body) for body in asked]
    except (SurveyError, ValueError):
        return TWICE
    if len(request.blinded) != len(survey.waves) or request.invitation != TOKEN:
        return TWICE
    if request.blinded != blinded_of(survey, tape):
        return NOT_BLINDED
    secrets = [TOKEN.encode(), *(spell(each).encode() for each in request.blinded)]
    return _unlike_requests(survey, reports, seen, secrets) or _unlike_disk(seen, secrets)


def _unlike_requests(survey: Survey, reports: Sequence[Report], seen: RunObservation, secrets: Sequence[bytes]) -> str:
    """Check that a report comes with the signature of its id, and with nothing that leads to what was redeemed."""
    for report in reports:
        sent = [each for each in seen.requests if is_for_reports(each) and report.report_id.encode() in each.body]
        # What has arrived is known by its id, and goes without a signature when it is sent again.
        if not is_signed(survey, report, sent[0].header("Authorization") or ""):
            return NOT_SIGNED
        if any(each.header("Authorization") not in {None, sent[0].header("Authorization")} for each in sent):
            return NOT_SIGNED
    others = [each for each in seen.requests if not is_redemption(each)]
    if any(secret in part for each in others for part in _parts(each) for secret in secrets):
        return SECRET_IN_REPORT
    # A browser has one pool of connections for all requests; node's fetch, which stands for it here, does too.
    of_python = [each for each in seen.requests if each.header("User-Agent") != "node"]
    redeeming = {each.connection for each in of_python if is_redemption(each)}
    return SHARED if redeeming & {each.connection for each in seen.requests if is_for_reports(each)} else ""


def _unlike_disk(seen: RunObservation, secrets: Sequence[bytes]) -> str:
    """Check that the signature takes the place of what was sent for it in one write, and goes with the receipt."""
    invitation, *blinded = secrets
    signatures = [
        (each.header("Authorization") or "").removeprefix(SCHEME).encode()
        for each in seen.requests
        if is_for_reports(each)
    ]
    for disk, is_over in [*((each.disk, False) for each in seen.requests), (seen.disk, True)]:
        if any(_is_stored_too_long(disk, signature, blinded, is_over) for signature in filter(None, signatures)):
            return SECRET_RETAINED
        # In a browser the invitation is in the ledger's key, as every token is.
        if any(invitation in content or invitation.decode() in name for name, content in _files(disk)):
            return SECRET_RETAINED
    return ""


def _is_stored_too_long(disk: Disk, signature: bytes, blinded: Sequence[bytes], is_over: bool) -> bool:
    holding = [content for _, content in _files(disk) if signature in content]
    return any(is_over or any(each in content for each in blinded) for content in holding)


def _files(disk: Disk) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents, but for the browser's database, whose records lie together in one file."""
    for name, _, content in disk:
        if name != "database.json":
            yield name, content


def _parts(request: WireRequest) -> Iterator[bytes]:
    """Yield the address, the headers and the body."""
    yield request.address.encode()
    yield from (f"{name}: {value}".encode() for name, value in request.headers)
    yield request.body
