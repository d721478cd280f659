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
from sottovoce.shared.report import parse_report, receipt
from sottovoce.shared.spec import Survey


@dataclass
class PretendedAggregator:
    """
    What it holds and what has passed.

    Attributes:
        versions: of the survey, newest first.
        stored: the report that it holds for each id; b"" once it is withdrawn.
        spent: the tokens that were taken, with the id of their report.
        refusing: it says of every token that it is spent.
        unreachable: no request gets a reply.
        wire: what passed, in order: ("sent", token, body), ("told", id, b"") of a receipt that reached the device,
            ("ended", "", b"") once the person has given a report up, ("asked", link, questions) that are shown.
    """

    versions: tuple[Survey, ...]
    stored: dict[str, bytes]
    spent: dict[str, str]
    refusing: bool = False
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
        """A report is taken back."""
        if report_id not in self.stored:
            return _refusal(404, "not_found")
        self.stored[report_id] = b""
        told = {"format": "sottovoce-withdrawal/1", "survey": self.versions[0].name, "report_id": report_id}
        return Reply(200, canonical.dump(told))

    def admitted(self, body: bytes, token: str) -> "Reply":
        """A report, in the order of admission that holds for every aggregator."""
        report = _parsed(body)
        if self.refusing:
            return _refusal(401, "token_invalid")
        kept = self.stored.get(report.report_id)
        if kept is not None and kept != body:
            return _refusal(409, "id_conflict") if kept else _refusal(410, "withdrawn")
        if kept is None and token and self.spent.setdefault(token, report.report_id) != report.report_id:
            return _refusal(401, "token_invalid")
        self.stored[report.report_id] = body
        return Reply(200, canonical.dump(receipt(report, body)))


class Reply:
    """What a session of ``requests`` returns, as far as the transport looks at it."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status_code, self._body = status, body
        self.headers: dict[str, str] = {}

    def iter_content(self, _size: int) -> Iterator[bytes]:
        """The body."""
        yield self._body

    def close(self) -> None:
        """Nothing is held."""


class Session:
    """
    In the place of the network.

    Args:
        aggregator: at the other end.
        step: called before a request leaves and before its reply is read: the process may be killed there.
    """

    auth: Any = None

    def __init__(self, aggregator: PretendedAggregator, step: Callable[[], None]) -> None:
        self.cookies = RequestsCookieJar()
        self._aggregator, self._step = aggregator, step

    def request(
        self, method: str, url: str, *, data: bytes | None = None, headers: Mapping[str, str], **_: object
    ) -> Reply:
        """
        As ``requests`` has it.

        Args:
            method: GET or POST.
            url: whose last part says what is wanted.
            data: the body.
            headers: among them the token's.
        """
        what = url.rpartition("/")[2]
        body = data or b""
        if method != "GET":
            self._step()
        if what == "reports":
            self._aggregator.wire.append(("sent", _token(headers), body))
        if self._aggregator.unreachable:
            raise requests.ConnectionError
        if method == "GET":
            return self._aggregator.published(what)
        if what == "withdraw":
            reply = self._aggregator.withdrawn(json.loads(body)["report_id"])
        else:
            reply = self._aggregator.admitted(body, _token(headers))
        self._step()
        if what == "reports" and reply.status_code == requests.codes.ok:
            self._aggregator.wire.append(("told", _parsed(body).report_id, b""))
        return reply


# The same bodies come again and again, on thousands of courses.
_parsed = cache(parse_report)


def _token(headers: Mapping[str, str]) -> str:
    return headers.get("Authorization", "").removeprefix("Bearer ")


def _refusal(status: int, code: str) -> Reply:
    return Reply(status, canonical.dump({"code": code}))
