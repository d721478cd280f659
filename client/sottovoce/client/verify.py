"""
Whether a page is this release's: every file, byte for byte, against what ``page.py`` makes of the same sources.

That a page is this release's is true of what was served to this program at this moment. Whoever serves a page can serve
another one to somebody else; a saved page, once verified, stays what it is.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from sottovoce.client.link import Link, parse_link
from sottovoce.client.page import assemble, path_of, saved_page, static_page
from sottovoce.client.transport import Transport
from sottovoce.shared.errors import TransportError
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.spec import Survey

FORMAT = "sottovoce-verification/1"

_SETUP = re.compile(rb'<script type="application/json" id="setup">([^<]*)</script>')


class Finding(NamedTuple):
    """One file: its path, and the SHA-256 of what this release has and of what was found; None if nothing was."""

    path: str
    expected: str
    found: str | None

    @property
    def is_same(self) -> bool:
        """Whether the file is this release's."""
        return self.expected == self.found


class Verdict(NamedTuple):
    """What was verified: a page's files, and the aggregator that it reports to."""

    aggregator: str
    findings: list[Finding]

    @property
    def is_same(self) -> bool:
        """Whether every file is this release's."""
        return all(finding.is_same for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """For JSON (sottovoce-verification/1)."""
        files = [finding._asdict() for finding in self.findings]
        return {"format": FORMAT, "aggregator": self.aggregator, "same": self.is_same, "files": files}


def verify_any(address: str) -> Verdict:
    """
    The page behind a survey's link, on a static host, or in a file.

    Raises:
        TransportError: there is none, or it cannot be reached.
        SpecError: the survey in a file is none.
    """
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"}:
        try:
            return verify_saved(address, Path(address).read_bytes())
        except OSError:
            raise TransportError("there is no such file, and it is no address that begins with https://") from None
    if "/s/" in parts.path:
        return verify_served(address)
    return verify_static(f"{parts.scheme}://{parts.netloc}{parts.path}".removesuffix("index.html"))


def verify_served(url: str, reach: Callable[[str], Transport] = Transport) -> Verdict:
    """
    The page that an aggregator serves behind a survey's link.

    Raises:
        TransportError: not a link, or the aggregator cannot be reached or refuses.
    """
    link = parse_link(url)
    expected = {path_of(name, link.survey): asset.body for name, asset in assemble().items()}
    return Verdict(link.origin, _compare(reach(link.origin), expected))


def verify_static(url: str, reach: Callable[[str], Transport] = Transport) -> Verdict:
    """
    The page on a static host, whose address ends in a slash; it names its aggregator itself.

    Raises:
        TransportError: the host cannot be reached or refuses, or what it serves is no page of this kind.
    """
    transport = reach(url.rstrip("/"))
    aggregator, _ = _setup(transport.fetch_file("/index.html") or b"")
    expected = {f"/{path}": body for path, body in static_page(aggregator).items()}
    return Verdict(aggregator, _compare(transport, expected))


def verify_saved(name: str, page: bytes) -> Verdict:
    """
    A page in one file, with the survey in it, if it holds one.

    Raises:
        TransportError: the file is no page of this kind.
        SpecError: the survey in it is none.
    """
    aggregator, survey = _setup(page)
    held = None if survey is None else load_survey(survey.encode())
    return Verdict(aggregator, [_finding(name, saved_page(aggregator, held), page)])


def fetch_named(transport: Transport, link: Link) -> Survey:
    """
    The survey that a link names, by its digest if the link has one.

    Raises:
        TransportError: the aggregator cannot be reached, refuses, or sends another survey.
        SpecError: what it sends is none.
    """
    survey = load_survey(transport.fetch_survey(link.survey))
    if survey.name != link.survey or not survey.digest.startswith(link.digest):
        raise TransportError("what the aggregator sent is not the survey that the link names")
    return survey


def _compare(transport: Transport, expected: Mapping[str, bytes]) -> list[Finding]:
    return [_finding(path, body, transport.fetch_file(path)) for path, body in expected.items()]


def _finding(path: str, expected: bytes, found: bytes | None) -> Finding:
    return Finding(path, _digest(expected), None if found is None else _digest(found))


def _setup(page: bytes) -> tuple[str, str | None]:
    """The aggregator that a page from elsewhere reports to, and the text of the survey in it, if there is one."""
    match = _SETUP.search(page)
    try:
        setup = json.loads(match[1]) if match else {}
        held = setup.get("survey")
        return str(setup["aggregator"]), None if held is None else str(held["text"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise TransportError("this is not a page of Sottovoce's for a static host, nor a saved one") from None


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
