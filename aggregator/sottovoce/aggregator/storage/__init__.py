"""Storage of surveys, reports and counts; the only package with SQL and database libraries."""

from sottovoce.aggregator.storage.hash_chain import AuditEntry, ChainHead, SurveyLogEntry
from sottovoce.aggregator.storage.invitations.blind_invitations import Held, TokenBatch, TokenCounts
from sottovoce.aggregator.storage.models import Cell, Known, Outcome, ReportBatch, StoragePlan, StoredSurvey
from sottovoce.aggregator.storage.sql_storage import Storage

__all__ = [
    "AuditEntry",
    "Cell",
    "ChainHead",
    "Held",
    "Known",
    "Outcome",
    "ReportBatch",
    "Storage",
    "StoragePlan",
    "StoredSurvey",
    "SurveyLogEntry",
    "TokenBatch",
    "TokenCounts",
]
