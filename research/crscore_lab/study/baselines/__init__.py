"""Baselines of the score: similarity to the human comment of a change, and a model as a judge."""
