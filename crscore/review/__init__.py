"""Parsing of a review into comments, sentences and proposed code."""
