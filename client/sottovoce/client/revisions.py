"""Read the published revisions of a survey: which one a link names, whether they form one chain, which still take
answers.

A link names its survey by digest, and any revision answers as long as the survey is open. An aggregator could tag a
person with a revision of their own; so all are in one reply, the same for everybody, and each names the one before it.
Two that contradict each other prove that the aggregator showed different surveys to different people.

The revision that a report was drawn for is kept on the device: known without the network, whatever came after it.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import combinations, pairwise
from typing import Any, NamedTuple, Protocol

from sottovoce.client.ledger import Ledger
from sottovoce.client.link import Link
from sottovoce.client.transport import Transport
from sottovoce.shared import canonical
from sottovoce.shared.errors import SpecError, SurveyError, TransportError
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.spec import Survey

FORMAT = "sottovoce-revisions/1"
STATUS_FORMAT = "sottovoce-status/1"

MOST = 8
"""Most revisions of one survey."""

_STATES = ("early", "open", "closed")


class Publisher(Protocol):
    """The part of a transport that fetches revisions."""

    def fetch_survey(self, name: str) -> bytes:
        """Fetch the newest revision's canonical bytes."""

    def fetch_revisions(self, name: str) -> bytes | None:
        """Fetch all revisions in one reply; None where there is no such reply."""


class PublishedRevision(NamedTuple):
    """A published revision: its number, digest, the digest that it replaces, if any, and its canonical bytes."""

    number: int
    digest: str
    replaces: str | None
    body: bytes


class RevisionStatus(NamedTuple):
    """Status of a revision in one wave, by the aggregator's clock.

    Attributes:
        state: ``early``, ``open``, ``closed`` or ``retired``: an open one that begins no answer any more.
        closed_on: the day on which the survey was closed; None if it was not.
    """

    state: str
    closed_on: date | None
    newest: int


def survey_for(transport: Publisher, link: Link) -> Survey:
    """Fetch the survey that a link names: the newest revision, or the one with the link's digest.

    Raises:
        TransportError: the aggregator cannot be reached, has no such survey, or shows revisions that contradict each
            other; nothing was sent.
        SpecError: what it sends is no survey.
    """
    # Always the newest by name: a request for a digest would tell the server which link is open.
    newest = transport.fetch_survey(link.survey)
    body = newest if _digest(newest).startswith(link.digest) else _find_revision(transport, link, _digest(newest))
    survey = load_survey(body)
    if survey.name != link.survey:
        raise _contradiction_error()
    return survey


def published(transport: Publisher, name: str) -> list[PublishedRevision]:
    """Fetch all revisions that an aggregator shows, newest first; where there is no such reply, the newest alone.

    Raises TransportError if the aggregator cannot be reached, refuses, or its reply cannot be read.
    """
    reply = transport.fetch_revisions(name)
    # Servers before revisions had no such list; then the newest alone must do.
    shown = [] if reply is None else _read(reply, name)
    newest = transport.fetch_survey(name)
    return shown if _digest(newest) in {each.digest for each in shown} else [_revision(newest), *shown]


def contradictions(revisions: Sequence[PublishedRevision]) -> list[str]:
    """Return a sentence for each contradiction between revisions; empty if each replaces the next in the list."""
    return (
        [sentence for later, earlier in pairwise(revisions) for sentence in _conflicts_between(later, earlier)]
        + [
            f"{new.digest[:12]} and {old.digest[:12]} name different keys for one wave, which could tell people apart"
            for new, old in combinations(revisions, 2)
            if any(one != other for one, other in zip(_keys(new), _keys(old), strict=False))
        ]
        + [
            f"{new.digest[:12]} and {old.digest[:12]}: one has reports signed unseen and the other one does not, "
            "which could tell people apart"
            for new, old in combinations(revisions, 2)
            if bool(_keys(new)) != bool(_keys(old))
        ]
    )


def standing(status: Mapping[str, Any], survey: Survey, wave: int) -> RevisionStatus | None:
    """Return a revision's status from a ``Transport.fetch_status`` reply; None if that does not name the revision.

    Raises TransportError if the status cannot be read.
    """
    try:
        if status["format"] != STATUS_FORMAT or status["survey"] != survey.name:
            raise ValueError("is another one")
        closed_on = None if status["closed_on"] is None else date.fromisoformat(status["closed_on"])
        newest = int(status["revisions"][0]["revision"])
        found = [each for each in status["revisions"] if each["digest"] == survey.digest]
        states = [_state(each["waves"][wave], each["retired"]) for each in found]
    except (KeyError, IndexError, TypeError, ValueError):
        raise TransportError("the aggregator's status cannot be read") from None
    return RevisionStatus(states[0], closed_on, newest) if states else None


def _state(state: str, retired: bool) -> str:
    if state not in _STATES or type(retired) is not bool:
        raise ValueError("is unknown")
    return "retired" if retired and state != "closed" else state


def _find_revision(transport: Publisher, link: Link, newest: str) -> bytes:
    """Return the bytes of the revision that a link names, out of a chain in which the newest one stands too."""
    reply = transport.fetch_revisions(link.survey)
    revisions = [] if reply is None else _read(reply, link.survey)
    named = [each.body for each in revisions if each.digest.startswith(link.digest)]
    if not named:
        raise _contradiction_error()
    if contradictions(revisions) or newest not in {each.digest for each in revisions}:
        raise TransportError(
            "the aggregator shows versions of this survey that contradict each other; nothing was sent"
        )
    return named[0]


def _conflicts_between(later: PublishedRevision, earlier: PublishedRevision) -> Iterator[str]:
    new, old = later.digest[:12], earlier.digest[:12]
    if later.number == earlier.number:
        yield f"{new} and {old} are different versions, and both are called revision {later.number}"
    elif later.number < earlier.number:
        yield f"revision {later.number} ({new}) is shown as newer than revision {earlier.number} ({old})"
    if later.replaces is not None and later.replaces == earlier.replaces:
        yield f"{new} and {old} are different versions, and both replace {later.replaces[:12]}"
    elif later.replaces is not None and later.replaces != earlier.digest:
        yield f"revision {later.number} ({new}) replaces {later.replaces[:12]}, and {old} is shown in its place"


def _keys(revision: PublishedRevision) -> Sequence[object]:
    """Return the moduli of the signing keys, one for each wave; nothing if the survey is not blind."""
    access = canonical.load(revision.body).get("access")
    keys = access.get("blind") if isinstance(access, dict) else None
    return keys if isinstance(keys, list) else ()


def _read(reply: bytes, name: str) -> list[PublishedRevision]:
    try:
        document = canonical.load(reply)
        if document["format"] != FORMAT or document["survey"] != name or not 0 < len(document["revisions"]) <= MOST:
            raise ValueError("is another one")
        return [_revision(canonical.dump(each)) for each in document["revisions"]]
    except (KeyError, TypeError, ValueError):
        raise TransportError("the aggregator's list of revisions cannot be read; nothing was sent") from None


def _revision(body: bytes) -> PublishedRevision:
    document = canonical.load(body)
    number, replaces = document["revision"], document.get("replaces")
    if type(number) is not int or not isinstance(replaces, str | None):
        raise TypeError("is no survey")
    return PublishedRevision(number, _digest(body), replaces, body)


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _contradiction_error() -> TransportError:
    return TransportError("the aggregator sent another survey than the one your link names; nothing was sent")


def cached_survey(ledger: Ledger, digest: str) -> Survey | None:
    """Return the survey with this digest; None if it was not kept, or needs a newer release than this one."""
    text = ledger.text(digest)
    try:
        # The folder can be written by other programs, so the text is parsed and its digest compared again.
        survey = None if text is None else load_survey(text)
    except SpecError:
        return None
    return survey if survey is not None and survey.digest == digest else None


def cached_or_fetched_survey(ledger: Ledger, digest: str, transport: Transport, link: Link) -> Survey | None:
    """Return the survey with this digest, kept or else fetched and kept from now on; None if it cannot be had."""
    cached = cached_survey(ledger, digest)
    if cached is not None:
        return cached
    try:
        # The request names only the survey: the digest would tell the server which revision this device answered.
        survey = survey_for(transport, replace(link, digest=digest[:32]))
    except SurveyError:
        return None
    if survey.digest != digest:
        return None
    ledger.keep(digest, survey.canonical)
    return survey
