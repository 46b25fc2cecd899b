"""Sentence encoders, one file each: texts to unit vectors."""
