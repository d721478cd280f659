"""Tell devices the status of published surveys before the first question: revisions, open waves and valid tokens.

Each reply is the same for every respondent. A request reveals neither the revision in a person's link nor the person.
The server stores nothing.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sottovoce.aggregator.clock import Clock
from sottovoce.aggregator.institution import Institution, institution_of
from sottovoce.aggregator.intake.decode import malformed
from sottovoce.aggregator.storage import Storage, StoredSurvey
from sottovoce.aggregator.surveys.lifecycle import survey_of, unknown_survey, wave_state
from sottovoce.shared import canonical
from sottovoce.shared.errors import StorageError

MOST_SHOWN = 8
"""Maximum number of revisions in a reply; the newest ones are shown."""

FRESH = timedelta(seconds=1)
"""Lifetime of cached revisions; a close on another node becomes visible here after this time."""

_HASH = re.compile(r"[0-9a-f]{64}")
_EPOCH = date(1970, 1, 1)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class PublishedSurveys:
    """Replies about published surveys, with a short cache.

    ``standing`` is the institution of the operator's file. While ``is_red`` returns True, the database is known to
    fail; the cache then answers without waiting for it.
    """

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        standing: Institution | None = None,
        is_red: Callable[[], bool] = lambda: False,
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._is_red = is_red
        self._standing = standing or Institution()
        self._institutions: dict[str, tuple[datetime, dict[str, str]]] = {}
        self._read: dict[str, tuple[datetime, list[StoredSurvey]]] = {}
        # Fill the cache at start, marked as stale, so that it can answer even if the database fails early.
        for row in storage.surveys():
            self._read.setdefault(row.name, (_LONG_AGO, []))[1].append(row)

    def newest(self, name: str) -> bytes:
        """Return the canonical bytes of the newest revision; ReportRejected ``unknown_survey`` if there is none."""
        return self._now(name)[-1].document

    def revisions(self, name: str) -> bytes:
        """Return the newest revisions, at most ``MOST_SHOWN``, newest first, as canonical JSON; raises as
        ``newest``.
        """
        # Not cached: a device compares the list with the newest revision, which is not cached either.
        # Names of surveys need no escaping, and the stored documents are canonical already.
        documents = b",".join(row.document for row in _newest_first(self._now(name)))
        return b'{"format":"sottovoce-revisions/1","revisions":[%b],"survey":"%b"}' % (documents, name.encode())

    def status(self, name: str) -> bytes:
        """Return each revision's state in each wave, by the server's clock, in canonical JSON; raises as ``newest``."""
        now = self._clock()
        shown = _newest_first(self._remembered(name, now))
        closed_on = shown[0].closed_on
        document: dict[str, Any] = {
            "format": "sottovoce-status/1",
            "survey": name,
            "closed_on": None if closed_on is None else (_EPOCH + timedelta(days=closed_on)).isoformat(),
            "revisions": [_standing(row, now) for row in shown],
        }
        if institution := self._institution(name, now):
            document["institution"] = institution
        return canonical.dump(document)

    def is_token_good(self, name: str, body: bytes) -> bool:
        """Return True if a token with the hash in the body can be spent.

        Always one database query, so that timing does not reveal why a token is invalid: spent, revoked and unknown
        tokens have no row, and a survey without tokens has no rows at all. Raises ReportRejected: ``malformed``, or
        ``unknown_survey``.
        """
        hashed = _token_hash(body)
        # Tokens belong to the first revision, so they stay valid after a correction.
        return self._storage.has_token(self._remembered(name, self._clock())[0].key, hashed)

    def _institution(self, name: str, now: datetime) -> dict[str, str]:
        """Return what the form shows of the institution, cached as long as revisions; empty if it is not set."""
        then, shown = self._institutions.get(name, (_LONG_AGO, {}))
        if not timedelta(0) <= now - then < FRESH and not self._is_red():
            # A form without a logo is better than none.
            with suppress(StorageError):
                shown = institution_of(self._storage.institutions.documents(name), self._standing, name).in_form
            self._institutions[name] = now, shown
        return shown

    def _remembered(self, name: str, now: datetime) -> list[StoredSurvey]:
        """Return the revisions, oldest first, at most ``FRESH`` old; a clock set back invalidates the cache."""
        then, rows = self._read.get(name, (None, []))
        return self._now(name) if then is None or not timedelta(0) <= now - then < FRESH else rows

    def _now(self, name: str) -> list[StoredSurvey]:
        """Return the current revisions, oldest first; the cached ones while the database fails."""
        _, rows = self._read.get(name, (None, []))
        if not (rows and self._is_red()):
            try:
                rows = self._storage.revisions(name)
            except StorageError:
                if not rows:
                    raise
                return rows
            if not rows:
                # Do not cache unknown names: requests with invented names could fill the memory.
                self._read.pop(name, None)
                raise unknown_survey()
            self._read[name] = (self._clock(), rows)
        return rows


def _newest_first(rows: list[StoredSurvey]) -> list[StoredSurvey]:
    return rows[: -MOST_SHOWN - 1 : -1]


def _standing(row: StoredSurvey, now: datetime) -> dict[str, Any]:
    waves = ["closed" if row.closed else wave_state(wave, now) for wave in survey_of(row.document).waves]
    return {"digest": row.digest, "revision": row.revision, "retired": row.retired, "waves": waves}


def _token_hash(body: bytes) -> bytes:
    try:
        document = canonical.load(body)
    except ValueError as error:
        raise malformed(f"the body {error}") from None
    hashed = document.get("token_sha256")
    if document.keys() != {"token_sha256"} or not isinstance(hashed, str) or not _HASH.fullmatch(hashed):
        raise malformed('the body is {"token_sha256": 64 digits and letters from a to f}')
    return bytes.fromhex(hashed)
