"""Serve the surveys of an audit's runs in an aggregator that signs with the test keys and keeps nothing."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from sottovoce.audit.listener import MockReply, WireRequest
from sottovoce.audit.test_keys import redeemed
from sottovoce.client.revisions import FORMAT
from sottovoce.shared import canonical
from sottovoce.shared.errors import SurveyError
from sottovoce.shared.report import parse_report, receipt
from sottovoce.shared.spec import Survey

TOKEN = "0" * 16
API = "/api/v1/surveys/"


BUSY = MockReply(503, b"{}")
REFUSED = MockReply(401, b'{"code":"token_invalid"}')
CUT = None
"""Stands for a reply: the connection is cut."""

NOT_FOUND = MockReply(404, b"{}")


@dataclass
class MockAggregator:
    """An aggregator that serves surveys and takes every report.

    Attributes:
        surveys: by name, the revisions of each, newest first.
        failures: replies to the next reports, in order, before one is taken.
        files: of the form, by path.
    """

    surveys: Mapping[str, Sequence[Survey]]
    failures: list[MockReply | None] = field(default_factory=list)
    files: Mapping[str, MockReply] = field(default_factory=dict)

    def answer(self, request: WireRequest) -> MockReply | None:
        """Return the reply to a request; None to cut the connection."""
        if request.address in self.files and request.method == "GET":
            return self.files[request.address]
        name, _, what = request.address.removeprefix(API).partition("/")
        revisions = self.surveys.get(name) if request.address.startswith(API) else None
        if revisions is None:
            return NOT_FOUND
        if request.method == "GET":
            return _published(revisions, what)
        return self._posted(revisions[0], what, request.body)

    def _posted(self, survey: Survey, what: str, body: bytes) -> MockReply | None:
        try:
            if what == "reports":
                return self.failures.pop(0) if self.failures else _json(receipt(parse_report(body), body))
            if what == "redeem":
                return MockReply(200, redeemed(survey, body))
            if what == "withdraw":
                fields = {"survey": survey.name, "report_id": json.loads(body)["report_id"]}
                return _json({"format": "sottovoce-withdrawal/1", **fields})
        except (SurveyError, ValueError, KeyError, TypeError):
            return MockReply(400, b"{}")
        if what == "token" and body == token_body():
            return MockReply(200, b'{"format":"sottovoce-token/1","good":true}')
        return NOT_FOUND


def token_body() -> bytes:
    """Build the only body that a client may send to check its token."""
    return b'{"token_sha256":"%s"}' % sha256(TOKEN.encode()).hexdigest().encode()


def _published(revisions: Sequence[Survey], what: str) -> MockReply:
    newest = revisions[0]
    if what == "":
        return MockReply(200, newest.canonical)
    if what == "revisions":
        return _json({"format": FORMAT, "survey": newest.name, "revisions": [each.document for each in revisions]})
    if what == "status":
        # Open, whatever the calendar says: an audit answers beforehand, too.
        standings = [_standing(each, place > 0) for place, each in enumerate(revisions)]
        return _json({"format": "sottovoce-status/1", "survey": newest.name, "closed_on": None, "revisions": standings})
    return NOT_FOUND


def _standing(survey: Survey, retired: bool) -> dict[str, object]:
    waves = ["open"] * len(survey.waves)
    return {"digest": survey.digest, "revision": survey.revision, "retired": retired, "waves": waves}


def _json(document: object) -> MockReply:
    return MockReply(200, canonical.dump(document))
