CREATE TABLE public.accounts (
    account bytea NOT NULL,
    name text NOT NULL,
    admin bigint DEFAULT 0 NOT NULL,
    subject text,
    disabled_on bigint
);
ALTER TABLE ONLY public.accounts ALTER COLUMN account SET STATISTICS 0;
ALTER TABLE ONLY public.accounts ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.accounts ALTER COLUMN subject SET STATISTICS 0;

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
    slot bigint NOT NULL,
    arrived bigint DEFAULT 0 NOT NULL,
    withdrawn bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.challenge_key (
    number bigint NOT NULL,
    secret bytea NOT NULL
);
ALTER TABLE ONLY public.challenge_key ALTER COLUMN secret SET STATISTICS 0;

CREATE TABLE public.counts (
    survey bigint NOT NULL,
    wave bigint NOT NULL,
    cohort bigint NOT NULL,
    question bigint NOT NULL,
    value bigint NOT NULL,
    slot bigint NOT NULL,
    reports bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.drafts (
    name text NOT NULL,
    version bigint NOT NULL,
    document bytea NOT NULL
);
ALTER TABLE ONLY public.drafts ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.drafts ALTER COLUMN document SET STATISTICS 0;

CREATE TABLE public.fresh (
    survey integer NOT NULL,
    wave integer NOT NULL,
    report_id bytea NOT NULL,
    "values" bytea NOT NULL
)
WITH (autovacuum_enabled=off);
ALTER TABLE ONLY public.fresh ALTER COLUMN report_id SET STATISTICS 0;
ALTER TABLE ONLY public.fresh ALTER COLUMN "values" SET STATISTICS 0;

CREATE TABLE public.grants (
    account bytea NOT NULL,
    survey text NOT NULL,
    role text NOT NULL
);
ALTER TABLE ONLY public.grants ALTER COLUMN account SET STATISTICS 0;
ALTER TABLE ONLY public.grants ALTER COLUMN survey SET STATISTICS 0;
ALTER TABLE ONLY public.grants ALTER COLUMN role SET STATISTICS 0;

CREATE TABLE public.institutions (
    survey text NOT NULL,
    document bytea NOT NULL
);
ALTER TABLE ONLY public.institutions ALTER COLUMN survey SET STATISTICS 0;
ALTER TABLE ONLY public.institutions ALTER COLUMN document SET STATISTICS 0;

CREATE TABLE public.invitations (
    hash bytea NOT NULL,
    survey text NOT NULL,
    role text NOT NULL,
    account bytea,
    expires_on bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.invitations ALTER COLUMN hash SET STATISTICS 0;
ALTER TABLE ONLY public.invitations ALTER COLUMN survey SET STATISTICS 0;
ALTER TABLE ONLY public.invitations ALTER COLUMN role SET STATISTICS 0;
ALTER TABLE ONLY public.invitations ALTER COLUMN account SET STATISTICS 0;

CREATE TABLE public.journal (
    number bigint NOT NULL,
    day bigint DEFAULT 0 NOT NULL,
    what text NOT NULL,
    who text NOT NULL,
    about text NOT NULL,
    previous bytea NOT NULL
);
ALTER TABLE ONLY public.journal ALTER COLUMN what SET STATISTICS 0;
ALTER TABLE ONLY public.journal ALTER COLUMN who SET STATISTICS 0;
ALTER TABLE ONLY public.journal ALTER COLUMN about SET STATISTICS 0;
ALTER TABLE ONLY public.journal ALTER COLUMN previous SET STATISTICS 0;

CREATE TABLE public.journal_head (
    place bigint NOT NULL,
    number bigint DEFAULT 0 NOT NULL,
    hash bytea NOT NULL
);
ALTER TABLE ONLY public.journal_head ALTER COLUMN hash SET STATISTICS 0;

CREATE TABLE public.keys (
    key_hash bytea NOT NULL,
    account bytea NOT NULL,
    label text NOT NULL,
    scopes text NOT NULL,
    survey text NOT NULL,
    expires_on bigint DEFAULT 0 NOT NULL,
    used_on bigint
);
ALTER TABLE ONLY public.keys ALTER COLUMN key_hash SET STATISTICS 0;
ALTER TABLE ONLY public.keys ALTER COLUMN account SET STATISTICS 0;
ALTER TABLE ONLY public.keys ALTER COLUMN label SET STATISTICS 0;
ALTER TABLE ONLY public.keys ALTER COLUMN scopes SET STATISTICS 0;
ALTER TABLE ONLY public.keys ALTER COLUMN survey SET STATISTICS 0;

CREATE TABLE public.link_questions (
    digest text NOT NULL,
    who text NOT NULL,
    document bytea NOT NULL
);
ALTER TABLE ONLY public.link_questions ALTER COLUMN digest SET STATISTICS 0;
ALTER TABLE ONLY public.link_questions ALTER COLUMN who SET STATISTICS 0;
ALTER TABLE ONLY public.link_questions ALTER COLUMN document SET STATISTICS 0;

CREATE TABLE public.passkeys (
    credential_id bytea NOT NULL,
    account bytea NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint DEFAULT 0 NOT NULL,
    label text NOT NULL,
    added_on bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.passkeys ALTER COLUMN credential_id SET STATISTICS 0;
ALTER TABLE ONLY public.passkeys ALTER COLUMN account SET STATISTICS 0;
ALTER TABLE ONLY public.passkeys ALTER COLUMN public_key SET STATISTICS 0;
ALTER TABLE ONLY public.passkeys ALTER COLUMN label SET STATISTICS 0;

CREATE TABLE public.plans (
    survey text NOT NULL,
    people bigint,
    of_group bigint
);
ALTER TABLE ONLY public.plans ALTER COLUMN survey SET STATISTICS 0;

CREATE TABLE public.pulse (
    beat bigint DEFAULT 0 NOT NULL,
    seen bigint,
    waits bigint DEFAULT 0 NOT NULL,
    mark bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.record (
    number bigint NOT NULL,
    day bigint DEFAULT 0 NOT NULL,
    what text NOT NULL,
    about text NOT NULL,
    previous bytea NOT NULL
);
ALTER TABLE ONLY public.record ALTER COLUMN what SET STATISTICS 0;
ALTER TABLE ONLY public.record ALTER COLUMN about SET STATISTICS 0;
ALTER TABLE ONLY public.record ALTER COLUMN previous SET STATISTICS 0;

CREATE TABLE public.releases (
    survey text NOT NULL,
    number bigint NOT NULL,
    line bytea NOT NULL
);
ALTER TABLE ONLY public.releases ALTER COLUMN survey SET STATISTICS 0;
ALTER TABLE ONLY public.releases ALTER COLUMN line SET STATISTICS 0;

CREATE TABLE public.settled (
    survey integer NOT NULL,
    wave integer NOT NULL,
    report_id bytea NOT NULL,
    "values" bytea NOT NULL
);
ALTER TABLE ONLY public.settled ALTER COLUMN report_id SET STATISTICS 0;
ALTER TABLE ONLY public.settled ALTER COLUMN "values" SET STATISTICS 0;

CREATE VIEW public.reports AS
 SELECT settled.survey,
    settled.report_id,
    settled.wave,
    settled."values"
   FROM public.settled
UNION ALL
 SELECT fresh.survey,
    fresh.report_id,
    fresh.wave,
    fresh."values"
   FROM public.fresh;

CREATE TABLE public.schema_version (
    version bigint NOT NULL,
    usable_from bigint DEFAULT 0 NOT NULL,
    is_sorted boolean DEFAULT false NOT NULL
);

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
    expires bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.spent_challenges ALTER COLUMN challenge_hash SET STATISTICS 0;

CREATE TABLE public.staff_sessions (
    session_hash bytea NOT NULL,
    account bytea NOT NULL,
    door text NOT NULL,
    started bigint DEFAULT 0 NOT NULL,
    used bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.staff_sessions ALTER COLUMN session_hash SET STATISTICS 0;
ALTER TABLE ONLY public.staff_sessions ALTER COLUMN account SET STATISTICS 0;
ALTER TABLE ONLY public.staff_sessions ALTER COLUMN door SET STATISTICS 0;

CREATE TABLE public.surveys (
    key bigint NOT NULL,
    name text NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    digest text NOT NULL,
    document bytea NOT NULL,
    closed_on bigint,
    purged bigint DEFAULT 0 NOT NULL,
    retired bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.surveys ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY public.surveys ALTER COLUMN digest SET STATISTICS 0;
ALTER TABLE ONLY public.surveys ALTER COLUMN document SET STATISTICS 0;

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
ALTER TABLE ONLY public.tokens ALTER COLUMN token_hash SET STATISTICS 0;

CREATE TABLE public.tombstones (
    survey bigint NOT NULL,
    id_hash bytea NOT NULL
);
ALTER TABLE ONLY public.tombstones ALTER COLUMN id_hash SET STATISTICS 0;

CREATE TABLE public.views (
    hash bytea NOT NULL,
    survey text NOT NULL,
    digest text NOT NULL,
    results bigint DEFAULT 0 NOT NULL,
    expires_on bigint DEFAULT 0 NOT NULL
);
ALTER TABLE ONLY public.views ALTER COLUMN hash SET STATISTICS 0;
ALTER TABLE ONLY public.views ALTER COLUMN survey SET STATISTICS 0;
ALTER TABLE ONLY public.views ALTER COLUMN digest SET STATISTICS 0;

INSERT INTO public.cells VALUES (1, 0, 0, 0, 3, 0);

INSERT INTO public.counts VALUES (1, 0, 0, 0, 1, 0, 3);
INSERT INTO public.counts VALUES (1, 0, 0, 1, 2, 0, 3);
INSERT INTO public.counts VALUES (1, 0, 0, 2, 0, 0, 3);

INSERT INTO public.fresh VALUES (1, 0, '\x5feceb66ffc86f38d952786c6d696c79', '\x01010200');
INSERT INTO public.fresh VALUES (1, 0, '\x6b86b273ff34fce19d6b804eff5a3f57', '\x01010200');
INSERT INTO public.fresh VALUES (1, 0, '\xd4735e3a265e16eee03f59718b9b5d03', '\x01010200');

INSERT INTO public.journal VALUES (1, 20780, 'database migrated', '', '9', '\x0000000000000000000000000000000000000000000000000000000000000000');
INSERT INTO public.journal VALUES (2, 20781, 'database migrated', '', '10', '\xcd3e2d8a889573a74a7b8fa71e055e4d069cd1119612f3ab696f9452d4932eb6');
INSERT INTO public.journal VALUES (3, 20781, 'database migrated', '', '11', '\x8df3d9965bdbb4b866dd9787e36ab556cdb38335c9e11ef73ec9764d9b24c6d4');
INSERT INTO public.journal VALUES (4, 20784, 'database migrated', '', '12', '\xcaf403dd41ee4a4ea7f45483c9874f73d84d56aa2ca7343ed8120ef7c4a3b797');
INSERT INTO public.journal VALUES (5, 20785, 'database migrated', '', '13', '\x88543e91a4788fb34c1ea382496a6e57fa553ab4f029b79e4ed31ed1a472fc6d');

INSERT INTO public.journal_head VALUES (0, 5, '\x0a978369053556bc3a0940763f7f3bbf3fdf27bca38db2ec654c097e32fe715c');

INSERT INTO public.pulse VALUES (0, NULL, 86400, 0);

INSERT INTO public.schema_version VALUES (13, 13, false);

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

ALTER TABLE ONLY public.fresh
    ADD CONSTRAINT fresh_pkey PRIMARY KEY (survey, report_id);

ALTER TABLE ONLY public.grants
    ADD CONSTRAINT grants_pkey PRIMARY KEY (account, survey);

ALTER TABLE ONLY public.institutions
    ADD CONSTRAINT institutions_pkey PRIMARY KEY (survey);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (hash);

ALTER TABLE ONLY public.journal_head
    ADD CONSTRAINT journal_head_pkey PRIMARY KEY (place);

ALTER TABLE ONLY public.journal
    ADD CONSTRAINT journal_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (key_hash);

ALTER TABLE ONLY public.link_questions
    ADD CONSTRAINT link_questions_pkey PRIMARY KEY (digest);

ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_pkey PRIMARY KEY (credential_id);

ALTER TABLE ONLY public.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (survey);

ALTER TABLE ONLY public.record
    ADD CONSTRAINT record_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.releases
    ADD CONSTRAINT releases_pkey PRIMARY KEY (survey, number);

ALTER TABLE ONLY public.settled
    ADD CONSTRAINT settled_pkey PRIMARY KEY (survey, report_id);

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
