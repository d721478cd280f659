"""Where surveys, reports and counts are kept. SQL and database libraries live here and nowhere else."""

from sottovoce.aggregator.storage.base import (
    Arrival,
    Cell,
    Known,
    Line,
    Outcome,
    Plan,
    Storage,
    StoredSurvey,
    TokenBatch,
    TokenCounts,
)

__all__ = [
    "Arrival",
    "Cell",
    "Known",
    "Line",
    "Outcome",
    "Plan",
    "Storage",
    "StoredSurvey",
    "TokenBatch",
    "TokenCounts",
]
