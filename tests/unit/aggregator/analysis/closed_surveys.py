"""A database with the same survey in every state that joint results know, and the verbs' and routes' options for it."""

from pathlib import Path
from typing import Any

from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.exported import TODAY, drawn, published, send
from tests.surveys import survey

REPORTS = 400

OPTIONS: dict[str, dict[str, Any]] = {
    "crosstab": {"rows": "cheated", "columns": "reason"},
    "compare": {"outcome": "cheated", "groups": "year"},
    "pairs": {},
    "test": {"question": "cheated"},
    "regression": {"outcome": "cheated", "on": ["year"]},
    "weights": {"margins": {"year": {"first": 0.5, "second": 0.5}}},
}
"""Of each kind of analysis, as an HTTP body has them."""


def states(folder: Path) -> SQLiteStorage:
    """Surveys "open", "done" (closed) and "tried" (an open try-out), each with reports; "empty" is closed without."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = [survey(name="open"), survey(name="done"), survey(name="tried", trial=True), survey(name="empty")]
    storage = published(folder, *asked)
    for each in asked[:3]:
        send(storage, each, drawn(each, REPORTS))
    for name in ("done", "empty"):
        storage.close_survey(name, TODAY)
    return storage
