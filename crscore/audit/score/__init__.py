"""Scores pull requests from the store and the bare clones, and finds what became of comments."""
