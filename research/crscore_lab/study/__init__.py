"""Comparison of the score with human judgements: study -> measurements -> correlations."""
