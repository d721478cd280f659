"""Store questions that lead on to another survey (``storage.link_questions``), in the SQL of both back ends."""

from typing import NamedTuple

from sottovoce.aggregator.storage.audit_log.events import QUESTION_PUBLISHED, QUESTION_WITHDRAWN
from sottovoce.aggregator.storage.back_end import BackEnd

_FIND = "SELECT document FROM link_questions WHERE digest = ?"
_ALL = "SELECT digest, who, document FROM link_questions ORDER BY digest"
_ADD = "INSERT INTO link_questions (digest, who, document) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_REMOVE = "DELETE FROM link_questions WHERE digest = ? AND (who = ? OR 1 = ?)"


class PublishedLink(NamedTuple):
    """A published question: its digest, the id of the account that published it, and its canonical bytes."""

    digest: str
    who: str
    document: bytes


class LinkQuestionTable:
    """Table of these questions. Methods are thread-safe and raise ``StorageError`` if the database is unavailable."""

    def __init__(self, back_end: BackEnd) -> None:
        self._back_end = back_end

    def document(self, digest: str) -> bytes | None:
        """Return the canonical bytes of a published question; None if there is none."""
        row = self._back_end.row_of(_FIND, [digest])
        return None if row is None else bytes(row[0])

    def all(self) -> list[PublishedLink]:
        """Return every published question, by digest."""
        return [PublishedLink(digest, who, bytes(document)) for digest, who, document in self._back_end.rows_of(_ALL)]

    def publish(self, digest: str, document: bytes, who: str) -> None:
        """Add a question and record it in the audit log; nothing changes if it is published already."""
        with self._back_end.write() as db:
            if db.execute(_ADD, [digest, who, document]).rowcount == 1:
                self._back_end.note(db, QUESTION_PUBLISHED, who, digest)

    def withdraw(self, digest: str, who: str, is_admin: bool) -> bool:
        """Remove a question that ``who`` published, or any for an admin, and record it; False if there is none."""
        with self._back_end.write() as db:
            found = db.execute(_REMOVE, [digest, who, int(is_admin)]).rowcount == 1
            if found:
                self._back_end.note(db, QUESTION_WITHDRAWN, who, digest)
        return found
