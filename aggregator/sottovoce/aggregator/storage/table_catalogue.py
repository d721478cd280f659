"""Tables and columns of every back end."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Column(NamedTuple):
    """Kind (numbers, text or bytes) and constraints of a table's column; ``may_be_empty`` allows NULL."""

    kind: str
    in_key: bool = False
    may_be_empty: bool = False

    def __str__(self) -> str:
        return self.kind + (", part of the key" if self.in_key else "") + (", or nothing" if self.may_be_empty else "")


TableColumns = Mapping[str, Column]
"""Columns of a table, by name."""

NUMBERS, TEXT, BYTES = Column("numbers"), Column("text"), Column("bytes")
KEY, TEXT_KEY, RANDOM_KEY = (Column(kind, in_key=True) for kind in ("numbers", "text", "bytes"))
NUMBERS_OR_NULL, TEXT_OR_NULL, BYTES_OR_NULL = (
    Column(kind, may_be_empty=True) for kind in ("numbers", "text", "bytes")
)

TABLES: dict[str, TableColumns] = {
    "surveys": {
        "key": KEY,
        "name": TEXT,
        "revision": NUMBERS,
        "digest": TEXT,
        "document": BYTES,
        "closed_on": NUMBERS_OR_NULL,
        "purged": NUMBERS,
        "retired": NUMBERS,
    },
    "reports": {"survey": KEY, "report_id": RANDOM_KEY, "wave": NUMBERS, "values": BYTES},
    "tombstones": {"survey": KEY, "id_hash": RANDOM_KEY},
    "cells": {**dict.fromkeys(("survey", "wave", "cohort", "slot"), KEY), "arrived": NUMBERS, "withdrawn": NUMBERS},
    "counts": {**dict.fromkeys(("survey", "wave", "cohort", "question", "value", "slot"), KEY), "reports": NUMBERS},
    "shown_cells": {
        **dict.fromkeys(("survey", "wave", "cohort"), KEY),
        "arrived": NUMBERS,
        "withdrawn": NUMBERS,
        "at_close": NUMBERS_OR_NULL,
    },
    "shown_counts": {**dict.fromkeys(("survey", "wave", "cohort", "question", "value"), KEY), "reports": NUMBERS},
    "tokens": {"survey": KEY, "token_hash": RANDOM_KEY},
    "token_counts": {
        "survey": KEY,
        **dict.fromkeys(("created", "spent", "revoked", "held"), NUMBERS),
        "held_since": NUMBERS_OR_NULL,
        "dropped": NUMBERS,
    },
    "blind_invitations": {"survey": KEY, "invitation_hash": RANDOM_KEY, "blinded_hash": BYTES_OR_NULL},
    "accounts": {
        "account": RANDOM_KEY,
        "name": TEXT,
        "admin": NUMBERS,
        "subject": TEXT_OR_NULL,
        "disabled_on": NUMBERS_OR_NULL,
    },
    "grants": {"account": RANDOM_KEY, "survey": TEXT_KEY, "role": TEXT},
    "keys": {
        "key_hash": RANDOM_KEY,
        "account": BYTES,
        **dict.fromkeys(("label", "scopes", "survey"), TEXT),
        "expires_on": NUMBERS,
        "used_on": NUMBERS_OR_NULL,
    },
    "invitations": {"hash": RANDOM_KEY, "survey": TEXT, "role": TEXT, "account": BYTES_OR_NULL, "expires_on": NUMBERS},
    "views": {"hash": RANDOM_KEY, "survey": TEXT, "digest": TEXT, "results": NUMBERS, "expires_on": NUMBERS},
    "passkeys": {
        "credential_id": RANDOM_KEY,
        **dict.fromkeys(("account", "public_key"), BYTES),
        "sign_count": NUMBERS,
        "label": TEXT,
        "added_on": NUMBERS,
    },
    "plans": {"survey": TEXT_KEY, "people": NUMBERS_OR_NULL, "of_group": NUMBERS_OR_NULL},
    "institutions": {"survey": TEXT_KEY, "document": BYTES},
    "link_questions": {"digest": TEXT_KEY, "who": TEXT_KEY, "document": BYTES},
    "drafts": {"name": TEXT_KEY, "version": KEY, "document": BYTES},
    "releases": {"survey": TEXT_KEY, "number": KEY, "line": BYTES},
    "record": {"number": KEY, "day": NUMBERS, "what": TEXT, "about": TEXT, "previous": BYTES},
    "journal": {"number": KEY, "day": NUMBERS, "what": TEXT, "who": TEXT, "about": TEXT, "previous": BYTES},
    "journal_head": {"place": KEY, "number": NUMBERS, "hash": BYTES},
    "pulse": {"beat": NUMBERS, "seen": NUMBERS_OR_NULL, "waits": NUMBERS, "mark": NUMBERS},
}
"""Tables that a copy to another database includes."""

TABLES_OF_REPORTS = ("settled", "fresh")
"""Tables that the view ``reports`` consists of; a copy fills the first one."""

SECRETS = ("tokens", "blind_invitations")
"""Tables of personal links, which are written anew after one was used."""

OF_SURVEYS = [table for table, columns in TABLES.items() if columns.get("survey") == KEY]
"""Tables whose rows refer to a survey by its key."""

OF_NAMES = [table for table, columns in TABLES.items() if "survey" in columns and table not in OF_SURVEYS]
"""Tables whose rows may refer to a survey by name, or to all surveys or none."""

NOT_COPIED: dict[str, TableColumns] = {
    "staff_sessions": {"session_hash": RANDOM_KEY, "account": BYTES, "door": TEXT, "started": NUMBERS, "used": NUMBERS},
    "spent_challenges": {"challenge_hash": RANDOM_KEY, "expires": NUMBERS},
    "challenge_key": {"number": KEY, "secret": BYTES},
}
"""Tables that a copy leaves out: sessions end within the day, challenges of passkeys within five minutes."""

EVERY_TABLE = TABLES | NOT_COPIED

UNIQUE = {"surveys": ("digest", "name, revision"), "accounts": ("subject",)}
"""Columns beside the key that no two rows of a table share."""


def select(table: str) -> str:
    """Return the query for all rows of a table, ordered by its first two columns; slots are summed into slot 0."""
    columns = TABLES[table]
    if "slot" not in columns:
        return f"SELECT {_columns(table)} FROM {table} ORDER BY 1, 2"  # noqa: S608 - constants from above
    read = [_added_up(name, of) for name, of in columns.items()]
    keys = [name for name, of in columns.items() if of.in_key and name != "slot"]
    return f"SELECT {', '.join(read)} FROM {table} GROUP BY {', '.join(keys)} ORDER BY 1, 2"  # noqa: S608 - constants


def fill(table: str, into: str, conflict: str = "") -> str:
    """Return the statement that adds one row of a table to the table ``into``, which has the same columns."""
    marks = ", ".join("?" * len(EVERY_TABLE[table]))
    return f"INSERT INTO {into} ({_columns(table)}) VALUES ({marks}) {conflict}"  # noqa: S608 - constants from above


def clear(table: str) -> str:
    """Return the statement that deletes all rows of a table."""
    return f"DELETE FROM {table}"  # noqa: S608 - constants from above


def refill(table: str, columns: Iterable[str]) -> str:
    """Return the statement that fills a table from ``former_`` it, by those of its columns that both have."""
    known = EVERY_TABLE["reports" if table in TABLES_OF_REPORTS else table]
    names = ", ".join(f'"{column}"' for column in columns if column in known)
    return f"INSERT INTO {table} ({names}) SELECT {names} FROM former_{table}"  # noqa: S608 - names


def take_over(table: str, into: str) -> str:
    """Return the statement that fills the table ``into`` from a table of the database ``source``, in key order."""
    return f"INSERT INTO {into} ({_columns(table)}) SELECT {_columns(table)} FROM source.{table} ORDER BY 1, 2"  # noqa: S608


def _added_up(name: str, column: Column) -> str:
    if name == "slot":
        return "0"
    return name if column.in_key else f"CAST(sum({name}) AS bigint)"


def _columns(table: str) -> str:
    return ", ".join(f'"{column}"' for column in EVERY_TABLE[table])
