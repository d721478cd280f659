"""Explain the codes of problem documents, also published as ``docs/problems.md``."""

import json
from importlib.resources import files
from typing import NamedTuple


class Explanation(NamedTuple):
    """Explanation of a code: HTTP status, title, what happened, whose turn it is to act, and the remedy."""

    status: int
    title: str
    happened: str
    turn: str
    remedy: str


_TEXTS = json.loads(files("sottovoce.aggregator.http").joinpath("problem_docs.json").read_text(encoding="utf-8"))

EXPLANATIONS = {code: Explanation(**texts) for code, texts in _TEXTS.items()}
"""Explanations by stable code, in the order of their statuses."""
