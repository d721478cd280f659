"""An aggregator without a network, as small as it can be, for the client's own transport: honest, unless it is told."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import requests
from requests.cookies import RequestsCookieJar
from sottovoce.client.revisions import FORMAT
from sottovoce.shared import canonical
from sottovoce.shared.redemption import Redemption, dump_reply, parse_request
from sottovoce.shared.report import parse_report, receipt
from sottovoce.shared.spec import Survey

from tests.conformance.signing_keys import is_signed, signed

ASTRAY = "astray"
"""Replaces a link where a report should carry the signature of its id and does not."""


@dataclass
class PretendedAggregator:
    """What it holds and what has passed.

    Attributes:
        versions: of the survey, newest first.
        stored: the report that it holds for each id; b"" once it is withdrawn.
        spent: the tokens that were taken, with the id of their report.
        marring: what it signs is no signature.
        link: which of the person's is used: a signature does not tell.
        wire: what passed, as in ``Happened``.
    """

    versions: tuple[Survey, ...]
    stored: dict[str, bytes]
    spent: dict[str, str]
    refusing: bool = False
    marring: bool = False
    busy: bool = False
    link: str = ""
    unreachable: bool = False
    wire: list[tuple[str, str, bytes]] = field(default_factory=list)

    def published(self, what: str) -> "Reply":
        """The newest version, or all of them."""
        newest = self.versions[0]
        if what != "revisions":
            return Reply(200, newest.canonical)
        listed = [version.document for version in self.versions]
        return Reply(200, canonical.dump({"format": FORMAT, "survey": newest.name, "revisions": listed}))

    def withdrawn(self, report_id: str) -> "Reply":
        if report_id not in self.stored:
            return _refusal(404, "not_found")
        self.stored[report_id] = b""
        told = {"format": "sottovoce-withdrawal/1", "survey": self.versions[0].name, "report_id": report_id}
        return Reply(200, canonical.dump(told))

    def redeemed(self, body: bytes) -> "Reply":
        """An invitation; whatever is asked for is signed, also a second time: it is for the device to ask once."""
        if self.busy:
            return _refusal(503, "busy")
        if self.refusing:
            return _refusal(401, "token_invalid")
        survey, numbers = self.versions[0], parse_request(body).blinded
        if self.marring:
            numbers = tuple(bytes([each[0] ^ 1]) + each[1:] for each in numbers)
        return Reply(200, dump_reply(Redemption(survey.name, signed(survey.moduli, numbers))))

    def left(self, what: str, headers: Mapping[str, str], body: bytes) -> str:
        """A request leaves the device; gives the link of a report, "" of anything else. ``what`` ends its address."""
        if what == "redeem":
            request = parse_request(body)
            self.wire.append(("redeemed", request.invitation, b"".join(request.blinded)))
        if what != "reports":
            return ""
        token = self._sent_with(headers, body)
        self.wire.append(("sent", token, body))
        return token

    def _sent_with(self, headers: Mapping[str, str], body: bytes) -> str:
        """The link of a report: its token, or, if it is signed as it should be, the one that is used."""
        said = headers.get("Authorization", "")
        if not self.versions[0].is_blind:
            return said.removeprefix("Bearer ")
        # What has arrived is known by its id, and goes without a signature.
        known = not said and self.stored.get(_parsed(body).report_id) == body
        return self.link if known or is_signed(self.versions[0], _parsed(body), said) else ASTRAY

    def admitted(self, body: bytes, token: str) -> "Reply":
        """A report, in the order of admission that holds for every aggregator."""
        report = _parsed(body)
        if self.refusing:
            return _refusal(401, "token_invalid")
        kept = self.stored.get(report.report_id)
        if kept is not None and kept != body:
            return _refusal(409, "id_conflict") if kept else _refusal(410, "withdrawn")
        if token == ASTRAY:
            return _refusal(401, "token_invalid")
        is_taken = not self.versions[0].is_blind and token
        if kept is None and is_taken and self.spent.setdefault(token, report.report_id) != report.report_id:
            return _refusal(401, "token_invalid")
        self.stored[report.report_id] = body
        return Reply(200, canonical.dump(receipt(report, body)))


class Reply:
    """What a session of ``requests`` returns, as far as the transport looks at it."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status_code, self._body = status, body
        self.headers: dict[str, str] = {}

    def iter_content(self, _size: int) -> Iterator[bytes]:
        yield self._body

    def close(self) -> None:
        """Nothing is held."""


class Session:
    """In the place of the network; ``step`` is called before request and reply: the process may be killed there."""

    auth: Any = None

    def __init__(self, aggregator: PretendedAggregator, step: Callable[[], None]) -> None:
        self.cookies = RequestsCookieJar()
        self.headers: dict[str, str] = {}
        self._aggregator, self._step = aggregator, step

    def close(self) -> None:
        """Nothing is held."""

    def request(
        self, method: str, url: str, *, data: bytes | None = None, headers: Mapping[str, str], **_: object
    ) -> Reply:
        """As ``requests`` has it; the last part of the URL says what is wanted."""
        what = url.rpartition("/")[2]
        body = data or b""
        if method != "GET":
            self._step()
        token = self._aggregator.left(what, headers, body)
        if self._aggregator.unreachable:
            raise requests.ConnectionError
        if method == "GET":
            return self._aggregator.published(what)
        if what == "withdraw":
            reply = self._aggregator.withdrawn(json.loads(body)["report_id"])
        elif what == "redeem":
            reply = self._aggregator.redeemed(body)
        else:
            reply = self._aggregator.admitted(body, token)
        self._step()
        if what == "reports" and reply.status_code == requests.codes.ok:
            self._aggregator.wire.append(("told", _parsed(body).report_id, b""))
        return reply


# The same bodies come again and again, on thousands of courses.
_parsed = cache(parse_report)


def _refusal(status: int, code: str) -> Reply:
    return Reply(status, canonical.dump({"code": code}))
