"""
Tables that hold reports in a PostgreSQL database, and the SQL functions that search all of them.

They arrive in ``reports``, in the order of their arrival. Once a day that table takes the name ``settling``, an empty
one takes its own, and what settles goes, in the order of the random ids, into ``settled_KEY``, the partition of its
survey. Partitions inherit from ``settled``, and that and ``settling`` from ``reports``: whoever reads ``reports`` reads
all, nodes of the release before this one too, and needs no word of places. Declared partitions cannot have their parent
take the arrivals.

A row only ever moves from the first place to the next one, in one transaction. Who asks them one after the other in
this order, each with a statement of its own, finds it.
"""

NAMES = 'survey, wave, report_id, "values"'
"""Columns of a partition, in the order in which they take the least room."""

ID = "(encode(report_id, 'hex')::uuid)"
"""What a partition's index holds: half a word shorter than the bytes themselves."""

_NO_SAMPLES = (
    "ALTER TABLE {table} ALTER report_id SET STATISTICS 0",
    'ALTER TABLE {table} ALTER "values" SET STATISTICS 0',
)

# The planner's statistics would keep samples of ids and values. Constraints have the names of those of ``reports``, or
# PostgreSQL would refuse to change the kind of a column in all places.
_PLACES = (
    """
    CREATE TABLE settling (
        survey bigint CONSTRAINT reports_survey_not_null NOT NULL,
        report_id bytea CONSTRAINT reports_report_id_not_null NOT NULL,
        wave bigint CONSTRAINT reports_wave_not_null NOT NULL,
        "values" bytea CONSTRAINT reports_values_not_null NOT NULL,
        PRIMARY KEY (survey, report_id)
    )
    """,
    """
    CREATE TABLE settled (
        survey bigint CONSTRAINT reports_survey_not_null NOT NULL,
        wave bigint CONSTRAINT reports_wave_not_null NOT NULL,
        report_id bytea CONSTRAINT reports_report_id_not_null NOT NULL,
        "values" bytea CONSTRAINT reports_values_not_null NOT NULL
    )
    """,
    *(statement.format(table=table) for table in ("settling", "settled") for statement in _NO_SAMPLES),
    "ALTER TABLE settling INHERIT reports",
    "ALTER TABLE settled INHERIT reports",
    # What has become of each partition since it was written anew as a whole: 1 if rows were added, or taken out.
    """
    CREATE TABLE partitions (
        survey bigint PRIMARY KEY,
        added bigint NOT NULL DEFAULT 0,
        taken bigint NOT NULL DEFAULT 0
    )
    """,
)

# To be asked after ``reports``. The planner would read a whole partition for the ids of a large group.
_SETTLED = """
    CREATE FUNCTION sottovoce_settled_9(survey_ bigint, ids bytea[])
    RETURNS TABLE (report_id bytea, wave bigint, "values" bytea) LANGUAGE plpgsql SET enable_seqscan = off AS $$
    BEGIN
        RETURN QUERY SELECT s.report_id, s.wave, s."values" FROM settling AS s
        WHERE s.survey = survey_ AND s.report_id = ANY (ids);
        IF to_regclass('settled_' || survey_) IS NOT NULL THEN
            RETURN QUERY EXECUTE format(
                'SELECT report_id, wave, "values" FROM %I WHERE {id} = ANY ($1)', 'settled_' || survey_
            ) USING (SELECT array_agg(encode(i, 'hex')::uuid) FROM unnest(ids) AS i);
        END IF;
    END
    $$
""".replace("{id}", ID.replace("'", "''"))

_KNOWN = """
    CREATE FUNCTION sottovoce_known_9(survey_ bigint, ids bytea[])
    RETURNS TABLE (report_id bytea, wave bigint, "values" bytea) LANGUAGE plpgsql AS $$
    BEGIN
        RETURN QUERY SELECT r.report_id, r.wave, r."values" FROM ONLY reports AS r
        WHERE r.survey = survey_ AND r.report_id = ANY (ids);
        RETURN QUERY SELECT * FROM sottovoce_settled_9(survey_, ids);
    END
    $$
"""

# While a partition is written anew nothing is taken out of it. Who waits for that holds a connection which others need
# to store reports: soon it is told to come again. It waits before it looks into the partition, or the new one could
# not take the place of the old one.
_HOLD = """
    CREATE FUNCTION sottovoce_hold_9(survey_ bigint) RETURNS void LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
    BEGIN
        -- In the order in which all places are locked.
        LOCK TABLE ONLY reports IN ROW EXCLUSIVE MODE;
        IF to_regclass('settled_' || survey_) IS NOT NULL THEN
            EXECUTE format('LOCK TABLE %I IN ROW EXCLUSIVE MODE', 'settled_' || survey_);
        END IF;
    END
    $$
"""
_TAKE = """
    CREATE FUNCTION sottovoce_take_9(survey_ bigint, id bytea) RETURNS boolean
    LANGUAGE plpgsql AS $$
    DECLARE
        n bigint;
    BEGIN
        DELETE FROM ONLY reports WHERE survey = survey_ AND report_id = id;
        IF FOUND THEN RETURN true; END IF;
        DELETE FROM ONLY settling WHERE survey = survey_ AND report_id = id;
        IF FOUND THEN RETURN true; END IF;
        IF to_regclass('settled_' || survey_) IS NULL THEN RETURN false; END IF;
        EXECUTE format('DELETE FROM %I WHERE {id} = encode($1, ''hex'')::uuid', 'settled_' || survey_) USING id;
        GET DIAGNOSTICS n = ROW_COUNT;
        IF n > 0 THEN UPDATE partitions SET taken = 1 WHERE survey = survey_ AND taken = 0; END IF;
        RETURN n > 0;
    END
    $$
""".replace("{id}", ID.replace("'", "''"))

# After a purge no file may hold the ids of before.
_REKEY = """
    CREATE FUNCTION sottovoce_rekey_9(survey_ bigint) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE reports SET report_id = uuid_send(gen_random_uuid()) WHERE survey = survey_;
        UPDATE partitions SET taken = 1 WHERE survey = survey_ AND taken = 0;
    END
    $$
"""

# The next rows in the order of ids, so many at most; gives the last id, or nothing once there are no more. A partition
# that is gone is that of a survey which is being deleted, with its rows.
_MOVE = """
    CREATE FUNCTION sottovoce_move_9(survey_ bigint, after bytea, most int) RETURNS bytea LANGUAGE plpgsql AS $$
    DECLARE
        last bytea;
    BEGIN
        SELECT report_id INTO last FROM ONLY settling WHERE survey = survey_ AND report_id > after
        ORDER BY report_id OFFSET most - 1 LIMIT 1;
        EXECUTE format(
            'WITH gone AS (DELETE FROM ONLY settling WHERE survey = $1 AND report_id > $2'
            ' AND report_id <= coalesce($3, $4) RETURNING *)'
            ' INSERT INTO %I ({names}) SELECT {names} FROM gone ORDER BY report_id', 'settled_' || survey_
        ) USING survey_, after, last, decode(repeat('ff', 17), 'hex');
        RETURN last;
    EXCEPTION WHEN undefined_table THEN
        RETURN NULL;
    END
    $$
""".replace("{names}", NAMES)

# Nodes of the release before this one write to ``reports`` by themselves, where some of a group was known, and where
# they withdraw. An id that lies in another place is none to insert: they look again, at all places, and find it. But to
# write the whole table anew, as they do each day, alone with it, they have taken all rows out.
_OLDER_NODES_REWRITE = """
    CREATE FUNCTION sottovoce_leave_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF EXISTS (
            SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted
            AND classid = 0 AND objid = 329584
        ) THEN
            PERFORM set_config('sottovoce.node', '8', true);
        END IF;
        RETURN NULL;
    END
    $$
"""
_OLDER_NODES_INSERT_NOTHING_TWICE = """
    CREATE FUNCTION sottovoce_leave_settled() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF EXISTS (SELECT FROM sottovoce_settled_9(NEW.survey, ARRAY[NEW.report_id])) THEN RETURN NULL; END IF;
        RETURN NEW;
    END
    $$
"""
# A row that moves while they delete it is not deleted, and they would take it for one that another node has withdrawn.
_OLDER_NODES_DELETE_ALL_OR_FAIL = """
    CREATE FUNCTION sottovoce_note_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF NOT EXISTS (SELECT FROM gone) THEN RAISE SQLSTATE '40001' USING MESSAGE = 'come again'; END IF;
        UPDATE partitions SET taken = 1 WHERE taken = 0 AND survey IN (SELECT survey FROM gone);
        RETURN NULL;
    END
    $$
"""
_OLDER = "WHEN (coalesce(current_setting('sottovoce.node', true), '') = '')"
_FOR_OLDER_NODES = (
    _OLDER_NODES_REWRITE,
    _OLDER_NODES_INSERT_NOTHING_TWICE,
    _OLDER_NODES_DELETE_ALL_OR_FAIL,
    *(
        statement.format(table=table, older=_OLDER)
        for table in ("reports", "settling")
        for statement in (
            "CREATE TRIGGER leave_rewriting BEFORE INSERT ON {table} FOR EACH STATEMENT {older}"
            " EXECUTE FUNCTION sottovoce_leave_rewriting()",
            "CREATE TRIGGER leave_settled BEFORE INSERT ON {table} FOR EACH ROW {older}"
            " EXECUTE FUNCTION sottovoce_leave_settled()",
            "CREATE TRIGGER note_deleted AFTER DELETE ON {table} REFERENCING OLD TABLE AS gone FOR EACH STATEMENT"
            " {older} EXECUTE FUNCTION sottovoce_note_deleted()",
        )
    ),
)

_PARTITION = """
    CREATE FUNCTION sottovoce_partition_9(survey_ bigint, name text) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        EXECUTE format('CREATE TABLE %I (LIKE settled, CHECK (survey = %s))', name, survey_);
        EXECUTE format('ALTER TABLE %I ALTER report_id SET STATISTICS 0, ALTER "values" SET STATISTICS 0', name);
    END
    $$
"""
_INDEX = """
    CREATE FUNCTION sottovoce_index_9(name text) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        EXECUTE format('CREATE UNIQUE INDEX %I ON %I ({id})', name || '_id', name);
        EXECUTE format('ALTER INDEX %I ALTER COLUMN 1 SET STATISTICS 0', name || '_id');
    END
    $$
""".replace("{id}", ID.replace("'", "''"))
_MAKE_PARTITION = """
    CREATE FUNCTION sottovoce_make_partition_9(survey_ bigint) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM sottovoce_partition_9(survey_, 'settled_' || survey_);
        PERFORM sottovoce_index_9('settled_' || survey_);
        EXECUTE format('ALTER TABLE %I INHERIT settled', 'settled_' || survey_);
        INSERT INTO partitions (survey) VALUES (survey_);
    END
    $$
"""
_DROP_PARTITION = """
    CREATE FUNCTION sottovoce_drop_partition_9(survey_ bigint) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        DELETE FROM ONLY reports WHERE survey = survey_;
        DELETE FROM ONLY settling WHERE survey = survey_;
        DELETE FROM partitions WHERE survey = survey_;
        EXECUTE format('DROP TABLE IF EXISTS %I', 'settled_' || survey_);
    END
    $$
"""

# Beside the old one, out of which nothing is taken until the end of the transaction; false if there is none.
_WRITE_ANEW = """
    CREATE FUNCTION sottovoce_write_anew_9(survey_ bigint) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
        IF to_regclass('settled_' || survey_) IS NULL THEN RETURN false; END IF;
        EXECUTE format('LOCK TABLE %I IN SHARE MODE', 'settled_' || survey_);
        PERFORM sottovoce_partition_9(survey_, 'anew_' || survey_);
        EXECUTE format(
            'INSERT INTO %I ({names}) SELECT {names} FROM %I ORDER BY report_id',
            'anew_' || survey_, 'settled_' || survey_
        );
        PERFORM sottovoce_index_9('anew_' || survey_);
        UPDATE partitions SET added = 0, taken = 0 WHERE survey = survey_;
        RETURN true;
    END
    $$
""".replace("{names}", NAMES)
_REPLACE = """
    CREATE FUNCTION sottovoce_replace_9(survey_ bigint) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', 'settled_' || survey_);
        EXECUTE format('DROP TABLE %I', 'settled_' || survey_);
        EXECUTE format('ALTER TABLE %I RENAME TO %I', 'anew_' || survey_, 'settled_' || survey_);
        EXECUTE format('ALTER INDEX %I RENAME TO %I', 'anew_' || survey_ || '_id', 'settled_' || survey_ || '_id');
        EXECUTE format('ALTER TABLE %I INHERIT settled', 'settled_' || survey_);
    END
    $$
"""

MAKE_PLACES = (
    *_PLACES,
    *(_SETTLED, _KNOWN, _HOLD, _TAKE, _REKEY, _MOVE),
    *(_PARTITION, _INDEX, _MAKE_PARTITION, _DROP_PARTITION, _WRITE_ANEW, _REPLACE),
    *_FOR_OLDER_NODES,
)
