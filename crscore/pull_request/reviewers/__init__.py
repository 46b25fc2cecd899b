"""Reviewers of a pull request, and the part of their posts that is review."""
