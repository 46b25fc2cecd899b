"""Store of an audit: one SQLite file."""
