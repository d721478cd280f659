"""
The SQLite schema: numbered migrations, only ever added to, each applied in one transaction.

``pack_text`` is a function of ``rows``.
"""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        # The day of closing is the only time there is, and no report has one.
        """
        CREATE TABLE surveys (
            key INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            revision INTEGER NOT NULL,
            digest TEXT NOT NULL UNIQUE,
            document BLOB NOT NULL,
            closed_on INTEGER,
            purged INTEGER NOT NULL DEFAULT 0,
            UNIQUE (name, revision)
        ) STRICT
        """,
        # The key is random and there is no rowid, no time and no sequence: the order of arrival is not kept.
        """
        CREATE TABLE reports (
            survey INTEGER NOT NULL REFERENCES surveys (key),
            report_id BLOB NOT NULL,
            wave INTEGER NOT NULL,
            "values" TEXT NOT NULL,
            PRIMARY KEY (survey, report_id)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE tombstones (
            survey INTEGER NOT NULL REFERENCES surveys (key),
            id_hash BLOB NOT NULL,
            PRIMARY KEY (survey, id_hash)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE cells (
            survey INTEGER NOT NULL REFERENCES surveys (key),
            wave INTEGER NOT NULL,
            cohort INTEGER NOT NULL,
            reports INTEGER NOT NULL DEFAULT 0,
            withdrawn INTEGER NOT NULL DEFAULT 0,
            pending INTEGER NOT NULL DEFAULT 0,
            shown_reports INTEGER NOT NULL DEFAULT 0,
            shown_withdrawn INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (survey, wave, cohort)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE counts (
            survey INTEGER NOT NULL REFERENCES surveys (key),
            wave INTEGER NOT NULL,
            cohort INTEGER NOT NULL,
            question INTEGER NOT NULL,
            value INTEGER NOT NULL,
            reports INTEGER NOT NULL DEFAULT 0,
            shown INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (survey, wave, cohort, question, value)
        ) STRICT, WITHOUT ROWID
        """,
        # A token is spent by deleting its row; how many were is a number that names none.
        """
        CREATE TABLE tokens (
            survey INTEGER NOT NULL REFERENCES surveys (key),
            token_hash BLOB NOT NULL,
            PRIMARY KEY (survey, token_hash)
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE token_counts (
            survey INTEGER PRIMARY KEY REFERENCES surveys (key),
            created INTEGER NOT NULL DEFAULT 0,
            spent INTEGER NOT NULL DEFAULT 0,
            revoked INTEGER NOT NULL DEFAULT 0
        ) STRICT
        """,
        """
        CREATE TABLE researchers (
            token_hash BLOB PRIMARY KEY,
            name TEXT NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
        """
        CREATE TABLE sessions (
            session_hash BLOB PRIMARY KEY,
            researcher TEXT NOT NULL,
            started INTEGER NOT NULL,
            used INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """,
        # One row that readiness checks write to: only a real write finds a full disk.
        "CREATE TABLE pulse (beat INTEGER NOT NULL) STRICT",
        "INSERT INTO pulse VALUES (0)",
    ),
    (
        # Values as bytes: a third of the space, and counted without being parsed.
        "ALTER TABLE reports RENAME TO reports_as_text",
        # No reference to surveys: with one, SQLite would note every page before it changes it, for each statement anew.
        """
        CREATE TABLE reports (
            survey INTEGER NOT NULL,
            report_id BLOB NOT NULL,
            wave INTEGER NOT NULL,
            "values" BLOB NOT NULL,
            PRIMARY KEY (survey, report_id)
        ) STRICT, WITHOUT ROWID
        """,
        """
        INSERT INTO reports (survey, report_id, wave, "values")
        SELECT survey, report_id, wave, pack_text("values") FROM reports_as_text ORDER BY survey, report_id
        """,
        "DROP TABLE reports_as_text",
    ),
)
