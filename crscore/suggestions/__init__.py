"""Suggestion blocks in their place: what they change, by syntax trees alone."""
