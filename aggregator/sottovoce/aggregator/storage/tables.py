"""The tables and their columns, in the order in which they may be filled: the same in every back end."""

TABLES: dict[str, tuple[str, ...]] = {
    "surveys": ("key", "name", "revision", "digest", "document", "closed_on", "purged"),
    "reports": ("survey", "report_id", "wave", "values"),
    "tombstones": ("survey", "id_hash"),
    "cells": ("survey", "wave", "cohort", "reports", "withdrawn", "pending", "shown_reports", "shown_withdrawn"),
    "counts": ("survey", "wave", "cohort", "question", "value", "reports", "shown"),
    "tokens": ("survey", "token_hash"),
    "token_counts": ("survey", "created", "spent", "revoked"),
    "researchers": ("token_hash", "name"),
}
"""Sessions are left out: they end within the day."""


def select(table: str) -> str:
    """The statement that reads a whole table, in the order of its first two columns."""
    return f"SELECT {_columns(table)} FROM {table} ORDER BY 1, 2"  # noqa: S608 - constants from above


def fill(table: str) -> str:
    """The statement that adds one row to a table."""
    marks = ", ".join("?" * len(TABLES[table]))
    return f"INSERT INTO {table} ({_columns(table)}) VALUES ({marks})"  # noqa: S608 - constants from above


def take_over(table: str) -> str:
    """The statement that fills a table from the one in the schema ``source``, in the order of its first two columns."""
    wanted = f"SELECT {_columns(table)} FROM source.{table} ORDER BY 1, 2"  # noqa: S608 - constants from above
    return f"INSERT INTO {table} ({_columns(table)}) " + wanted


def _columns(table: str) -> str:
    return ", ".join(f'"{column}"' for column in TABLES[table])
