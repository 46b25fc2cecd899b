"""Measuring the score against human judgements."""
