"""Claim generators, one file each: what a good review of a diff should touch."""
