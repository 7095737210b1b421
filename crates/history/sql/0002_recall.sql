-- What helped, in words, and whether recalling it did.

-- What the agent or the person said when the response helped.
ALTER TABLE failures ADD COLUMN note TEXT;

-- Whether earlier failures with the same cause were known; NULL if the failure wasn't looked up.
ALTER TABLE failures ADD COLUMN known INTEGER;

-- Whether the next prompts said what had helped before, and what that was.
ALTER TABLE failures ADD COLUMN advised INTEGER NOT NULL DEFAULT 0;

CREATE TABLE advice (
    failure  INTEGER NOT NULL REFERENCES failures (failure) ON DELETE CASCADE,
    response INTEGER NOT NULL REFERENCES names (name),
    PRIMARY KEY (failure, response)
) STRICT, WITHOUT ROWID;

CREATE INDEX clusters_by_kind ON clusters (kind, cluster);
