-- The first comment on the pull request that makes the same point; null where it is not known.
ALTER TABLE comment_scores ADD COLUMN point INTEGER;
