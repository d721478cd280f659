"""Build the offline form: an HTML file with a survey embedded, joined from pieces as the form itself joins them."""

import json

from sottovoce.aggregator.storage import StoredSurvey

PIECES = "saved.json"
"""Name of the asset with the pieces of the file around the aggregator's URL."""


def saved_form(pieces: bytes, aggregator: str, stored: StoredSurvey) -> bytes:
    """Build the file from the asset ``pieces``, byte for byte as ``sottovoce survey page --file`` writes it."""
    policy, setup, rest = json.loads(pieces)
    held = {"name": stored.name, "digest": stored.digest[:32], "text": stored.document.decode()}
    return f'{policy}{aggregator}{setup}{_json(aggregator)},"survey":{_json(held)}{rest}'.encode()


def _json(value: object) -> str:
    # Same format as JSON.stringify. Escape "<", or a text with "</script>" would end the surrounding element.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
