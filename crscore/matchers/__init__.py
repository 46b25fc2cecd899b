"""Matchers, one file each, which judge whether a sentence addresses a pseudo-reference."""
