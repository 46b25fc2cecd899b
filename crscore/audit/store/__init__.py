"""Store of an audit: one SQLite file with pull requests, comments, scores and signals."""
