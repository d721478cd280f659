"""The SQLite schema: numbered migrations, only ever added to, each applied in one transaction."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE surveys (
            key INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            revision INTEGER NOT NULL,
            digest TEXT NOT NULL UNIQUE,
            document BLOB NOT NULL,
            closed INTEGER NOT NULL DEFAULT 0,
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
    ),
)
