"""Scores of the pull requests in the store: store + bare clone -> rows."""
