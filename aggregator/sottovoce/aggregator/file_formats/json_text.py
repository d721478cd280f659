"""JSON text as all files of this project write it."""

import json
from collections.abc import Mapping
from typing import Any

from sottovoce.aggregator.file_formats.provenance import About


def marked(document: Mapping[str, Any], about: About) -> dict[str, Any]:
    """
    A document that must not be taken for what it is elsewhere: that stands first, and no reader's format has it.

    Args:
        document: of reports, real or invented, or their survey.
        about: says whether they were invented.
    """
    return {**(about.marks if about.rehearsal else {}), **document}


def json_text(document: dict[str, Any]) -> str:
    """A document as text, its first key in the first line: of a try-out that is the warning."""
    return json.dumps(document, indent=2, ensure_ascii=False).replace("{\n  ", "{", 1) + "\n"
