-- How many rows there must be, and what people said outside of runs.

-- One row. The sum of a row speaks for a row that is seen; a page that says it is empty shows
-- none, and a file without runs is nothing unusual.
CREATE TABLE tally (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    runs    INTEGER NOT NULL, -- the newest has this number, and no number is left out
    ends    INTEGER NOT NULL,
    choices INTEGER NOT NULL,
    sum     INTEGER NOT NULL
) STRICT;

CREATE TABLE choices (
    number     INTEGER PRIMARY KEY,
    spec       TEXT    NOT NULL,
    task_id    TEXT    NOT NULL,
    occurrence INTEGER NOT NULL,
    title      TEXT    NOT NULL,
    what       TEXT    NOT NULL CHECK (what IN ('skip', 'done', 'retry')),
    at_ms      INTEGER NOT NULL,
    sum        INTEGER NOT NULL
) STRICT;

CREATE TRIGGER choices_never_change BEFORE UPDATE ON choices
BEGIN SELECT raise(ABORT, 'choices are journaled'); END;

CREATE TRIGGER choices_never_vanish BEFORE DELETE ON choices
BEGIN SELECT raise(ABORT, 'choices are journaled'); END;
