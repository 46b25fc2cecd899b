-- The old numbers meant something else.
ALTER TABLE scores RENAME COLUMN substance TO importance;
UPDATE scores SET importance = NULL;
ALTER TABLE scores DROP COLUMN about;
ALTER TABLE comment_scores RENAME COLUMN substance TO importance;
UPDATE comment_scores SET importance = NULL;
ALTER TABLE comment_scores DROP COLUMN about;
ALTER TABLE comment_scores DROP COLUMN addressed;

-- Remarks by level, and those that give nothing; null where they are unknown.
ALTER TABLE scores ADD COLUMN critical INTEGER;
ALTER TABLE scores ADD COLUMN major INTEGER;
ALTER TABLE scores ADD COLUMN minor INTEGER;
ALTER TABLE scores ADD COLUMN nit INTEGER;
ALTER TABLE scores ADD COLUMN empty INTEGER;

-- The best remark of a comment.
ALTER TABLE comment_scores ADD COLUMN stance TEXT;
ALTER TABLE comment_scores ADD COLUMN level TEXT;   -- null when it gives nothing
