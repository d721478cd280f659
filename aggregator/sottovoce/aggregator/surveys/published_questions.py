"""Questions that lead on to another survey, as an aggregator serves them.

An account publishes into the database, the command ``question publish`` writes a file into the data folder.
"""

import hashlib
import re
from pathlib import Path

from sottovoce.aggregator.storage import Storage
from sottovoce.shared.by_link.link_question import LinkQuestion

FOLDER = "questions"
"""In the data folder; each node of several has its own."""


def write_published(data: Path, link: LinkQuestion) -> None:
    """Add a question to those that are served; raise OSError if it cannot be written."""
    (data / FOLDER).mkdir(exist_ok=True)
    (data / FOLDER / link.digest).write_bytes(link.canonical)


def read_published(storage: Storage, data: Path, digest: str) -> bytes | None:
    """Return the canonical bytes of a published question; None if there is none, or its bytes have another digest."""
    if not re.fullmatch("[0-9a-f]{64}", digest):
        return None
    document = storage.link_questions.document(digest)
    try:
        document = (data / FOLDER / digest).read_bytes() if document is None else document
    except OSError:
        return None
    return document if hashlib.sha256(document).hexdigest() == digest else None
