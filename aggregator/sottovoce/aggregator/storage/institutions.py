"""Details of institutions, available as ``storage.institutions``: one implementation in the SQL of both back ends."""

from sottovoce.aggregator.storage.audit_log.events import NO_ACTOR, SETTING_CHANGED
from sottovoce.aggregator.storage.back_end import BackEnd

_FIND = "SELECT survey, document FROM institutions WHERE survey IN ('', ?)"
_SAVE = """
    INSERT INTO institutions (survey, document) VALUES (?, ?)
    ON CONFLICT (survey) DO UPDATE SET document = excluded.document
"""


class InstitutionTable:
    """Table of details: a JSON document for the whole server and one for each survey that has its own.

    Methods are thread-safe and raise ``StorageError`` if the database is unavailable.
    """

    def __init__(self, back_end: BackEnd) -> None:
        self._back_end = back_end

    def documents(self, survey: str = "") -> dict[str, bytes]:
        """Return the documents of the server, under "", and of this survey, under its name; none if not set."""
        return {str(name): bytes(document) for name, document in self._back_end.rows_of(_FIND, [survey])}

    def save(self, survey: str, document: bytes | None, who: str = NO_ACTOR) -> None:
        """Replace a document, and record it in the audit log.

        Args:
            survey: name of the survey; "" for the whole server.
            document: JSON; None removes it.
            who: account that does it, for the audit log.
        """
        with self._back_end.write() as db:
            if document is None:
                db.execute("DELETE FROM institutions WHERE survey = ?", [survey])
            else:
                db.execute(_SAVE, [survey, document])
            self._back_end.note(db, SETTING_CHANGED, who, "institution")
