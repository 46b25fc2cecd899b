"""Learning from graded code."""
