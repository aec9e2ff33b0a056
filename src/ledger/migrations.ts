/** Columns of the sums of use. A released step never changes, so they are not made from the names of counters. */
const useColumns = `
     line INTEGER NOT NULL,
     person INTEGER NOT NULL,
     team INTEGER NOT NULL,
     model INTEGER NOT NULL,
     provider INTEGER NOT NULL,
     requests INTEGER NOT NULL,
     errors INTEGER NOT NULL,
     left_early INTEGER NOT NULL,
     attempts INTEGER NOT NULL,
     input INTEGER NOT NULL,
     cached INTEGER NOT NULL,
     write5 INTEGER NOT NULL,
     write60 INTEGER NOT NULL,
     output INTEGER NOT NULL,
     reasoning INTEGER NOT NULL,
     cost INTEGER NOT NULL,
     cost_reported INTEGER NOT NULL,
     cost_estimated INTEGER NOT NULL,
     unpriced INTEGER NOT NULL,
     estimated INTEGER NOT NULL,
     unsettled INTEGER NOT NULL`
const useKey = 'line, person, team, model, provider'

/** Buckets of times, and failures, by hour or day. */
function outcomeTables(unit: 'hour' | 'day'): string {
  return `CREATE TABLE times_${unit} (
     ${unit} INTEGER NOT NULL,
     model INTEGER NOT NULL,
     provider INTEGER NOT NULL,
     first BLOB NOT NULL,
     total BLOB NOT NULL,
     PRIMARY KEY (${unit}, model, provider)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE failure_${unit} (
     ${unit} INTEGER NOT NULL,
     model INTEGER NOT NULL,
     provider INTEGER NOT NULL,
     failure INTEGER NOT NULL,
     requests INTEGER NOT NULL,
     attempts INTEGER NOT NULL,
     PRIMARY KEY (${unit}, model, provider, failure)
   ) STRICT, WITHOUT ROWID;`
}

/**
 * The versions of the schema, in their order: `PRAGMA user_version` counts those that were applied. A released step
 * never changes.
 */
export const migrations: readonly string[] = [
  `CREATE TABLE key (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     line INTEGER NOT NULL,
     hash BLOB NOT NULL UNIQUE,
     hint TEXT NOT NULL,
     name TEXT NOT NULL,
     kind TEXT NOT NULL,
     made INTEGER NOT NULL,
     made_by TEXT NOT NULL,
     expires INTEGER,
     ended INTEGER,
     ended_by TEXT,
     used INTEGER,
     grants TEXT NOT NULL,
     version INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX key_version ON key (version);`,
  `CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
   CREATE TABLE label (
     id INTEGER PRIMARY KEY,
     kind TEXT NOT NULL,
     text TEXT NOT NULL,
     UNIQUE (kind, text)
   ) STRICT;
   CREATE TABLE person (
     id INTEGER PRIMARY KEY,
     subject TEXT NOT NULL UNIQUE,
     name TEXT NOT NULL,
     email TEXT,
     seen INTEGER NOT NULL,
     gone INTEGER
   ) STRICT;
   CREATE TABLE batch (source TEXT PRIMARY KEY, number INTEGER NOT NULL, time INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE usage_hour (hour INTEGER NOT NULL, ${useColumns}, PRIMARY KEY (hour, ${useKey})) STRICT, WITHOUT ROWID;
   CREATE TABLE usage_day (day INTEGER NOT NULL, ${useColumns}, PRIMARY KEY (day, ${useKey})) STRICT, WITHOUT ROWID;`,
  `ALTER TABLE key ADD COLUMN person TEXT;
   ALTER TABLE key ADD COLUMN person_name TEXT;
   ALTER TABLE key ADD COLUMN person_user_id TEXT;
   ALTER TABLE key ADD COLUMN person_caseless INTEGER;
   ALTER TABLE key ADD COLUMN person_seen INTEGER;
   CREATE INDEX key_person ON key (person, id) WHERE person IS NOT NULL;`,
  `CREATE TABLE audit (
     seq INTEGER PRIMARY KEY AUTOINCREMENT,
     time INTEGER NOT NULL,
     actor TEXT,
     actor_salt TEXT,
     actor_hash TEXT NOT NULL,
     via TEXT NOT NULL,
     action TEXT NOT NULL,
     object TEXT NOT NULL,
     before TEXT,
     after TEXT,
     chain TEXT NOT NULL
   ) STRICT;`,
  `CREATE TABLE hold (
     source TEXT NOT NULL,
     line INTEGER NOT NULL,
     person INTEGER NOT NULL,
     team INTEGER NOT NULL,
     model INTEGER NOT NULL,
     provider INTEGER NOT NULL,
     attempts INTEGER NOT NULL,
     cost INTEGER NOT NULL,
     booked_hour INTEGER,
     booked_day INTEGER,
     PRIMARY KEY (source, ${useKey})
   ) STRICT, WITHOUT ROWID;
   ALTER TABLE batch ADD COLUMN holder TEXT;`,
  outcomeTables('hour') + outcomeTables('day'),
  `ALTER TABLE key ADD COLUMN team TEXT;
   CREATE INDEX key_team ON key (team, id) WHERE team IS NOT NULL;`,
  `ALTER TABLE person ADD COLUMN user_id TEXT;
   CREATE INDEX person_user_id ON person (user_id) WHERE user_id IS NOT NULL;`,
  // Earlier versions knew people by their user ids alone, of which provider is not known: those go on as other people.
  // Subjects have at most 128 characters, and long ids may begin alike.
  `UPDATE person SET user_id = subject,
     subject = 'earlier svc: ' || CASE WHEN length(subject) > 115 THEN '#' || id ELSE subject END
   WHERE user_id IS NULL AND gone IS NULL AND subject NOT LIKE 'forgotten #%';`,
  `CREATE TABLE usage_session (hour INTEGER NOT NULL, session TEXT NOT NULL, day INTEGER NOT NULL, ${useColumns},
     PRIMARY KEY (hour, session, day, ${useKey})) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE lasting (
     store TEXT NOT NULL,
     key TEXT NOT NULL,
     owner TEXT NOT NULL,
     number INTEGER NOT NULL,
     time INTEGER NOT NULL,
     value TEXT NOT NULL,
     PRIMARY KEY (store, key)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX lasting_number ON lasting (store, number);
   CREATE INDEX lasting_owner ON lasting (store, owner, number);
   CREATE INDEX lasting_time ON lasting (store, time);`,
  `ALTER TABLE usage_hour ADD COLUMN saved INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE usage_day ADD COLUMN saved INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE usage_session ADD COLUMN saved INTEGER NOT NULL DEFAULT 0;`,
]

/** The versions of requests.db, which may be deleted at any time. */
export const rowMigrations: readonly string[] = [
  `CREATE TABLE batch (source TEXT PRIMARY KEY, number INTEGER NOT NULL, time INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE request (
     seq INTEGER PRIMARY KEY,
     time INTEGER NOT NULL,
     id TEXT NOT NULL,
     api INTEGER NOT NULL,
     line INTEGER NOT NULL,
     person INTEGER NOT NULL,
     team INTEGER NOT NULL,
     model INTEGER NOT NULL,
     provider INTEGER NOT NULL,
     status INTEGER NOT NULL,
     error INTEGER NOT NULL,
     ms INTEGER NOT NULL,
     first_ms INTEGER,
     input INTEGER NOT NULL,
     cached INTEGER NOT NULL,
     write5 INTEGER NOT NULL,
     write60 INTEGER NOT NULL,
     output INTEGER NOT NULL,
     reasoning INTEGER NOT NULL,
     cost INTEGER,
     flags INTEGER NOT NULL,
     attempts INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX request_time ON request (time);
   CREATE INDEX request_line ON request (line, time) WHERE line <> 0;
   CREATE INDEX request_person ON request (person, time) WHERE person <> 0;
   CREATE INDEX request_id ON request (id);
   CREATE INDEX request_failed ON request (time) WHERE status >= 400;
   CREATE TABLE attempt (
     seq INTEGER NOT NULL,
     n INTEGER NOT NULL,
     provider INTEGER NOT NULL,
     status INTEGER NOT NULL,
     class INTEGER NOT NULL,
     ms INTEGER NOT NULL,
     input INTEGER NOT NULL,
     output INTEGER NOT NULL,
     cost INTEGER,
     flags INTEGER NOT NULL,
     PRIMARY KEY (seq, n)
   ) STRICT, WITHOUT ROWID;`,
  `CREATE INDEX request_model ON request (model, time);
   CREATE INDEX request_provider ON request (provider, time);
   CREATE INDEX request_error ON request (error, time) WHERE error <> 0;
   CREATE INDEX request_cut ON request (time) WHERE status < 400 AND error <> 0;
   CREATE INDEX request_tried ON request (time) WHERE attempts > 1 OR provider = 0;`,
  `CREATE TABLE content (
     seq INTEGER PRIMARY KEY,
     id TEXT NOT NULL,
     time INTEGER NOT NULL,
     line INTEGER NOT NULL,
     person INTEGER NOT NULL,
     expires INTEGER NOT NULL,
     flags INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     question BLOB NOT NULL,
     answer BLOB NOT NULL
   ) STRICT;
   CREATE INDEX content_id ON content (id);
   CREATE INDEX content_expires ON content (expires, bytes);
   CREATE INDEX content_person ON content (person) WHERE person <> 0;`,
  `ALTER TABLE request ADD COLUMN limits INTEGER;
   ALTER TABLE request ADD COLUMN waited_ms INTEGER;`,
  `ALTER TABLE request ADD COLUMN session TEXT;
   CREATE INDEX request_session ON request (session, time) WHERE session IS NOT NULL;`,
  'ALTER TABLE request ADD COLUMN served TEXT;',
  `ALTER TABLE request ADD COLUMN saved INTEGER`,
]
