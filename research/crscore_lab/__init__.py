"""Studies of how crscore agrees with people, training of its weights, and further languages."""

__version__ = "0.1.0"
