-- The text of a comment as readers see it; the report of a pull request is made of rows.
ALTER TABLE comment_scores ADD COLUMN text TEXT NOT NULL DEFAULT '';

CREATE TABLE last_scored (           -- content of the last scoring
  repository INTEGER NOT NULL,
  number INTEGER NOT NULL,
  signature INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (repository, number)
) STRICT, WITHOUT ROWID;

INSERT INTO last_scored SELECT repository, number, signature, content FROM pages;

DROP TABLE pages;
