-- Natural keys throughout: the same data give the same rows, in whatever order they arrive.
-- Times are ISO 8601 in UTC to the second; a night is the date on which its run began.

CREATE TABLE repositories (
  id INTEGER PRIMARY KEY,            -- the host's number, which survives a new name
  name TEXT NOT NULL,                -- owner/name, as it is now
  state TEXT NOT NULL,               -- ok, gone (deleted, or private for this token), refused
  reason TEXT,                       -- why it is not ok
  page TEXT                          -- a pull request's page on the host, with {name} and {number};
                                     -- null for GitHub's
) STRICT;

CREATE TABLE cursors (
  repository INTEGER NOT NULL,
  list TEXT NOT NULL,                -- pulls, pulls-until (an interrupted reading), line, ...
  position TEXT NOT NULL,            -- host's time of the last change that was read
  PRIMARY KEY (repository, list)
) STRICT, WITHOUT ROWID;

CREATE TABLE pulls (
  repository INTEGER NOT NULL,
  number INTEGER NOT NULL,
  node TEXT NOT NULL,                -- its GraphQL id
  title TEXT NOT NULL,
  author TEXT,                       -- null for a deleted account
  state TEXT NOT NULL,               -- open, merged, closed
  created TEXT NOT NULL,
  updated TEXT NOT NULL,             -- as the host's list says
  closed TEXT,
  merged TEXT,
  base_ref TEXT NOT NULL,
  base TEXT NOT NULL,                -- tip of the base branch, as the host says
  head TEXT NOT NULL,
  merge_commit TEXT,
  lines INTEGER,                     -- changed lines; null until its details were read
  language TEXT,                     -- that of most changed lines; null when unknown
  pending INTEGER NOT NULL,          -- 1 while something that is known to be new is not read
  observed TEXT,                     -- night of the last reading of its details
  final INTEGER NOT NULL,            -- 1 when it is not observed any more
  failure TEXT,                      -- why its last reading failed; null when it did not
  PRIMARY KEY (repository, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE checks (                -- check runs and statuses on the last head
  repository INTEGER NOT NULL,
  number INTEGER NOT NULL,
  head TEXT NOT NULL,
  app TEXT NOT NULL,                 -- app or account that reported it
  name TEXT NOT NULL,
  outcome TEXT NOT NULL,             -- success, failure, neutral, skipped, pending, ...
  PRIMARY KEY (repository, number, head, app, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE texts (
  hash BLOB PRIMARY KEY,             -- first 16 bytes of SHA-256 of the UTF-8 text
  text BLOB NOT NULL                 -- zlib
) STRICT, WITHOUT ROWID;

CREATE TABLE threads (
  id INTEGER PRIMARY KEY,            -- key of its first comment
  node TEXT NOT NULL                 -- its GraphQL id
) STRICT;

CREATE TABLE comments (
  key INTEGER PRIMARY KEY,           -- host's id times 4, plus kind: 0 line, 1 review, 2 conversation
  repository INTEGER NOT NULL,
  number INTEGER NOT NULL,
  thread INTEGER,                    -- key of the thread's first comment; null outside threads
  author TEXT,                       -- login; null for a deleted account
  is_app INTEGER NOT NULL,           -- 1 when the host marks the account as an app's
  reviewer TEXT NOT NULL,            -- name of the profile, or the login
  is_bot INTEGER NOT NULL,
  is_review INTEGER NOT NULL,        -- 0 for answers of the author, summaries, notices and reports
  skip TEXT,                         -- for a notice that nothing was reviewed: limit, skipped, failed
  body BLOB NOT NULL,                -- hash of a text, the latest version
  hunk BLOB,                         -- hash of the hunk it was written on
  created TEXT NOT NULL,
  updated TEXT NOT NULL,
  state TEXT NOT NULL,               -- of a review: APPROVED, ...; empty for others
  commit_id TEXT,                    -- commit it was written on
  path TEXT,
  line INTEGER,                      -- in side of commit_id; null for a whole file
  start_line INTEGER,
  side TEXT                          -- old, new
) STRICT;
CREATE INDEX comments_of_pull ON comments (repository, number);

-- Observations are appended when something differs from the last one.
CREATE TABLE thread_observations (
  thread INTEGER NOT NULL,
  night TEXT NOT NULL,
  resolved INTEGER NOT NULL,
  resolved_by TEXT,
  outdated INTEGER NOT NULL,
  PRIMARY KEY (thread, night)
) STRICT, WITHOUT ROWID;

CREATE TABLE comment_observations (
  comment INTEGER NOT NULL,
  night TEXT NOT NULL,
  body BLOB,                         -- hash of its text that night: an edit is a new row
  minimized TEXT,                    -- reason, deleted for one that is gone; null when shown
  PRIMARY KEY (comment, night)
) STRICT, WITHOUT ROWID;

CREATE TABLE scores (                -- one reviewer on one pull; reviewer '' is all together
  repository INTEGER NOT NULL,
  number INTEGER NOT NULL,
  reviewer TEXT NOT NULL,
  signature INTEGER NOT NULL,        -- row of signatures
  content BLOB NOT NULL,             -- hash of head and texts that were scored: 8 bytes
  night TEXT NOT NULL,
  is_bot INTEGER NOT NULL,
  comments INTEGER NOT NULL,
  words INTEGER NOT NULL,
  standing INTEGER,                  -- 0 to 100; null with the reason
  relevance REAL,
  reason TEXT,                       -- why numbers are missing
  PRIMARY KEY (repository, number, reviewer, signature, content)
) STRICT, WITHOUT ROWID;

CREATE TABLE comment_scores (        -- one comment: a reviewer's posts in one thread
  comment INTEGER NOT NULL,          -- key of its first post
  signature INTEGER NOT NULL,
  content BLOB NOT NULL,             -- as in scores
  standing INTEGER,
  noise TEXT,                        -- repeat, restates, praise, nothing; null when it is not noise
  stance TEXT,                       -- of its best remark
  level TEXT,                        -- of its best remark; null when that gives nothing
  verdict TEXT,                      -- confirmed or refuted by the code, `... by a model` with a quoted line; null for neither
  point INTEGER,                     -- first comment on the pull that makes the same point; null when unknown
  text TEXT NOT NULL,                -- as readers see it
  words BLOB NOT NULL,               -- numbers of its words, as crscore.audit.formulas writes them
  PRIMARY KEY (comment, signature, content)
) STRICT, WITHOUT ROWID;

CREATE TABLE last_scored (           -- content of the last scoring
  repository INTEGER NOT NULL,
  number INTEGER NOT NULL,
  signature INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (repository, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE signatures (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE signals (
  comment INTEGER NOT NULL,
  signal INTEGER NOT NULL,           -- number of crscore.audit.store.rows.Signal
  night TEXT NOT NULL,
  rules INTEGER NOT NULL,            -- version of the rules
  value INTEGER,                     -- 1 yes, 0 no, null unknown
  base_yes INTEGER,                  -- base rate: what changed of what nobody had commented on
  base_all INTEGER,
  PRIMARY KEY (comment, signal, night, rules)
) STRICT, WITHOUT ROWID;

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
  commit_id TEXT NOT NULL,              -- the commit
  at TEXT NOT NULL,
  fixes INTEGER NOT NULL,            -- 1 when its message says that it fixes something
  message BLOB NOT NULL,             -- hash of a text
  path TEXT NOT NULL,                -- place of its first such line in the merge
  line INTEGER NOT NULL,
  near TEXT NOT NULL,                -- JSON list: keys of the comments before the merge next to such lines
  PRIMARY KEY (repository, number, commit_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,                -- sync, score
  night TEXT NOT NULL,
  started TEXT NOT NULL,
  finished TEXT,                     -- null when it was killed
  signature TEXT,
  partial TEXT,                      -- why it is not complete; null when it is
  pulls INTEGER NOT NULL,            -- read or scored
  failed INTEGER NOT NULL,
  rest INTEGER NOT NULL,             -- REST requests
  points INTEGER NOT NULL,           -- GraphQL points
  requests INTEGER NOT NULL,         -- to a language model; with those answered from the cache
  tokens_read INTEGER NOT NULL,      -- by the language model, for these requests
  tokens_written INTEGER NOT NULL
) STRICT;
