"""Studies of agreement with human judgements, training of its weights, and more languages."""

__version__ = "0.1.0"
