"""Where surveys, reports and counts are kept. SQL and database libraries live here and nowhere else."""

from sottovoce.aggregator.storage.hash_chain import Entry, Head, Line
from sottovoce.aggregator.storage.interface import Storage
from sottovoce.aggregator.storage.invitations.token_models import Held, TokenBatch, TokenCounts
from sottovoce.aggregator.storage.models import Arrival, Cell, Known, Outcome, Plan, StoredSurvey

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
