"""Readers of review comments that are language models: requests, answers, recordings."""
