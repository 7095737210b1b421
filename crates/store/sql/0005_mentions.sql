-- Where runs name tasks, so that the story of one task is read without those of all others.
--
-- Derived from `steps`, and written for 32 steps at a time: the last ones of a run that has not
-- ended are missing, and have to be read.

CREATE TABLE named_tasks (
    task       INTEGER PRIMARY KEY,
    task_id    TEXT    NOT NULL,
    occurrence INTEGER NOT NULL,
    title      TEXT    NOT NULL,
    UNIQUE (task_id, occurrence, title)
) STRICT;

CREATE TABLE mentions (
    task    INTEGER NOT NULL REFERENCES named_tasks (task),
    run     INTEGER NOT NULL REFERENCES runs (run),
    stretch INTEGER NOT NULL, -- 0 for the steps 1 to 32, 1 for the next
    PRIMARY KEY (task, run, stretch)
) STRICT, WITHOUT ROWID;
