"""Claim generators, one file each. A claim is a statement that a good review should address."""
