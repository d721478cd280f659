"""
What must hold of every run of a survey whose reports come with a signature: nothing leads from the invitation, or from
what was sent to be signed, to the report.
"""

from collections.abc import Iterator, Sequence

from sottovoce.audit.agreed_requests import is_agreed, is_redemption
from sottovoce.audit.test_keys import blinded_of, is_signed
from sottovoce.audit.watched_device import FILES, FORGOTTEN, REQUEST, SENT, TOKEN, Event, is_for_reports
from sottovoce.shared.errors import SurveyError
from sottovoce.shared.redemption import parse_request, spell
from sottovoce.shared.report import Report
from sottovoce.shared.spec import Survey

NOT_SIGNED = "a report does not come with the signature of its id alone"
TWICE = "an invitation is not redeemed once, for one id of each wave"
NOT_BLINDED = "what is sent to be signed is not the ids, blinded with the random bytes that were drawn for it"
BESIDE = "the invitation, or what was sent to be signed, goes with the report"
SHARED = (
    "a request has other headers than are agreed, or leaves a connection open that redemption and report could share"
)
KEPT = "what was sent to be signed, the signature or the invitation lies on the device for longer than it is needed"


def unlike_redemption(survey: Survey, report: Report, seen: Sequence[Event], tape: bytes) -> str:
    """
    What is wrong with how one run redeems and reports; an empty text if nothing is.

    Args:
        survey: with the audit's keys.
        report: that was sent.
        seen: all that happened.
        tape: the random bytes of the redemption.
    """
    asked = {event.what[3] for event in seen if event.kind == REQUEST and is_redemption(event)}
    try:
        [request] = [parse_request(body) for body in asked]
    except (SurveyError, ValueError):
        return TWICE
    if len(request.blinded) != len(survey.waves) or request.invitation != TOKEN:
        return TWICE
    if request.blinded != blinded_of(survey, tape):
        return NOT_BLINDED
    telling = [TOKEN.encode(), *(spell(each).encode() for each in request.blinded)]
    return _unlike_report(survey, report, seen, telling)


def _unlike_report(survey: Survey, report: Report, seen: Sequence[Event], telling: Sequence[bytes]) -> str:
    """A report comes with the signature of its id, and with nothing that leads to what was redeemed."""
    requests = [event for event in seen if event.kind == REQUEST]
    sent = [event for event in requests if is_for_reports(event)]
    headers = {value for event in sent for name, value in event.what[2] if name == "Authorization"}
    if len(headers) != 1 or not is_signed(survey, report, str(next(iter(headers)))):
        return NOT_SIGNED
    others = [event for event in requests if not is_redemption(event)]
    if any(told in part for event in others for part in _parts(event) for told in telling):
        return BESIDE
    if not all(is_agreed(survey, event, report.report_id) for event in requests):
        return SHARED
    return _unlike_kept(seen, str(next(iter(headers))).rpartition(" ")[2].encode(), telling)


def _unlike_kept(seen: Sequence[Event], signature: bytes, telling: Sequence[bytes]) -> str:
    """The signature takes the place of what was sent for it in one write, and goes with the receipt."""
    invitation, *blinded = telling
    for event in seen:
        is_over = event.stage in {SENT, FORGOTTEN}
        for name, _, content in event.what if event.kind == FILES else ():
            # Until it is renamed, what is written lies beside what it takes the place of, in a file of its own.
            if invitation in content or invitation.decode() in str(name):
                return KEPT
            if signature in content and (is_over or any(each in content for each in blinded)):
                return KEPT
    return ""


def _parts(request: Event) -> Iterator[bytes]:
    """The address, the headers and the body."""
    _, address, headers, body, _ = request.what
    yield str(address).encode()
    yield from (f"{name}: {value}".encode() for name, value in headers)
    yield body or b""
