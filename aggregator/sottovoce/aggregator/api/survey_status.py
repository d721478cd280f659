"""
What devices ask before the first question: which revisions there are, which answer now, and whether a token is good.

Each reply is the same for everybody, and about nobody: what is asked for says neither which revision a person's link
names nor who asks. Nothing is stored.
"""

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sottovoce.aggregator.clock import Clock
from sottovoce.aggregator.intake.decode import malformed
from sottovoce.aggregator.storage import Storage, StoredSurvey
from sottovoce.aggregator.surveys.stored_surveys import survey_of, unknown_survey, wave_state
from sottovoce.shared import canonical
from sottovoce.shared.errors import StorageError

MOST_SHOWN = 8
"""Revisions that one reply shows, the newest."""

FRESH = timedelta(seconds=1)
"""How long what was read is told again: so long another node's close is not known here."""

_HASH = re.compile(r"[0-9a-f]{64}")
_EPOCH = date(1970, 1, 1)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class PublishedSurveys:
    """
    Replies about surveys, mostly from memory.

    Args:
        storage: what was published.
        clock: the present moment.
        is_red: whether the database is known not to answer; then what was read last is told, and nobody waits for it.
    """

    def __init__(self, storage: Storage, clock: Clock, is_red: Callable[[], bool] = lambda: False) -> None:
        self._storage = storage
        self._clock = clock
        self._is_red = is_red
        self._read: dict[str, tuple[datetime, list[StoredSurvey]]] = {}
        # From the start on, and out of date at once: the database may fail before anybody asks.
        for row in storage.surveys():
            self._read.setdefault(row.name, (_LONG_AGO, []))[1].append(row)

    def newest(self, name: str) -> bytes:
        """
        The newest revision's canonical bytes.

        Raises:
            ReportRejected: ``unknown_survey``.
        """
        return self._now(name)[-1].document

    def revisions(self, name: str) -> bytes:
        """
        All revisions in one reply, newest first, as canonical JSON.

        Raises:
            ReportRejected: ``unknown_survey``.
        """
        # Not from memory: a device compares it with the newest revision, which is not either.
        shown = _newest_first(self._now(name))
        # The names of surveys need no escapes, and the documents are canonical as they are.
        documents = b",".join(row.document for row in shown)
        return b'{"format":"sottovoce-revisions/1","revisions":[%b],"survey":"%b"}' % (documents, name.encode())

    def status(self, name: str) -> bytes:
        """
        Whether each revision answers in each wave, by this aggregator's clock, as canonical JSON.

        Raises:
            ReportRejected: ``unknown_survey``.
        """
        now = self._clock()
        shown = _newest_first(self._remembered(name, now))
        closed_on = shown[0].closed_on
        document = {
            "format": "sottovoce-status/1",
            "survey": name,
            "closed_on": None if closed_on is None else (_EPOCH + timedelta(days=closed_on)).isoformat(),
            "revisions": [_standing(row, now) for row in shown],
        }
        return canonical.dump(document)

    def is_token_good(self, name: str, body: bytes) -> bool:
        """
        Whether a token with this hash may be spent. One question to the database, whatever is wrong with it: spent,
        revoked and unknown ones are not there, and where none is asked for there are none.

        Raises:
            ReportRejected: ``malformed``, or ``unknown_survey``.
        """
        hashed = _token_hash(body)
        # Tokens lie under the first revision: they outlive a correction.
        return self._storage.has_token(self._remembered(name, self._clock())[0].key, hashed)

    def _remembered(self, name: str, now: datetime) -> list[StoredSurvey]:
        """The revisions, oldest first, as they were at most ``FRESH`` ago; a clock that was set back forgets."""
        then, rows = self._read.get(name, (None, []))
        if then is None or not timedelta(0) <= now - then < FRESH:
            return self._now(name)
        return rows

    def _now(self, name: str) -> list[StoredSurvey]:
        """The revisions, oldest first, as they are; as they last were, while the database cannot be asked."""
        _, rows = self._read.get(name, (None, []))
        if not (rows and self._is_red()):
            try:
                rows = self._storage.revisions(name)
            except StorageError:
                if not rows:
                    raise
                return rows
            if not rows:
                # Not remembered: whoever invents names would fill the memory.
                self._read.pop(name, None)
                raise unknown_survey()
            self._read[name] = (self._clock(), rows)
        return rows


def _newest_first(rows: list[StoredSurvey]) -> list[StoredSurvey]:
    return rows[: -MOST_SHOWN - 1 : -1]


def _standing(row: StoredSurvey, now: datetime) -> dict[str, Any]:
    survey = survey_of(row.document)
    waves = ["closed" if row.closed else wave_state(wave, now) for wave in survey.waves]
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
