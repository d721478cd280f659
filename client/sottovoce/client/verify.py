"""Verify that a page belongs to this release: compare every file, byte for byte, with the output of ``page.py``.

The result holds only for the files served to this program at this moment. A server can serve another page to another
person; a saved page, once verified, does not change.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from sottovoce.client.link import Link, parse_link
from sottovoce.client.page import assemble, by_path, saved_page, static_page
from sottovoce.client.revisions import contradictions, published
from sottovoce.client.transport import Transport
from sottovoce.shared.errors import TransportError
from sottovoce.shared.parse_survey import load_survey

FORMAT = "sottovoce-verification/1"

_SETUP = re.compile(rb'<script type="application/json" id="setup">([^<]*)</script>')


class FileComparison(NamedTuple):
    """A file of a page: its path, and the SHA-256 of this release's and of the found one; None if nothing was found."""

    path: str
    expected: str
    found: str | None

    @property
    def is_same(self) -> bool:
        """Return True if the file equals this release's."""
        return self.expected == self.found


class PageVerification(NamedTuple):
    """Result of a verification: a page's files, and the aggregator that it reports to.

    ``contradictions``: what the revisions that it shows, and the links to them, say against each other.
    """

    aggregator: str
    findings: list[FileComparison]
    contradictions: Sequence[str] = ()

    @property
    def is_good(self) -> bool:
        """Return True if all files match and no revisions contradict each other."""
        return self.is_same and not self.contradictions

    @property
    def is_same(self) -> bool:
        """Return True if every file equals this release's."""
        return all(finding.is_same for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as a dict for JSON (sottovoce-verification/1)."""
        files = [finding._asdict() for finding in self.findings]
        result = {"format": FORMAT, "aggregator": self.aggregator, "same": self.is_same, "files": files}
        return {**result, "contradictions": list(self.contradictions)}


def verify_any(address: str, *others: str) -> PageVerification:
    """Verify the page behind a survey's links, on a static host, or in a file; ``others`` are other links to the
    survey.

    Raises:
        TransportError: there is none, it cannot be reached, or there are several and they are not links to one survey.
        SpecError: the survey in a file is none.
    """
    if others:
        return verify_served([address, *others])
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"}:
        try:
            return verify_saved(address, Path(address).read_bytes())
        except OSError:
            message = f'there is no such file: "{address}", and it is no address that begins with https://'
            raise TransportError(message) from None
    if "/s/" in parts.path:
        return verify_served([address])
    return verify_static(f"{parts.scheme}://{parts.netloc}{parts.path}".removesuffix("index.html"))


def verify_served(urls: Sequence[str], reach: Callable[[str], Transport] = Transport) -> PageVerification:
    """Verify the page served behind links to one survey; the links must name revisions that are shown to everybody.

    Raises TransportError if they are not links to one survey, or the aggregator cannot be reached or refuses.
    """
    links = [parse_link(url) for url in urls]
    link = links[0]
    # Links of several people are compared: a server that singles out one person shows that person another digest.
    if any((other.origin, other.survey) != (link.origin, link.survey) for other in links):
        raise TransportError("the links are not to one survey at one aggregator")
    transport = reach(link.origin)
    # Rebuilt from this installation, so that a server cannot supply its own reference.
    expected = {path: asset.body for path, asset in by_path(assemble(), link.survey).items()}
    shown = published(transport, link.survey)
    found = [*contradictions(shown), *_not_shown(links, [each.digest for each in shown])]
    return PageVerification(link.origin, _compare(transport, expected), found)


def verify_static(url: str, reach: Callable[[str], Transport] = Transport) -> PageVerification:
    """Verify the page on a static host, whose address ends in a slash; it names its aggregator itself.

    Raises TransportError if the host cannot be reached or refuses, or what it serves is no page of this kind.
    """
    transport = reach(url.rstrip("/"))
    aggregator, _ = _setup(transport.fetch_file("/index.html") or b"")
    expected = {f"/{path}": body for path, body in static_page(aggregator).items()}
    return PageVerification(aggregator, _compare(transport, expected))


def verify_saved(name: str, page: bytes) -> PageVerification:
    """Verify a page in one file, with the survey in it, if it holds one.

    Raises TransportError if the file is no page of this kind, SpecError if the survey in it is none.
    """
    aggregator, survey = _setup(page)
    held = None if survey is None else load_survey(survey.encode())
    return PageVerification(aggregator, [_finding(name, saved_page(aggregator, held), page)])


def _not_shown(links: Iterable[Link], digests: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each unpublished digest in a link: a version shown to one person identifies them."""
    for named in dict.fromkeys(link.digest for link in links):
        if not any(digest.startswith(named) for digest in digests):
            yield f"a link names the version {named[:12]}, which is not shown to everybody"


def _compare(transport: Transport, expected: Mapping[str, bytes]) -> list[FileComparison]:
    return [_finding(path, body, transport.fetch_file(path)) for path, body in expected.items()]


def _finding(path: str, expected: bytes, found: bytes | None) -> FileComparison:
    return FileComparison(path, _digest(expected), None if found is None else _digest(found))


def _setup(page: bytes) -> tuple[str, str | None]:
    """Return the aggregator that a page from elsewhere reports to, and the text of the survey in it, if any."""
    match = _SETUP.search(page)
    try:
        # The page is untrusted input: a wrong type or nesting must end in a clear error, not in a traceback.
        setup = json.loads(match[1]) if match else {}
        held = setup.get("survey")
        return str(setup["aggregator"]), None if held is None else str(held["text"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise TransportError("this is not a page of Sottovoce's for a static host, nor a saved one") from None


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
