"""Questions that lead on to another survey, as an aggregator serves them: files in its data folder, named by digest."""

import hashlib
import re
from pathlib import Path

from sottovoce.shared.by_link.link_question import LinkQuestion

FOLDER = "questions"
"""In the data folder; each node of several has its own."""


def write_published(data: Path, link: LinkQuestion) -> None:
    """Add a question to those that are served; raise OSError if it cannot be written."""
    (data / FOLDER).mkdir(exist_ok=True)
    (data / FOLDER / link.digest).write_bytes(link.canonical)


def read_published(data: Path, digest: str) -> bytes | None:
    """Return the canonical bytes of a published question; None if there is none, or its file is another's."""
    if not re.fullmatch("[0-9a-f]{64}", digest):
        return None
    try:
        document = (data / FOLDER / digest).read_bytes()
    except OSError:
        return None
    return document if hashlib.sha256(document).hexdigest() == digest else None
