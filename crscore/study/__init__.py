"""Measuring the score against human judgements: study -> measurements -> correlations."""
