"""Attacks: texts made to fool the score, and how often honest reviews score higher."""
