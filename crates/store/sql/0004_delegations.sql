-- Delegations, one row per attempt, for people to ask about afterwards.

CREATE TABLE delegations (
    id          TEXT    NOT NULL,
    number      INTEGER NOT NULL, -- of the attempt
    at_ms       INTEGER NOT NULL, -- when it began
    agent       TEXT    NOT NULL,
    prompt_kind TEXT    NOT NULL,
    prompt      TEXT    NOT NULL, -- masked
    timeout_ms  INTEGER NOT NULL,
    log         TEXT    NOT NULL,
    outcome     TEXT,             -- NULL while it is at work
    duration_ms INTEGER,
    category    TEXT,
    kind        TEXT,
    message     TEXT,
    blocked_on  TEXT,
    files       TEXT    NOT NULL, -- a JSON list
    tried       TEXT,             -- what was done about its failure
    helped      INTEGER,          -- whether the next attempt succeeded; NULL if nobody knows
    sum         INTEGER NOT NULL,
    UNIQUE (id, number)
) STRICT;

CREATE INDEX delegations_by_time ON delegations (at_ms);
