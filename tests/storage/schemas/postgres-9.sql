CREATE FUNCTION public.sottovoce_drop_partition_9(survey_ bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
    BEGIN
        DELETE FROM ONLY reports WHERE survey = survey_;
        DELETE FROM ONLY settling WHERE survey = survey_;
        DELETE FROM partitions WHERE survey = survey_;
        EXECUTE format('DROP TABLE IF EXISTS %I', 'settled_' || survey_);
    END
    $$;

CREATE FUNCTION public.sottovoce_hold_9(survey_ bigint) RETURNS void
    LANGUAGE plpgsql
    SET lock_timeout TO '2s'
    AS $$
    BEGIN
        -- In the order in which all places are locked.
        LOCK TABLE ONLY reports IN ROW EXCLUSIVE MODE;
        IF to_regclass('settled_' || survey_) IS NOT NULL THEN
            EXECUTE format('LOCK TABLE %I IN ROW EXCLUSIVE MODE', 'settled_' || survey_);
        END IF;
    END
    $$;

CREATE FUNCTION public.sottovoce_index_9(name text) RETURNS void
    LANGUAGE plpgsql
    AS $$
    BEGIN
        EXECUTE format('CREATE UNIQUE INDEX %I ON %I ((encode(report_id, ''hex'')::uuid))', name || '_id', name);
        EXECUTE format('ALTER INDEX %I ALTER COLUMN 1 SET STATISTICS 0', name || '_id');
    END
    $$;

CREATE FUNCTION public.sottovoce_known_9(survey_ bigint, ids bytea[]) RETURNS TABLE(report_id bytea, wave bigint, "values" bytea)
    LANGUAGE plpgsql
    AS $$
    BEGIN
        RETURN QUERY SELECT r.report_id, r.wave, r."values" FROM ONLY reports AS r
        WHERE r.survey = survey_ AND r.report_id = ANY (ids);
        RETURN QUERY SELECT * FROM sottovoce_settled_9(survey_, ids);
    END
    $$;

CREATE FUNCTION public.sottovoce_leave_rewriting() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
        IF EXISTS (
            SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted
            AND classid = 0 AND objid = 329584
        ) THEN
            PERFORM set_config('sottovoce.node', '8', true);
        END IF;
        RETURN NULL;
    END
    $$;

CREATE FUNCTION public.sottovoce_leave_settled() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
        IF EXISTS (SELECT FROM sottovoce_settled_9(NEW.survey, ARRAY[NEW.report_id])) THEN RETURN NULL; END IF;
        RETURN NEW;
    END
    $$;

CREATE FUNCTION public.sottovoce_leave_shown() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
        IF EXISTS (SELECT FROM surveys WHERE key = NEW.survey AND closed_on IS NULL) THEN RETURN NULL; END IF;
        RETURN NEW;
    END
    $$;

CREATE FUNCTION public.sottovoce_make_partition_9(survey_ bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
    BEGIN
        PERFORM sottovoce_partition_9(survey_, 'settled_' || survey_);
        PERFORM sottovoce_index_9('settled_' || survey_);
        EXECUTE format('ALTER TABLE %I INHERIT settled', 'settled_' || survey_);
        INSERT INTO partitions (survey) VALUES (survey_);
    END
    $$;

CREATE FUNCTION public.sottovoce_move_9(survey_ bigint, after bytea, most integer) RETURNS bytea
    LANGUAGE plpgsql
    AS $_$
    DECLARE
        last bytea;
    BEGIN
        SELECT report_id INTO last FROM ONLY settling WHERE survey = survey_ AND report_id > after
        ORDER BY report_id OFFSET most - 1 LIMIT 1;
        EXECUTE format(
            'WITH gone AS (DELETE FROM ONLY settling WHERE survey = $1 AND report_id > $2'
            ' AND report_id <= coalesce($3, $4) RETURNING *)'
            ' INSERT INTO %I (survey, wave, report_id, "values") SELECT survey, wave, report_id, "values" FROM gone ORDER BY report_id', 'settled_' || survey_
        ) USING survey_, after, last, decode(repeat('ff', 17), 'hex');
        RETURN last;
    EXCEPTION WHEN undefined_table THEN
        RETURN NULL;
    END
    $_$;

CREATE FUNCTION public.sottovoce_note_deleted() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
    BEGIN
        IF NOT EXISTS (SELECT FROM gone) THEN RAISE SQLSTATE '40001' USING MESSAGE = 'come again'; END IF;
        UPDATE partitions SET taken = 1 WHERE taken = 0 AND survey IN (SELECT survey FROM gone);
        RETURN NULL;
    END
    $$;

CREATE FUNCTION public.sottovoce_partition_9(survey_ bigint, name text) RETURNS void
    LANGUAGE plpgsql
    AS $$
    BEGIN
        EXECUTE format('CREATE TABLE %I (LIKE settled, CHECK (survey = %s))', name, survey_);
        EXECUTE format('ALTER TABLE %I ALTER report_id SET STATISTICS 0, ALTER "values" SET STATISTICS 0', name);
    END
    $$;

CREATE FUNCTION public.sottovoce_rekey_9(survey_ bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
    BEGIN
        UPDATE reports SET report_id = uuid_send(gen_random_uuid()) WHERE survey = survey_;
        UPDATE partitions SET taken = 1 WHERE survey = survey_ AND taken = 0;
    END
    $$;

CREATE FUNCTION public.sottovoce_replace_9(survey_ bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
    BEGIN
        EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', 'settled_' || survey_);
        EXECUTE format('DROP TABLE %I', 'settled_' || survey_);
        EXECUTE format('ALTER TABLE %I RENAME TO %I', 'anew_' || survey_, 'settled_' || survey_);
        EXECUTE format('ALTER INDEX %I RENAME TO %I', 'anew_' || survey_ || '_id', 'settled_' || survey_ || '_id');
        EXECUTE format('ALTER TABLE %I INHERIT settled', 'settled_' || survey_);
    END
    $$;

CREATE FUNCTION public.sottovoce_settled_9(survey_ bigint, ids bytea[]) RETURNS TABLE(report_id bytea, wave bigint, "values" bytea)
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $_$
    BEGIN
        RETURN QUERY SELECT s.report_id, s.wave, s."values" FROM settling AS s
        WHERE s.survey = survey_ AND s.report_id = ANY (ids);
        IF to_regclass('settled_' || survey_) IS NOT NULL THEN
            RETURN QUERY EXECUTE format(
                'SELECT report_id, wave, "values" FROM %I WHERE (encode(report_id, ''hex'')::uuid) = ANY ($1)', 'settled_' || survey_
            ) USING (SELECT array_agg(encode(i, 'hex')::uuid) FROM unnest(ids) AS i);
        END IF;
    END
    $_$;

CREATE FUNCTION public.sottovoce_show_9(survey_ bigint, batch bigint) RETURNS void
    LANGUAGE plpgsql
    SET "sottovoce.node" TO '9'
    AS $$
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
    $$;

CREATE FUNCTION public.sottovoce_store_8(open_surveys bigint[], batches bigint[], surveys_ bigint[], waves bigint[], ids bytea[], values_ bytea[], token_surveys bigint[], token_hashes bytea[], cells_ bigint[], counts_ bigint[], slot_ smallint) RETURNS boolean
    LANGUAGE plpgsql
    SET "sottovoce.node" TO '9'
    AS $$
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
    $$;

CREATE FUNCTION public.sottovoce_store_9(open_surveys bigint[], batches bigint[], surveys_ bigint[], waves bigint[], ids bytea[], values_ bytea[], token_surveys bigint[], token_hashes bytea[], cells_ bigint[], counts_ bigint[], slot_ smallint, signed bigint[], OUT stored boolean, OUT has_grown boolean) RETURNS record
    LANGUAGE plpgsql
    AS $$
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
    $$;

CREATE FUNCTION public.sottovoce_take_9(survey_ bigint, id bytea) RETURNS boolean
    LANGUAGE plpgsql
    AS $_$
    DECLARE
        n bigint;
    BEGIN
        DELETE FROM ONLY reports WHERE survey = survey_ AND report_id = id;
        IF FOUND THEN RETURN true; END IF;
        DELETE FROM ONLY settling WHERE survey = survey_ AND report_id = id;
        IF FOUND THEN RETURN true; END IF;
        IF to_regclass('settled_' || survey_) IS NULL THEN RETURN false; END IF;
        EXECUTE format('DELETE FROM %I WHERE (encode(report_id, ''hex'')::uuid) = encode($1, ''hex'')::uuid', 'settled_' || survey_) USING id;
        GET DIAGNOSTICS n = ROW_COUNT;
        IF n > 0 THEN UPDATE partitions SET taken = 1 WHERE survey = survey_ AND taken = 0; END IF;
        RETURN n > 0;
    END
    $_$;

CREATE FUNCTION public.sottovoce_write_anew_9(survey_ bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
    BEGIN
        IF to_regclass('settled_' || survey_) IS NULL THEN RETURN false; END IF;
        EXECUTE format('LOCK TABLE %I IN SHARE MODE', 'settled_' || survey_);
        PERFORM sottovoce_partition_9(survey_, 'anew_' || survey_);
        EXECUTE format(
            'INSERT INTO %I (survey, wave, report_id, "values") SELECT survey, wave, report_id, "values" FROM %I ORDER BY report_id',
            'anew_' || survey_, 'settled_' || survey_
        );
        PERFORM sottovoce_index_9('anew_' || survey_);
        UPDATE partitions SET added = 0, taken = 0 WHERE survey = survey_;
        RETURN true;
    END
    $$;

CREATE TABLE public.accounts (
    account bytea NOT NULL,
    name text NOT NULL,
    admin bigint NOT NULL,
    subject text,
    disabled_on bigint
);

CREATE TABLE public.blind_invitations (
    survey bigint NOT NULL,
    invitation_hash bytea NOT NULL,
    blinded_hash bytea
)
WITH (fillfactor='50');
ALTER TABLE ONLY public.blind_invitations ALTER COLUMN invitation_hash SET STATISTICS 0;
ALTER TABLE ONLY public.blind_invitations ALTER COLUMN blinded_hash SET STATISTICS 0;

CREATE TABLE public.cells (
    survey bigint NOT NULL,
    wave bigint NOT NULL,
    cohort bigint NOT NULL,
    slot smallint DEFAULT 0 NOT NULL,
    arrived bigint DEFAULT 0 NOT NULL,
    withdrawn bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.challenge_key (
    number bigint NOT NULL,
    secret bytea NOT NULL
);

CREATE TABLE public.counts (
    survey bigint NOT NULL,
    wave bigint NOT NULL,
    cohort bigint NOT NULL,
    question bigint NOT NULL,
    value bigint NOT NULL,
    slot smallint DEFAULT 0 NOT NULL,
    reports bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.drafts (
    name text NOT NULL,
    version bigint NOT NULL,
    document bytea NOT NULL
);

CREATE TABLE public.grants (
    account bytea NOT NULL,
    survey text NOT NULL,
    role text NOT NULL
);

CREATE TABLE public.invitations (
    hash bytea NOT NULL,
    survey text NOT NULL,
    role text NOT NULL,
    account bytea,
    expires_on bigint NOT NULL
);

CREATE TABLE public.journal (
    number bigint NOT NULL,
    day bigint NOT NULL,
    what text NOT NULL,
    who text NOT NULL,
    about text NOT NULL,
    previous bytea NOT NULL
);

CREATE TABLE public.journal_head (
    place bigint NOT NULL,
    number bigint NOT NULL,
    hash bytea NOT NULL
);

CREATE TABLE public.keys (
    key_hash bytea NOT NULL,
    account bytea NOT NULL,
    label text NOT NULL,
    scopes text NOT NULL,
    survey text NOT NULL,
    expires_on bigint NOT NULL,
    used_on bigint
);

CREATE TABLE public.partitions (
    survey bigint NOT NULL,
    added bigint DEFAULT 0 NOT NULL,
    taken bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.passkeys (
    credential_id bytea NOT NULL,
    account bytea NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    label text NOT NULL,
    added_on bigint NOT NULL
);

CREATE TABLE public.plans (
    survey text NOT NULL,
    people bigint,
    of_group bigint
);

CREATE TABLE public.pulse (
    beat bigint NOT NULL,
    seen bigint,
    waits bigint DEFAULT 0 NOT NULL,
    mark bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.record (
    number bigint NOT NULL,
    day bigint NOT NULL,
    what text NOT NULL,
    about text NOT NULL,
    previous bytea NOT NULL
);

CREATE TABLE public.releases (
    survey text NOT NULL,
    number bigint NOT NULL,
    line bytea NOT NULL
);
ALTER TABLE ONLY public.releases ALTER COLUMN line SET STATISTICS 0;

CREATE TABLE public.reports (
    survey bigint NOT NULL,
    report_id bytea NOT NULL,
    wave bigint NOT NULL,
    "values" bytea NOT NULL
);

CREATE TABLE public.researchers (
    token_hash bytea NOT NULL,
    name text NOT NULL
);

CREATE TABLE public.schema_version (
    version bigint NOT NULL,
    usable_from bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.sessions (
    session_hash bytea NOT NULL,
    researcher text NOT NULL,
    started bigint NOT NULL,
    used bigint NOT NULL
);

CREATE TABLE public.settled (
    survey bigint CONSTRAINT reports_survey_not_null NOT NULL,
    wave bigint CONSTRAINT reports_wave_not_null NOT NULL,
    report_id bytea CONSTRAINT reports_report_id_not_null NOT NULL,
    "values" bytea CONSTRAINT reports_values_not_null NOT NULL
)
INHERITS (public.reports);
ALTER TABLE ONLY public.settled ALTER COLUMN report_id SET STATISTICS 0;
ALTER TABLE ONLY public.settled ALTER COLUMN "values" SET STATISTICS 0;

CREATE TABLE public.settling (
    survey bigint CONSTRAINT reports_survey_not_null NOT NULL,
    report_id bytea CONSTRAINT reports_report_id_not_null NOT NULL,
    wave bigint CONSTRAINT reports_wave_not_null NOT NULL,
    "values" bytea CONSTRAINT reports_values_not_null NOT NULL
)
INHERITS (public.reports);
ALTER TABLE ONLY public.settling ALTER COLUMN report_id SET STATISTICS 0;
ALTER TABLE ONLY public.settling ALTER COLUMN "values" SET STATISTICS 0;

CREATE TABLE public.shown_cells (
    survey bigint NOT NULL,
    wave bigint NOT NULL,
    cohort bigint NOT NULL,
    arrived bigint DEFAULT 0 NOT NULL,
    withdrawn bigint DEFAULT 0 NOT NULL,
    at_close bigint
)
WITH (fillfactor='50');

CREATE TABLE public.shown_counts (
    survey bigint NOT NULL,
    wave bigint NOT NULL,
    cohort bigint NOT NULL,
    question bigint NOT NULL,
    value bigint NOT NULL,
    reports bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.spent_challenges (
    challenge_hash bytea NOT NULL,
    expires bigint NOT NULL
);

CREATE TABLE public.staff_sessions (
    session_hash bytea NOT NULL,
    account bytea NOT NULL,
    door text NOT NULL,
    started bigint NOT NULL,
    used bigint NOT NULL
);

CREATE TABLE public.surveys (
    key bigint NOT NULL,
    name text NOT NULL,
    revision bigint NOT NULL,
    digest text NOT NULL,
    document bytea NOT NULL,
    closed_on bigint,
    purged bigint DEFAULT 0 NOT NULL,
    retired bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.token_counts (
    survey bigint NOT NULL,
    created bigint DEFAULT 0 NOT NULL,
    spent bigint DEFAULT 0 NOT NULL,
    revoked bigint DEFAULT 0 NOT NULL,
    held bigint DEFAULT 0 NOT NULL,
    held_since bigint,
    dropped bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.tokens (
    survey bigint NOT NULL,
    token_hash bytea NOT NULL
);

CREATE TABLE public.tombstones (
    survey bigint NOT NULL,
    id_hash bytea NOT NULL
);

CREATE TABLE public.views (
    hash bytea NOT NULL,
    survey text NOT NULL,
    digest text NOT NULL,
    results bigint NOT NULL,
    expires_on bigint NOT NULL
);

INSERT INTO public.cells VALUES (1, 0, 0, 0, 3, 0);

INSERT INTO public.counts VALUES (1, 0, 0, 0, 1, 0, 3);
INSERT INTO public.counts VALUES (1, 0, 0, 1, 2, 0, 3);
INSERT INTO public.counts VALUES (1, 0, 0, 2, 0, 0, 3);

INSERT INTO public.journal VALUES (1, 20780, 'database migrated', '', '9', '\x0000000000000000000000000000000000000000000000000000000000000000');

INSERT INTO public.journal_head VALUES (0, 1, '\xcd3e2d8a889573a74a7b8fa71e055e4d069cd1119612f3ab696f9452d4932eb6');

INSERT INTO public.pulse VALUES (0, NULL, 86400, 0);

INSERT INTO public.reports VALUES (1, '\x5feceb66ffc86f38d952786c6d696c79', 0, '\x01010200');
INSERT INTO public.reports VALUES (1, '\x6b86b273ff34fce19d6b804eff5a3f57', 0, '\x01010200');
INSERT INTO public.reports VALUES (1, '\xd4735e3a265e16eee03f59718b9b5d03', 0, '\x01010200');

INSERT INTO public.schema_version VALUES (9, 8);

INSERT INTO public.surveys VALUES (1, 'exam', 1, 'bd68345e01722380aa0c705fba3f8712bf57a70cc610b0db6de6c4c83ad5a517', '\x7b22616363657373223a226f70656e222c2264656661756c745f6c616e6775616765223a22656e222c22666f726d6174223a22736f74746f766f63652d7375727665792f31222c226e616d65223a226578616d222c2270726976616379223a7b2270726f636564757265223a22646576696365222c2272656c656173655f6261746368223a32357d2c227175657374696f6e73223a5b7b226c6162656c223a7b22656e223a22436865617465643f227d2c226d656368616e69736d223a7b2261223a22332f34222c2262223a22312f34222c226e616d65223a2262696e6172795f7272227d2c226e616d65223a2263686561746564222c2274797065223a22626f6f6c65616e227d2c7b2263686f69636573223a5b7b226c6162656c223a7b22656e223a2254696d65227d2c226e616d65223a2274696d65227d2c7b226c6162656c223a7b22656e223a2246656172227d2c226e616d65223a2266656172227d2c7b226c6162656c223a7b22656e223a2246756e227d2c226e616d65223a2266756e227d5d2c226c6162656c223a7b22656e223a225768793f227d2c226d656368616e69736d223a7b226e616d65223a226b6172795f7272222c226f646473223a2233227d2c226e616d65223a22726561736f6e222c2274797065223a2273656c6563745f6f6e65227d2c7b2263686f69636573223a5b7b226c6162656c223a7b22656e223a224669727374227d2c226e616d65223a226669727374227d2c7b226c6162656c223a7b22656e223a225365636f6e64227d2c226e616d65223a227365636f6e64227d5d2c22636f686f7274223a747275652c226c6162656c223a7b22656e223a22596561723f227d2c226e616d65223a2279656172222c227075626c6963223a747275652c2274797065223a2273656c6563745f6f6e65227d5d2c22726574656e74696f6e223a7b226964735f64617973223a33307d2c227265766973696f6e223a312c227469746c65223a7b22656e223a224578616d73227d7d', NULL, 0, 0);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (account);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_subject_key UNIQUE (subject);

ALTER TABLE ONLY public.blind_invitations
    ADD CONSTRAINT blind_invitations_pkey PRIMARY KEY (survey, invitation_hash);

ALTER TABLE ONLY public.cells
    ADD CONSTRAINT cells_pkey PRIMARY KEY (survey, wave, cohort, slot);

ALTER TABLE ONLY public.challenge_key
    ADD CONSTRAINT challenge_key_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.counts
    ADD CONSTRAINT counts_pkey PRIMARY KEY (survey, wave, cohort, question, value, slot);

ALTER TABLE ONLY public.drafts
    ADD CONSTRAINT drafts_pkey PRIMARY KEY (name, version);

ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_pkey PRIMARY KEY (account, survey);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.journal_head
    ADD CONSTRAINT journal_head_pkey PRIMARY KEY (place);

ALTER TABLE ONLY public.journal
    ADD CONSTRAINT journal_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (key_hash);

ALTER TABLE ONLY public.partitions
    ADD CONSTRAINT partitions_pkey PRIMARY KEY (survey);

ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_pkey PRIMARY KEY (credential_id);

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (survey);

ALTER TABLE ONLY public.record
    ADD CONSTRAINT record_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.releases
    ADD CONSTRAINT releases_pkey PRIMARY KEY (survey, number);

ALTER TABLE ONLY public.reports
    ADD CONSTRAINT reports_pkey PRIMARY KEY (survey, report_id);

ALTER TABLE ONLY public.researchers
    ADD CONSTRAINT researchers_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (session_hash);

ALTER TABLE ONLY public.settling
    ADD CONSTRAINT settling_pkey PRIMARY KEY (survey, report_id);

ALTER TABLE ONLY public.shown_cells
    ADD CONSTRAINT shown_cells_pkey PRIMARY KEY (survey, wave, cohort);

ALTER TABLE ONLY public.shown_counts
    ADD CONSTRAINT shown_counts_pkey PRIMARY KEY (survey, wave, cohort, question, value);

ALTER TABLE ONLY public.spent_challenges
    ADD CONSTRAINT spent_challenges_pkey PRIMARY KEY (challenge_hash);

ALTER TABLE ONLY public.staff_sessions
    ADD CONSTRAINT staff_sessions_pkey PRIMARY KEY (session_hash);

ALTER TABLE ONLY public.surveys
    ADD CONSTRAINT surveys_digest_key UNIQUE (digest);

ALTER TABLE ONLY public.surveys
    ADD CONSTRAINT surveys_name_revision_key UNIQUE (name, revision);

ALTER TABLE ONLY public.surveys
    ADD CONSTRAINT surveys_pkey PRIMARY KEY (key);

ALTER TABLE ONLY public.token_counts
    ADD CONSTRAINT token_counts_pkey PRIMARY KEY (survey);

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (survey, token_hash);

ALTER TABLE ONLY public.tombstones
    ADD CONSTRAINT tombstones_pkey PRIMARY KEY (survey, id_hash);

ALTER TABLE ONLY public.views
    ADD CONSTRAINT views_pkey PRIMARY KEY (hash);

CREATE INDEX journal_days ON public.journal USING btree (day);

CREATE TRIGGER leave_rewriting BEFORE INSERT ON public.reports FOR EACH STATEMENT WHEN ((COALESCE(current_setting('sottovoce.node'::text, true), ''::text) = ''::text)) EXECUTE FUNCTION public.sottovoce_leave_rewriting();

CREATE TRIGGER leave_rewriting BEFORE INSERT ON public.settling FOR EACH STATEMENT WHEN ((COALESCE(current_setting('sottovoce.node'::text, true), ''::text) = ''::text)) EXECUTE FUNCTION public.sottovoce_leave_rewriting();

CREATE TRIGGER leave_settled BEFORE INSERT ON public.reports FOR EACH ROW WHEN ((COALESCE(current_setting('sottovoce.node'::text, true), ''::text) = ''::text)) EXECUTE FUNCTION public.sottovoce_leave_settled();

CREATE TRIGGER leave_settled BEFORE INSERT ON public.settling FOR EACH ROW WHEN ((COALESCE(current_setting('sottovoce.node'::text, true), ''::text) = ''::text)) EXECUTE FUNCTION public.sottovoce_leave_settled();

CREATE TRIGGER leave_shown BEFORE INSERT ON public.shown_cells FOR EACH ROW WHEN (((current_setting('sottovoce.node'::text, true) IS NULL) OR (current_setting('sottovoce.node'::text, true) = ''::text))) EXECUTE FUNCTION public.sottovoce_leave_shown();

CREATE TRIGGER leave_shown BEFORE INSERT ON public.shown_counts FOR EACH ROW WHEN (((current_setting('sottovoce.node'::text, true) IS NULL) OR (current_setting('sottovoce.node'::text, true) = ''::text))) EXECUTE FUNCTION public.sottovoce_leave_shown();

CREATE TRIGGER note_deleted AFTER DELETE ON public.reports REFERENCING OLD TABLE AS gone FOR EACH STATEMENT WHEN ((COALESCE(current_setting('sottovoce.node'::text, true), ''::text) = ''::text)) EXECUTE FUNCTION public.sottovoce_note_deleted();

CREATE TRIGGER note_deleted AFTER DELETE ON public.settling REFERENCING OLD TABLE AS gone FOR EACH STATEMENT WHEN ((COALESCE(current_setting('sottovoce.node'::text, true), ''::text) = ''::text)) EXECUTE FUNCTION public.sottovoce_note_deleted();
