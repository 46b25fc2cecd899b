"""Measures of a score: agreement with people, by rank, pair, system and link; readers."""
