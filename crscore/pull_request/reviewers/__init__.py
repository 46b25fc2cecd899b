"""Reviewers of a pull request, and the review text in their posts."""
