"""Parsing of a review into comments, visible text and sentences."""
