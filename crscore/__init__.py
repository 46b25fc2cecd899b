"""Scores how good a code review is."""

__version__ = "0.1.0"
