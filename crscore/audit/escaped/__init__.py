"""Defects that a review missed: later commits that fix lines of a merged pull request."""
