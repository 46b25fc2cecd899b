"""Training features in addition to the ones that a score computes."""
