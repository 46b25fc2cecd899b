"""Studies of crscore beside human judgements, training of its weights, and more languages."""

__version__ = "0.1.0"
