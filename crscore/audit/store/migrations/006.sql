CREATE TABLE followed (              -- merged pulls whose lines are followed on their branch
  repository INTEGER NOT NULL,
  number INTEGER NOT NULL,
  night TEXT NOT NULL,               -- night up to which they were followed
  tip TEXT,                          -- newest commit of the branch then
  reason TEXT,                       -- why they cannot be followed; null when they can
  PRIMARY KEY (repository, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE later_changes (         -- later commits that change lines of a merged pull
  repository INTEGER NOT NULL,
  number INTEGER NOT NULL,
  landed TEXT NOT NULL,              -- the commit
  at TEXT NOT NULL,
  fixes INTEGER NOT NULL,            -- 1 when its message says that it fixes something
  message BLOB NOT NULL,             -- hash of a text
  path TEXT NOT NULL,                -- place of its first such line in the merge
  line INTEGER NOT NULL,
  lines INTEGER NOT NULL,            -- such lines
  compared INTEGER NOT NULL,         -- 1 when comments were compared with the message
  PRIMARY KEY (repository, number, landed)
) STRICT, WITHOUT ROWID;

CREATE TABLE mentions (              -- comments before the merge on a later change
  repository INTEGER NOT NULL,
  number INTEGER NOT NULL,
  landed TEXT NOT NULL,
  comment INTEGER NOT NULL,
  near INTEGER NOT NULL,             -- 1 when it is on lines next to a changed one
  mentioned INTEGER NOT NULL,        -- 1 when it says what the message says
  PRIMARY KEY (repository, number, landed, comment)
) STRICT, WITHOUT ROWID;
