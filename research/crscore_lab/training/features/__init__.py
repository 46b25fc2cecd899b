"""Features that are learned from, besides those that a score computes."""
