"""The form with one survey in it, as one file: joined from pieces that are served, as the form itself does it."""

import json

from sottovoce.aggregator.storage import StoredSurvey

PIECES = "saved.json"
"""The asset that holds what stands around the aggregator's address."""


def saved_form(pieces: bytes, aggregator: str, stored: StoredSurvey) -> bytes:
    """
    The file, byte for byte as ``sottovoce page --file`` writes it.

    Args:
        pieces: the asset.
        aggregator: its address, to which the form sends.
        stored: the revision that the form holds.
    """
    policy, setup, rest = json.loads(pieces)
    held = {"name": stored.name, "digest": stored.digest[:32], "text": stored.document.decode()}
    return f'{policy}{aggregator}{setup}{_json(aggregator)},"survey":{_json(held)}{rest}'.encode()


def _json(value: object) -> str:
    # As a browser writes it; and nothing in it ends the element that it stands in.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
