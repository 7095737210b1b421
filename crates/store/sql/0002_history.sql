-- What people ask about afterwards. Kept when logs and journals are cleared away.

CREATE TABLE attempts (
    run               INTEGER NOT NULL REFERENCES runs (run),
    task_id           TEXT    NOT NULL,
    occurrence        INTEGER NOT NULL,
    title             TEXT    NOT NULL,
    number            INTEGER NOT NULL,
    agent             TEXT    NOT NULL,
    started_ms        INTEGER NOT NULL,
    ended_ms          INTEGER,
    session           TEXT,
    exit_code         INTEGER,
    signal            INTEGER,
    outcome           TEXT,
    verify            TEXT,
    log               TEXT,
    snapshot_before   TEXT,
    snapshot_after    TEXT,
    cost_microdollars INTEGER,
    input_tokens      INTEGER,
    output_tokens     INTEGER,
    sum               INTEGER NOT NULL,
    UNIQUE (run, task_id, occurrence, title, number)
) STRICT;

CREATE INDEX attempts_of_task ON attempts (task_id);

CREATE TABLE failures (
    run         INTEGER NOT NULL,
    task_id     TEXT    NOT NULL,
    occurrence  INTEGER NOT NULL,
    title       TEXT    NOT NULL,
    number      INTEGER NOT NULL,
    at_ms       INTEGER NOT NULL,
    category    TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    message     TEXT    NOT NULL,
    blocked_on  TEXT,
    fingerprint TEXT    NOT NULL,
    report      TEXT    NOT NULL, -- the whole failure as JSON
    sum         INTEGER NOT NULL,
    UNIQUE (run, task_id, occurrence, title, number),
    FOREIGN KEY (run, task_id, occurrence, title, number)
        REFERENCES attempts (run, task_id, occurrence, title, number)
) STRICT;

CREATE INDEX failures_of_task ON failures (task_id);
CREATE INDEX failures_by_time ON failures (at_ms);
