-- What was learnt from the runs and delegations of all workspaces of a user. Everything here
-- repeats what the workspaces' own journals say, so nothing is lost with it.

PRAGMA application_id = 0x72676869; -- "rghi"

-- One row per migration, as in the journal.
CREATE TABLE schema_history (
    version    INTEGER PRIMARY KEY,
    regreen    TEXT    NOT NULL,
    applied_ms INTEGER NOT NULL
) STRICT;

-- Runs that started before `since_ms` were forgotten, and are not learnt again.
CREATE TABLE workspaces (
    workspace INTEGER PRIMARY KEY,
    path      TEXT    NOT NULL UNIQUE,
    since_ms  INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The same for all workspaces, also those that are not listed.
CREATE TABLE forgotten (
    one       INTEGER PRIMARY KEY CHECK (one = 1),
    before_ms INTEGER NOT NULL
) STRICT;

-- Specs, agents and responses.
CREATE TABLE names (
    name INTEGER PRIMARY KEY,
    text TEXT    NOT NULL UNIQUE
) STRICT;

CREATE TABLE runs (
    run        INTEGER PRIMARY KEY,
    workspace  INTEGER NOT NULL REFERENCES workspaces (workspace) ON DELETE CASCADE,
    source     TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    steps      INTEGER NOT NULL,
    spec       INTEGER NOT NULL REFERENCES names (name),
    agent      INTEGER NOT NULL REFERENCES names (name),
    started_ms INTEGER NOT NULL,
    ended_ms   INTEGER NOT NULL,
    UNIQUE (workspace, id)
) STRICT;

CREATE INDEX runs_by_age ON runs (ended_ms);

CREATE TABLE tasks (
    task           INTEGER PRIMARY KEY,
    run            INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    id             TEXT    NOT NULL,
    title          TEXT    NOT NULL,
    at_ms          INTEGER NOT NULL,
    attempts       INTEGER NOT NULL,
    first_pass     INTEGER NOT NULL,
    passed         INTEGER NOT NULL,
    time_ms        INTEGER NOT NULL,
    cost_micro_usd INTEGER
) STRICT;

CREATE INDEX tasks_by_run ON tasks (run);

-- Failures with the same cause.
CREATE TABLE clusters (
    cluster     INTEGER PRIMARY KEY,
    fingerprint TEXT    NOT NULL UNIQUE,
    category    TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    example     TEXT    NOT NULL
) STRICT;

CREATE TABLE failures (
    failure        INTEGER PRIMARY KEY,
    run            INTEGER NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    task           TEXT    NOT NULL,
    at_ms          INTEGER NOT NULL,
    cluster        INTEGER NOT NULL REFERENCES clusters (cluster),
    lost_ms        INTEGER NOT NULL,
    lost_micro_usd INTEGER,
    response       INTEGER REFERENCES names (name),
    helped         INTEGER
) STRICT;

CREATE INDEX failures_by_run ON failures (run);
CREATE INDEX failures_by_cluster ON failures (cluster, at_ms);
