"""Run programs that nobody trusts: no network, confined writes, limits."""
