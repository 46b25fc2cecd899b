"""A review: its comments, their visible text and its sentences."""
