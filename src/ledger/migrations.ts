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
]
