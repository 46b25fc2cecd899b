-- Whether the code confirms or refutes a remark of the comment; null where it does neither.
ALTER TABLE comment_scores ADD COLUMN verdict TEXT;
