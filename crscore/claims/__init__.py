"""Claim generators, one file each: statements that a good review of a diff should address."""
