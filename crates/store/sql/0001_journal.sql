-- The journal: what a run was told, what happened, what is owed.
--
-- `sum` is the CRC-32 of all columns before it, so that a byte changed on disk is noticed:
-- SQLite itself checks the shape of a page, not what stands on it.

PRAGMA application_id = 0x7267726e; -- "rgrn"

-- One row per migration. Its shape never changes: older versions read it to say who wrote
-- the file they refuse.
CREATE TABLE schema_history (
    version    INTEGER PRIMARY KEY,
    regreen    TEXT    NOT NULL,
    applied_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
    run        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    spec       TEXT    NOT NULL,
    regreen    TEXT    NOT NULL,
    started_ms INTEGER NOT NULL,
    sum        INTEGER NOT NULL,
    -- The only columns that change. They repeat what `steps` and `owed` say, so that a step
    -- or a command that vanished is noticed.
    last_step  INTEGER NOT NULL DEFAULT 0,
    owed       INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE run_ends (
    run       INTEGER PRIMARY KEY REFERENCES runs (run),
    ended_ms  INTEGER NOT NULL,
    outcome   TEXT    NOT NULL,
    exit_code INTEGER,
    sum       INTEGER NOT NULL
) STRICT;

-- A step is one row: it is there or it is not.
CREATE TABLE steps (
    run      INTEGER NOT NULL REFERENCES runs (run),
    step     INTEGER NOT NULL,
    now_ms   INTEGER NOT NULL,
    answers  INTEGER,
    input    TEXT    NOT NULL, -- {kind, version, body}
    events   TEXT    NOT NULL, -- [{kind, version, body}, …]
    commands TEXT    NOT NULL, -- [{seq, command: {kind, version, body}}, …]
    sum      INTEGER NOT NULL,
    UNIQUE (run, step)
) STRICT;

CREATE TRIGGER steps_never_change BEFORE UPDATE ON steps
BEGIN SELECT raise(ABORT, 'the journal is append-only'); END;

CREATE TRIGGER steps_never_vanish BEFORE DELETE ON steps
BEGIN SELECT raise(ABORT, 'the journal is append-only'); END;

-- Commands that no step has answered, and the step that issued them.
CREATE TABLE owed (
    run  INTEGER NOT NULL REFERENCES runs (run),
    seq  INTEGER NOT NULL,
    step INTEGER NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshots (
    run     INTEGER NOT NULL REFERENCES runs (run),
    step    INTEGER NOT NULL,
    version INTEGER NOT NULL,
    state   TEXT    NOT NULL,
    sum     INTEGER NOT NULL,
    UNIQUE (run, step)
) STRICT;
