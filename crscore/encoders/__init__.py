"""Sentence encoders, one file each: from texts to unit vectors."""
