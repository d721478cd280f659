"""Format JSON documents as text for all exported files."""

import json
from collections.abc import Mapping
from typing import Any

from sottovoce.aggregator.file_formats.provenance import About


def marked(document: Mapping[str, Any], about: About) -> dict[str, Any]:
    """Put the warning of a simulation first in a document, under a key that readers of real files refuse."""
    return {**(about.marks if about.rehearsal else {}), **document}


def json_text(document: dict[str, Any]) -> str:
    """Format a document as text with its first key in the first line, where a warning is seen at once."""
    return json.dumps(document, indent=2, ensure_ascii=False).replace("{\n  ", "{", 1) + "\n"
