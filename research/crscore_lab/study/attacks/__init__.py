"""Attacks: texts made to fool the score, and how often honest reviews outscore them."""
