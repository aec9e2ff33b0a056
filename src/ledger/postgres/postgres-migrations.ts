/** Columns of the sums of use. A released step never changes, so they are not made from the names of counters. */
const useColumns = `
     line bigint NOT NULL,
     person bigint NOT NULL,
     team bigint NOT NULL,
     model bigint NOT NULL,
     provider bigint NOT NULL,
     requests bigint NOT NULL,
     errors bigint NOT NULL,
     left_early bigint NOT NULL,
     attempts bigint NOT NULL,
     input bigint NOT NULL,
     cached bigint NOT NULL,
     write5 bigint NOT NULL,
     write60 bigint NOT NULL,
     output bigint NOT NULL,
     reasoning bigint NOT NULL,
     cost bigint NOT NULL,
     cost_reported bigint NOT NULL,
     cost_estimated bigint NOT NULL,
     unpriced bigint NOT NULL,
     estimated bigint NOT NULL,
     unsettled bigint NOT NULL`
const useKey = 'line, person, team, model, provider'

/** Buckets of times, and failures, by hour or day. */
function outcomeTables(unit: 'hour' | 'day'): string {
  return `CREATE TABLE times_${unit} (
     ${unit} bigint NOT NULL,
     model bigint NOT NULL,
     provider bigint NOT NULL,
     first integer[] NOT NULL,
     total integer[] NOT NULL,
     PRIMARY KEY (${unit}, model, provider)
   );
   CREATE TABLE failure_${unit} (
     ${unit} bigint NOT NULL,
     model bigint NOT NULL,
     provider bigint NOT NULL,
     failure bigint NOT NULL,
     requests bigint NOT NULL,
     attempts bigint NOT NULL,
     PRIMARY KEY (${unit}, model, provider, failure)
   );`
}

/**
 * The versions of the schema `svc` in PostgreSQL, in their order. A released step never changes, and a new one only
 * adds, so that older services run beside newer ones until they are restarted.
 */
export const serverMigrations: readonly string[] = [
  `CREATE TABLE key (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     line bigint NOT NULL,
     hash bytea NOT NULL UNIQUE,
     hint text NOT NULL,
     name text NOT NULL,
     kind text NOT NULL,
     made bigint NOT NULL,
     made_by text NOT NULL,
     expires bigint,
     ended bigint,
     ended_by text,
     used bigint,
     grants text NOT NULL,
     version bigint NOT NULL,
     person text,
     person_name text,
     person_user_id text,
     person_caseless bigint,
     person_seen bigint
   );
   CREATE INDEX key_version ON key (version);
   CREATE INDEX key_line ON key (line, id);
   CREATE INDEX key_person ON key (person, id) WHERE person IS NOT NULL;
   CREATE TABLE audit (
     seq bigint PRIMARY KEY,
     time bigint NOT NULL,
     actor text,
     actor_salt text,
     actor_hash text NOT NULL,
     via text NOT NULL,
     action text NOT NULL,
     object text NOT NULL,
     before text,
     after text,
     chain text NOT NULL
   );
   CREATE TABLE head (version bigint NOT NULL, audit bigint NOT NULL);
   INSERT INTO head (version, audit) VALUES (0, 0);
   CREATE TABLE meta (name text PRIMARY KEY, value text NOT NULL);
   CREATE TABLE label (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     kind text NOT NULL,
     text text NOT NULL,
     UNIQUE (kind, text)
   );
   CREATE TABLE person (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     subject text NOT NULL UNIQUE,
     name text NOT NULL,
     email text,
     seen bigint NOT NULL,
     gone bigint
   );
   CREATE TABLE batch (source text PRIMARY KEY, number bigint NOT NULL, time bigint NOT NULL);
   CREATE TABLE usage_hour (hour bigint NOT NULL, ${useColumns}, PRIMARY KEY (hour, ${useKey}));
   CREATE TABLE usage_day (day bigint NOT NULL, ${useColumns}, PRIMARY KEY (day, ${useKey}));
   CREATE SEQUENCE request_seq;
   CREATE TABLE request (
     stored bigint NOT NULL,
     seq bigint NOT NULL,
     time bigint NOT NULL,
     id text NOT NULL,
     api bigint NOT NULL,
     line bigint NOT NULL,
     person bigint NOT NULL,
     team bigint NOT NULL,
     model bigint NOT NULL,
     provider bigint NOT NULL,
     status bigint NOT NULL,
     error bigint NOT NULL,
     ms bigint NOT NULL,
     first_ms bigint,
     input bigint NOT NULL,
     cached bigint NOT NULL,
     write5 bigint NOT NULL,
     write60 bigint NOT NULL,
     output bigint NOT NULL,
     reasoning bigint NOT NULL,
     cost bigint,
     flags bigint NOT NULL,
     attempts bigint NOT NULL
   ) PARTITION BY RANGE (stored);
   CREATE INDEX request_time ON request (time);
   CREATE INDEX request_line ON request (line, time) WHERE line <> 0;
   CREATE INDEX request_person ON request (person, time) WHERE person <> 0;
   CREATE INDEX request_id ON request (id);
   CREATE INDEX request_failed ON request (time) WHERE status >= 400;
   CREATE TABLE attempt (
     stored bigint NOT NULL,
     seq bigint NOT NULL,
     n bigint NOT NULL,
     provider bigint NOT NULL,
     status bigint NOT NULL,
     class bigint NOT NULL,
     ms bigint NOT NULL,
     input bigint NOT NULL,
     output bigint NOT NULL,
     cost bigint,
     flags bigint NOT NULL
   ) PARTITION BY RANGE (stored);
   CREATE INDEX attempt_seq ON attempt (seq);`,
  `CREATE INDEX request_model ON request (model, time);
   CREATE INDEX request_provider ON request (provider, time);
   CREATE INDEX request_error ON request (error, time) WHERE error <> 0;
   CREATE INDEX request_cut ON request (time) WHERE status < 400 AND error <> 0;
   CREATE INDEX request_tried ON request (time) WHERE attempts > 1 OR provider = 0;
   CREATE INDEX request_id_bytes ON request (id COLLATE "C");
   DROP INDEX request_id;`,
  `CREATE TABLE hold (
     source text NOT NULL,
     line bigint NOT NULL,
     person bigint NOT NULL,
     team bigint NOT NULL,
     model bigint NOT NULL,
     provider bigint NOT NULL,
     attempts bigint NOT NULL,
     cost bigint NOT NULL,
     booked_hour bigint,
     booked_day bigint,
     PRIMARY KEY (source, ${useKey})
   );
   ALTER TABLE batch ADD COLUMN holder text;`,
  `CREATE TABLE content (
     seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     id text NOT NULL,
     time bigint NOT NULL,
     line bigint NOT NULL,
     person bigint NOT NULL,
     expires bigint NOT NULL,
     flags bigint NOT NULL,
     bytes bigint NOT NULL,
     question bytea NOT NULL,
     answer bytea NOT NULL
   );
   CREATE INDEX content_id ON content (id);
   CREATE INDEX content_expires ON content (expires, bytes);
   CREATE INDEX content_person ON content (person) WHERE person <> 0;`,
  outcomeTables('hour') + outcomeTables('day'),
  `CREATE TABLE history_head (change bigint NOT NULL, database text NOT NULL);
   INSERT INTO history_head (change, database) VALUES (0, gen_random_uuid()::text);
   CREATE TABLE history_person (
     number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     person text NOT NULL UNIQUE,
     subject text NOT NULL,
     name text NOT NULL,
     key_id text NOT NULL,
     sealed_key bytea NOT NULL,
     pruned bigint NOT NULL,
     conversations bigint NOT NULL,
     removed bigint NOT NULL,
     bytes bigint NOT NULL
   );
   CREATE TABLE history_conversation (
     person bigint NOT NULL,
     id text NOT NULL,
     change bigint NOT NULL,
     size bigint NOT NULL,
     content bytea,
     PRIMARY KEY (person, id)
   );
   CREATE UNIQUE INDEX history_change ON history_conversation (person, change);`,
  `ALTER TABLE key ADD COLUMN team text;
   CREATE INDEX key_team ON key (team, id) WHERE team IS NOT NULL;`,
  `ALTER TABLE request ADD COLUMN limits bigint;
   ALTER TABLE request ADD COLUMN waited_ms bigint;`,
  `ALTER TABLE person ADD COLUMN user_id text;
   CREATE INDEX person_user_id ON person (user_id) WHERE user_id IS NOT NULL;`,
  // Earlier versions knew people by their user ids alone, of which provider is not known: those go on as other people.
  // Subjects have at most 128 characters, and long ids may begin alike.
  `UPDATE person SET user_id = subject,
     subject = 'earlier svc: ' || CASE WHEN length(subject) > 115 THEN '#' || id ELSE subject END
   WHERE user_id IS NULL AND gone IS NULL AND subject NOT LIKE 'forgotten #%';`,
  `ALTER TABLE history_conversation
     ADD COLUMN written bigint NOT NULL DEFAULT CAST(extract(epoch FROM now()) * 1000 AS bigint);
   CREATE INDEX history_written ON history_conversation (written) WHERE content IS NOT NULL;`,
  `CREATE TABLE usage_session (hour bigint NOT NULL, session text NOT NULL, day bigint NOT NULL, ${useColumns},
     PRIMARY KEY (hour, session, day, ${useKey}));
   ALTER TABLE request ADD COLUMN session text;
   CREATE INDEX request_session ON request (session, time) WHERE session IS NOT NULL;`,
  `CREATE TABLE lasting (
     store text NOT NULL,
     key text NOT NULL,
     owner text NOT NULL,
     number bigint NOT NULL,
     time bigint NOT NULL,
     value text NOT NULL,
     PRIMARY KEY (store, key)
   );
   CREATE INDEX lasting_number ON lasting (store, number);
   CREATE INDEX lasting_owner ON lasting (store, owner, number);
   CREATE INDEX lasting_time ON lasting (store, time);`,
  'ALTER TABLE request ADD COLUMN served text;',
  `ALTER TABLE request ADD COLUMN saved bigint;
   ALTER TABLE usage_hour ADD COLUMN saved bigint NOT NULL DEFAULT 0;
   ALTER TABLE usage_day ADD COLUMN saved bigint NOT NULL DEFAULT 0;
   ALTER TABLE usage_session ADD COLUMN saved bigint NOT NULL DEFAULT 0;`,
]
