"""A learned metric of code against code."""
