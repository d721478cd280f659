"""Where surveys, reports and counts are kept. SQL and database libraries live here and nowhere else."""

from sottovoce.aggregator.storage.base import Arrival, Cell, Outcome, Storage, StoredSurvey

__all__ = ["Arrival", "Cell", "Outcome", "Storage", "StoredSurvey"]
