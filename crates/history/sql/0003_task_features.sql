-- What the text of a task showed before it was attempted, and how long its first attempt and its first
-- check took. Runs of earlier versions don't say.

ALTER TABLE tasks ADD COLUMN words INTEGER;
ALTER TABLE tasks ADD COLUMN files INTEGER;
ALTER TABLE tasks ADD COLUMN file_kind INTEGER REFERENCES names (name);
ALTER TABLE tasks ADD COLUMN work INTEGER REFERENCES names (name);
ALTER TABLE tasks ADD COLUMN verify INTEGER;
ALTER TABLE tasks ADD COLUMN is_vague INTEGER;
ALTER TABLE tasks ADD COLUMN attempt_ms INTEGER;
ALTER TABLE tasks ADD COLUMN timed_out INTEGER;
ALTER TABLE tasks ADD COLUMN verify_ms INTEGER;
