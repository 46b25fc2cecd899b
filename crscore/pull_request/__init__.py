"""Run on one pull request: its steps, its result, and the documents made from it."""
