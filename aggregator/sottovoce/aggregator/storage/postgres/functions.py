"""
The functions in a PostgreSQL database: one stores a group, one shows what has grown, each by itself in one round trip.

Every process counts in a slot of its own, so that no two wait for the same row until the other is synced; a count is
the sum of its slots. Showing is a transaction of its own, after the reports are durable: whatever is shown was stored.
A crash between the two leaves it late, until the next group or minute, and never early.
"""

NEW_NODE = "SET sottovoce.node = '9'"
"""By this the database tells a connection of this program from one of the release before it."""

# A group of which every report is new. Reports come in blocks of one survey, wave and length, their ids and their
# values one after the other. Tombstones come after the rows: a row waits for whoever is deleting its namesake, and only
# then is that one seen to be withdrawn. So does the look at the other places: once this wrote to ``reports``, that
# table keeps its name until the end of the transaction. Cells come before counts, in key order: who holds the row of a
# cell is alone with its counts in that slot, so that no two writers wait for each other in a circle. Rows that are
# there are updated first, and reports are inserted as if all were new: ON CONFLICT writes a row's lock, or that it
# stays, to the log too. What is asked of a list as long as the group is asked by ``unnest``, of which the planner
# thinks the same whatever its length: it would plan anew for each group. Where ids are signed and a survey was
# corrected, a report under the same id may be stored for another revision, which is looked for elsewhere; a correction
# waits for whoever has the first revision's row, and who comes after it sees it.
#
# Not stored, and nothing else happens, if something is not new or not allowed. That is an everyday answer and no error:
# the server's log would name the report. SV001 is a condition of our own that never leaves the function; to raise and
# catch it is how plpgsql undoes what was begun. After a report that is there already the others have not been tried:
# whoever is deleting one of them is waited for all the same, so that it is seen to be withdrawn.
_STORE = """
    CREATE FUNCTION sottovoce_store_9(
        open_surveys bigint[], batches bigint[], surveys_ bigint[], waves bigint[], ids bytea[], values_ bytea[],
        token_surveys bigint[], token_hashes bytea[], cells_ bigint[], counts_ bigint[], slot_ smallint,
        signed bigint[], OUT stored boolean, OUT has_grown boolean
    ) LANGUAGE plpgsql AS $$
    DECLARE
        n bigint;
        i int;
        block_ids bytea;
        block_values bytea;
        places int[];
        rows_ int;
        size int;
    BEGIN
        stored := false;
        has_grown := false;
        FOR i IN 1 .. cardinality(open_surveys) LOOP
            PERFORM 1 FROM surveys WHERE key = open_surveys[i] AND closed_on IS NULL FOR SHARE;
            IF NOT FOUND THEN RETURN; END IF;
        END LOOP;
        IF cardinality(signed) > 0 AND EXISTS (
            SELECT FROM surveys AS own JOIN surveys AS other USING (name)
            WHERE own.key = ANY (signed) AND other.key <> own.key
        ) THEN RETURN; END IF;

        IF cardinality(token_surveys) > 0 THEN
            DELETE FROM tokens t USING unnest(token_surveys, token_hashes) AS g (survey, token_hash)
            WHERE t.survey = g.survey AND t.token_hash = g.token_hash;
            GET DIAGNOSTICS n = ROW_COUNT;
            IF n <> cardinality(token_surveys) THEN RAISE SQLSTATE 'SV001'; END IF;
        END IF;

        FOR i IN 1 .. cardinality(ids) LOOP
            block_ids := ids[i];
            block_values := values_[i];
            rows_ := length(block_ids) / 16;
            size := length(block_values) / rows_;
            INSERT INTO reports
            SELECT surveys_[i], substring(block_ids FROM 16 * k + 1 FOR 16), waves[i],
                   substring(block_values FROM size * k + 1 FOR size)
            FROM generate_series(0, rows_ - 1) AS k;
            IF EXISTS (SELECT FROM sottovoce_settled_9(surveys_[i], (
                SELECT array_agg(substring(block_ids FROM 16 * k + 1 FOR 16)) FROM generate_series(0, rows_ - 1) AS k
            ))) THEN RAISE SQLSTATE 'SV001'; END IF;
            -- Hashes are only needed where somebody has withdrawn.
            IF EXISTS (SELECT FROM tombstones WHERE survey = surveys_[i]) THEN
                PERFORM 1 FROM generate_series(0, rows_ - 1) AS k JOIN tombstones
                ON survey = surveys_[i] AND id_hash = sha256(substring(block_ids FROM 16 * k + 1 FOR 16));
                IF FOUND THEN RAISE SQLSTATE 'SV001'; END IF;
            END IF;
        END LOOP;

        FOR i IN 1 .. cardinality(cells_) / 4 LOOP
            UPDATE cells SET arrived = arrived + cells_[4*i]
            WHERE (survey, wave, cohort, slot) = (cells_[4*i-3], cells_[4*i-2], cells_[4*i-1], slot_);
            IF NOT FOUND THEN
                INSERT INTO cells AS c (survey, wave, cohort, slot, arrived)
                VALUES (cells_[4*i-3], cells_[4*i-2], cells_[4*i-1], slot_, cells_[4*i])
                ON CONFLICT (survey, wave, cohort, slot) DO UPDATE SET arrived = c.arrived + excluded.arrived;
            END IF;
        END LOOP;

        places := ARRAY(SELECT generate_series(1, cardinality(counts_), 6));
        UPDATE counts AS c SET reports = c.reports + counts_[k+5] FROM unnest(places) AS k
        WHERE (survey, wave, cohort, question, value, slot)
            = (counts_[k], counts_[k+1], counts_[k+2], counts_[k+3], counts_[k+4], slot_);
        GET DIAGNOSTICS n = ROW_COUNT;
        IF 6 * n < cardinality(counts_) THEN
            INSERT INTO counts (survey, wave, cohort, question, value, slot, reports)
            SELECT counts_[k], counts_[k+1], counts_[k+2], counts_[k+3], counts_[k+4], slot_, counts_[k+5]
            FROM unnest(places) AS k
            WHERE NOT EXISTS (
                SELECT FROM counts WHERE (survey, wave, cohort, question, value, slot)
                = (counts_[k], counts_[k+1], counts_[k+2], counts_[k+3], counts_[k+4], slot_)
            )
            ORDER BY 1, 2, 3, 4, 5
            ON CONFLICT (survey, wave, cohort, question, value, slot)
            DO UPDATE SET reports = counts.reports + excluded.reports;
        END IF;

        -- Without those of others that are not committed: they see this group then, or whoever comes next does.
        FOR i IN 1 .. cardinality(cells_) / 4 LOOP
            SELECT sum(arrived - withdrawn) - coalesce((
                SELECT arrived - withdrawn FROM shown_cells
                WHERE survey = cells_[4*i-3] AND wave = cells_[4*i-2] AND cohort = cells_[4*i-1]
            ), 0) INTO n FROM cells
            WHERE survey = cells_[4*i-3] AND wave = cells_[4*i-2] AND cohort = cells_[4*i-1];
            has_grown := has_grown OR n >= batches[array_position(open_surveys, cells_[4*i-3])];
        END LOOP;
        stored := true;
    EXCEPTION
        WHEN SQLSTATE 'SV001' THEN NULL;
        WHEN unique_violation THEN
            FOR i IN 1 .. cardinality(ids) LOOP
                block_ids := ids[i];
                rows_ := length(block_ids) / 16;
                PERFORM 1 FROM ONLY reports WHERE survey = surveys_[i] AND report_id = ANY (ARRAY(
                    SELECT substring(block_ids FROM 16 * k + 1 FOR 16) FROM generate_series(0, rows_ - 1) AS k
                )) FOR KEY SHARE;
            END LOOP;
    END
    $$
"""

# One at a time shows a survey: who finds another one at it leaves, since that one, or the next, shows these too. The
# survey's row keeps closing and deleting out, which change what is shown as well; who finds them at it leaves too, for
# the thread that stores reports does this every minute, and must not wait. Then one statement, which sees all
# slots of cells and counts as of one moment; it must begin after the locks are taken, or it would show an older moment
# over a newer one. The number of the advisory lock is 0x50772, then that of the survey.
_SHOW = """
    CREATE FUNCTION sottovoce_show_9(survey_ bigint, batch bigint) RETURNS void
    LANGUAGE plpgsql SET sottovoce.node = '9' AS $$
    BEGIN
        IF NOT pg_try_advisory_xact_lock((329586::bigint << 32) + survey_) THEN RETURN; END IF;
        PERFORM 1 FROM surveys WHERE key = survey_ FOR SHARE SKIP LOCKED;
        IF NOT FOUND THEN RETURN; END IF;
        WITH live AS (
            SELECT wave, cohort, sum(arrived) AS arrived, sum(withdrawn) AS withdrawn FROM cells
            WHERE survey = survey_ GROUP BY wave, cohort
        ), grown AS (
            -- Arrivals less withdrawals: who sends and withdraws pushes nothing.
            SELECT live.* FROM live LEFT JOIN shown_cells AS shown
            ON shown.survey = survey_ AND shown.wave = live.wave AND shown.cohort = live.cohort
            WHERE live.arrived - live.withdrawn - coalesce(shown.arrived - shown.withdrawn, 0) >= batch
        ), moved AS (
            INSERT INTO shown_cells (survey, wave, cohort, arrived, withdrawn)
            SELECT survey_, wave, cohort, arrived, withdrawn FROM grown
            ON CONFLICT (survey, wave, cohort)
            DO UPDATE SET arrived = excluded.arrived, withdrawn = excluded.withdrawn
        )
        INSERT INTO shown_counts AS shown (survey, wave, cohort, question, value, reports)
        SELECT survey_, wave, cohort, question, value, sum(reports) FROM counts JOIN grown USING (wave, cohort)
        WHERE survey = survey_ GROUP BY wave, cohort, question, value
        ON CONFLICT (survey, wave, cohort, question, value)
        DO UPDATE SET reports = excluded.reports WHERE shown.reports <> excluded.reports;
    END
    $$
"""

# Nodes of the release before this one call it by this name, with what this one means by it.
_STORE_FOR_OLDER_NODES = """
    CREATE OR REPLACE FUNCTION sottovoce_store_8(
        open_surveys bigint[], batches bigint[], surveys_ bigint[], waves bigint[], ids bytea[], values_ bytea[],
        token_surveys bigint[], token_hashes bytea[], cells_ bigint[], counts_ bigint[], slot_ smallint
    ) RETURNS boolean LANGUAGE plpgsql SET sottovoce.node = '9' AS $$
    DECLARE
        done record;
        i int;
    BEGIN
        SELECT * INTO done FROM sottovoce_store_9(
            open_surveys, batches, surveys_, waves, ids, values_, token_surveys, token_hashes, cells_, counts_, slot_,
            '{}'
        );
        IF done.has_grown THEN
            FOR i IN 1 .. cardinality(open_surveys) LOOP
                PERFORM sottovoce_show_9(open_surveys[i], batches[i]);
            END LOOP;
        END IF;
        RETURN done.stored;
    END
    $$
"""

# Where some of a group was known, such a node shows by itself, cells and counts of two moments, and one may be older
# than what is shown. Then nothing is shown: whoever comes next does it, late.
_OLDER_NODES_SHOW_NOTHING = """
    CREATE FUNCTION sottovoce_leave_shown() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF EXISTS (SELECT FROM surveys WHERE key = NEW.survey AND closed_on IS NULL) THEN RETURN NULL; END IF;
        RETURN NEW;
    END
    $$
"""

MAKE_FUNCTIONS = (
    _STORE,
    _SHOW,
    _STORE_FOR_OLDER_NODES,
    _OLDER_NODES_SHOW_NOTHING,
    *(
        f"CREATE TRIGGER leave_shown BEFORE INSERT ON {table} FOR EACH ROW"
        " WHEN (current_setting('sottovoce.node', true) IS NULL OR current_setting('sottovoce.node', true) = '')"
        " EXECUTE FUNCTION sottovoce_leave_shown()"
        for table in ("shown_cells", "shown_counts")
    ),
)
