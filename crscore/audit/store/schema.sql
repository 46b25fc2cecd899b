-- All keys come from the host's data, so that the same data give the same rows in any order.
-- Times are ISO 8601 in UTC, to the second. The night of a run is the date on which the run began.

CREATE TABLE repositories (
  id INTEGER PRIMARY KEY,            -- the host's number, which survives a new name
  name TEXT NOT NULL,                -- owner/name, as it is now
  state TEXT NOT NULL,               -- ok, gone (deleted, or private for this token), refused
  reason TEXT,                       -- why it cannot be read; null when it can
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
  updated TEXT NOT NULL,             -- time of the last change, from the host's list
  closed TEXT,
  merged TEXT,
  base_ref TEXT NOT NULL,
  base TEXT NOT NULL,                -- tip of the base branch, as the host says
  head TEXT NOT NULL,
  merge_commit TEXT,
  lines INTEGER,                     -- number of changed lines; null until its details are read
  language TEXT,                     -- language of most changed lines; null when unknown
  pending INTEGER NOT NULL,          -- 1 when its details must be read (again)
  observed TEXT,                     -- night on which its details were last read
  final INTEGER NOT NULL,            -- 1 when it will not be read any more
  failure TEXT,                      -- why it could not be read the last time; null when it could
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
  skip TEXT,                         -- reason in a notice that nothing was reviewed: limit, skipped, failed
  body BLOB NOT NULL,                -- hash of the latest version of its text
  hunk BLOB,                         -- hash of the hunk it was written on
  created TEXT NOT NULL,
  updated TEXT NOT NULL,
  state TEXT NOT NULL,               -- state of a review: APPROVED, ...; empty for other kinds
  commit_id TEXT,                    -- commit it was written on
  path TEXT,
  line INTEGER,                      -- line of the file in commit_id (new) or its base (old); null for
                                     -- the entire file
  start_line INTEGER,
  side TEXT                          -- old, new
) STRICT;
CREATE INDEX comments_of_pull ON comments (repository, number);

-- A new observation is added only when it differs from the last observation.
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
  body BLOB,                         -- hash of its text on that night
  minimized TEXT,                    -- why it is hidden: the host's reason, or deleted; null when shown
  PRIMARY KEY (comment, night)
) STRICT, WITHOUT ROWID;

CREATE TABLE scores (                -- one reviewer on one pull request; '' stands for all reviewers
  repository INTEGER NOT NULL,
  number INTEGER NOT NULL,
  reviewer TEXT NOT NULL,
  signature INTEGER NOT NULL,        -- row of signatures
  content BLOB NOT NULL,             -- hash of the head and the comments that were scored: 8 bytes
  night TEXT NOT NULL,
  is_bot INTEGER NOT NULL,
  comments INTEGER NOT NULL,
  words INTEGER NOT NULL,
  standing INTEGER,                  -- usefulness, 0 to 100; null when unknown
  relevance REAL,
  reason TEXT,                       -- why numbers are missing; null when none is
  PRIMARY KEY (repository, number, reviewer, signature, content)
) STRICT, WITHOUT ROWID;

CREATE TABLE comment_scores (        -- one comment: all posts of a reviewer in one thread
  comment INTEGER NOT NULL,          -- key of the first post
  signature INTEGER NOT NULL,
  content BLOB NOT NULL,             -- as in scores
  standing INTEGER,
  noise TEXT,                        -- repeat, restates, praise, nothing; null when it is not noise
  stance TEXT,                       -- of its best remark
  level TEXT,                        -- importance of its best remark; null when that is not valuable
  verdict TEXT,                      -- confirmed, refuted: by the code; `... by a model`: with a quoted line; or null
  point INTEGER,                     -- first comment on the pull request with the same point; null when unknown
  text TEXT NOT NULL,                -- start of the text, without markup
  words BLOB NOT NULL,               -- numbers of its words, as crscore.audit.formulas writes them
  PRIMARY KEY (comment, signature, content)
) STRICT, WITHOUT ROWID;

CREATE TABLE last_scored (           -- content that was scored last
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
  rules INTEGER NOT NULL,            -- version of the rules by which signals are found
  value INTEGER,                     -- 1 yes, 0 no, null unknown
  base_yes INTEGER,                  -- base rate: number of uncommented groups of lines that changed
  base_all INTEGER,                  -- number of all uncommented groups of lines
  PRIMARY KEY (comment, signal, night, rules)
) STRICT, WITHOUT ROWID;

CREATE TABLE followed (              -- merged pull requests whose lines are followed on their branch
  repository INTEGER NOT NULL,
  number INTEGER NOT NULL,
  night TEXT NOT NULL,               -- night up to which they were followed
  tip TEXT,                          -- newest commit of the branch on that night
  reason TEXT,                       -- why they cannot be followed; null when they can
  PRIMARY KEY (repository, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE later_changes (         -- later commits that change lines of a merged pull request
  repository INTEGER NOT NULL,
  number INTEGER NOT NULL,
  commit_id TEXT NOT NULL,           -- the later commit
  at TEXT NOT NULL,
  fixes INTEGER NOT NULL,            -- 1 when its message says that it fixes something
  message BLOB NOT NULL,             -- hash of its message
  path TEXT NOT NULL,                -- path and line, in the merge commit, of the first changed line
  line INTEGER NOT NULL,
  near TEXT NOT NULL,                -- JSON list: keys of the comments made before the merge near such lines
  PRIMARY KEY (repository, number, commit_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,                -- sync, score
  night TEXT NOT NULL,
  started TEXT NOT NULL,
  finished TEXT,                     -- null when it was killed
  signature TEXT,
  partial TEXT,                      -- why it is incomplete; null when it is complete
  pulls INTEGER NOT NULL,            -- number of pull requests that were read or scored
  failed INTEGER NOT NULL,           -- number of pull requests that could not be read or scored
  rest INTEGER NOT NULL,             -- number of REST requests
  points INTEGER NOT NULL,           -- number of GraphQL points
  requests INTEGER NOT NULL,         -- number of requests to a language model, without the cache
  tokens_read INTEGER NOT NULL,      -- tokens that the language model read for these requests
  tokens_written INTEGER NOT NULL
) STRICT;
