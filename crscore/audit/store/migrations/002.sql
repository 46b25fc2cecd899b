CREATE TABLE suggestions (           -- suggestion blocks, judged in the file they were made for
  comment INTEGER NOT NULL,          -- key of the first post of the reviewer in the thread
  block INTEGER NOT NULL,            -- from 0
  night TEXT NOT NULL,
  rules INTEGER NOT NULL,            -- version of the rules
  applies INTEGER,                   -- 1 yes, 0 no, null unknown
  parses INTEGER,
  effect TEXT,                       -- nothing, white space, comments, names, behaviour
  reason TEXT,                       -- why it does not apply, or why something is unknown
  edit REAL,                         -- similarity to what was merged; null where nothing is known
  chrf REAL,
  codebertscore REAL,
  sketch REAL,                       -- 1 when it equals what was merged but for names
  PRIMARY KEY (comment, block, night, rules)
) STRICT, WITHOUT ROWID;
