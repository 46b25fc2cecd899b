"""Scores one pull request: the steps of a run, its result, and the documents made from it."""
