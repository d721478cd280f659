"""Where surveys, reports and counts are kept. SQL and database libraries live here and nowhere else."""

from sottovoce.aggregator.storage.base import (
    Arrival,
    Cell,
    Known,
    Outcome,
    Plan,
    Storage,
    StoredSurvey,
)
from sottovoce.aggregator.storage.chain import Entry, Head, Line
from sottovoce.aggregator.storage.token_batch import Held, TokenBatch, TokenCounts

__all__ = [
    "Arrival",
    "Cell",
    "Entry",
    "Head",
    "Held",
    "Known",
    "Line",
    "Outcome",
    "Plan",
    "Storage",
    "StoredSurvey",
    "TokenBatch",
    "TokenCounts",
]
