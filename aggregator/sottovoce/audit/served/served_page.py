"""Audit the browser's client as an aggregator really serves it.

The survey is compared by its digest, and every served file, byte for byte, with this release's own, whose distributions
the audit enumerates.

An aggregator can serve other files to other people, and to visitors that look like an audit. A fault found here is
certain; a pass holds only for the files whose digests the report names.
"""

import hashlib
import threading
from concurrent.futures import Future
from typing import NamedTuple

import requests
from sottovoce.audit.check import FAILED, PASSED, Check
from sottovoce.client.link import Link
from sottovoce.client.page import assemble, path_of
from sottovoce.client.revisions import survey_for
from sottovoce.client.transport import MAX_REVISIONS_BYTES
from sottovoce.shared.errors import TransportError
from sottovoce.shared.spec import Survey

MAX_BYTES = 4 * 1024 * 1024
SECONDS = 30
"""Limit for each file, from the request to its last byte."""

_LATE = "the aggregator did not answer within {:g} s"


class _Publisher(NamedTuple):
    """The aggregator as a reader of surveys sees it."""

    origin: str

    def fetch_survey(self, name: str) -> bytes:
        return fetch(f"{self.origin}/api/v1/surveys/{name}")

    def fetch_revisions(self, name: str) -> bytes | None:
        try:
            return fetch(f"{self.origin}/api/v1/surveys/{name}/revisions", MAX_REVISIONS_BYTES)
        except TransportError as error:
            if error.status == requests.codes.not_found:
                return None
            raise


def fetch_survey(link: Link) -> Survey:
    """Fetch the survey that the aggregator serves for a link, the newest revision or an earlier one.

    Raises:
        TransportError: it cannot be reached, refuses, takes too long, or has no such survey.
        SpecError: what it serves is no survey.
    """
    return survey_for(_Publisher(link.origin), link)


def check_survey(link: Link, survey: Survey, served: Survey) -> Check:
    """Check that the aggregator serves (``served``, from ``fetch_survey``) the survey of the file.

    The file need not say what the survey replaces, nor which keys sign: publishing fills that in.
    """
    # The keys are generated when the survey is published, so the file cannot have them.
    added = {"access": None} if survey.is_blind and served.is_blind and not survey.moduli else {}
    mine, theirs = ({**each.document, "replaces": None, **added} for each in (survey, served))
    if mine != theirs:
        return Check("files", "survey", FAILED, message="the aggregator serves another survey than the file's")
    if link.wave >= len(survey.waves):
        return Check("files", "survey", FAILED, message="the link is for a wave that the survey does not have")
    return Check("files", "survey", PASSED, scope=f"digest {served.digest}")


def check_files(link: Link) -> list[Check]:
    """Compare every served file with this release's; raises TransportError if one cannot be fetched in time."""
    files = assemble().items()
    return [check_file(name, link.origin + path_of(name, asset, link.survey), asset.body) for name, asset in files]


def check_file(name: str, address: str, expected: bytes) -> Check:
    """Compare one served file with this release's; raises TransportError if it cannot be fetched in time."""
    body = fetch(address)
    digest = hashlib.sha256(body).hexdigest()
    if body == expected:
        return Check("files", name, PASSED, scope=f"SHA-256 {digest}")
    ours = hashlib.sha256(expected).hexdigest()
    return Check("files", name, FAILED, message=f"served with SHA-256 {digest}; this release's has {ours}")


def fetch(address: str, most: int = MAX_BYTES) -> bytes:
    """Read a whole file within ``SECONDS``; raises TransportError if it is late, not as it should be, or too large."""
    found: Future[bytes] = Future()

    def run() -> None:
        try:
            found.set_result(_get(address, most))
        except BaseException as error:  # ``Future.result`` raises it in the waiting thread
            found.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return found.result(SECONDS)
    except TimeoutError:
        raise TransportError(_LATE.format(SECONDS)) from None


def _get(address: str, most: int) -> bytes:
    try:
        with requests.get(address, timeout=SECONDS, allow_redirects=False, stream=True) as reply:
            if reply.status_code != requests.codes.ok:
                raise TransportError(f"the aggregator refused with status {reply.status_code}", reply.status_code)
            body = b""
            for part in reply.iter_content(64 * 1024):
                body += part
                if len(body) > most:
                    raise TransportError("the aggregator sent a file that is too large")
            return body
    except requests.Timeout:
        raise TransportError(_LATE.format(SECONDS)) from None
    except requests.RequestException:
        raise TransportError("the aggregator cannot be reached, or its reply cannot be read") from None
