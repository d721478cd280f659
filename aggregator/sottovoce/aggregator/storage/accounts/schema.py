"""
Schema of access control on both back ends, with the migration of researchers from earlier releases to accounts.

The tables ``researchers`` and ``sessions`` remain for nodes of the release before, which use them during an update.
"""

_ACCESS = """
    CREATE TABLE accounts (
        account {bytes} PRIMARY KEY,
        name {text} NOT NULL,
        admin {number} NOT NULL,
        subject {text} UNIQUE,
        disabled_on {number}
    ){end};
    CREATE TABLE grants (
        account {bytes} NOT NULL,
        survey {text} NOT NULL,
        role {text} NOT NULL,
        PRIMARY KEY (account, survey)
    ){end};
    CREATE TABLE keys (
        key_hash {bytes} PRIMARY KEY,
        account {bytes} NOT NULL,
        label {text} NOT NULL,
        scopes {text} NOT NULL,
        survey {text} NOT NULL,
        expires_on {number} NOT NULL,
        used_on {number}
    ){end};
    CREATE TABLE staff_sessions (
        session_hash {bytes} PRIMARY KEY,
        account {bytes} NOT NULL,
        door {text} NOT NULL,
        started {number} NOT NULL,
        used {number} NOT NULL
    ){end};
    CREATE TABLE invitations (
        hash {bytes} PRIMARY KEY,
        survey {text} NOT NULL,
        role {text} NOT NULL,
        account {bytes},
        expires_on {number} NOT NULL
    ){end};
    CREATE TABLE views (
        hash {bytes} PRIMARY KEY,
        survey {text} NOT NULL,
        digest {text} NOT NULL,
        results {number} NOT NULL,
        expires_on {number} NOT NULL
    ){end};
    INSERT INTO accounts (account, name, admin)
    SELECT {new_id}, name, 1 FROM (SELECT DISTINCT name FROM researchers) AS named;
    INSERT INTO grants (account, survey, role) SELECT account, '*', 'owner' FROM accounts;
    INSERT INTO keys (key_hash, account, label, scopes, survey, expires_on)
    SELECT token_hash, account, 'researcher', 'journal:read metrics:read results:read surveys:write tokens:issue', '*',
        {today} + 366
    FROM researchers JOIN accounts ON accounts.name = researchers.name
"""


def _created_tables(**words: str) -> tuple[str, ...]:
    return tuple(_ACCESS.format(**words).split(";\n"))


MAKE_ACCESS = _created_tables(
    bytes="BLOB",
    text="TEXT",
    number="INTEGER",
    end=" STRICT, WITHOUT ROWID",
    new_id="randomblob(16)",
    today="CAST(strftime('%s', 'now') AS INTEGER) / 86400",
)
"""Statements of the migration on SQLite."""

MAKE_ACCESS_SHARED = _created_tables(
    bytes="bytea",
    text="text",
    number="bigint",
    end="",
    new_id="uuid_send(gen_random_uuid())",
    today="floor(extract(epoch FROM clock_timestamp()))::bigint / 86400",
)
"""Statements of the migration on PostgreSQL."""
