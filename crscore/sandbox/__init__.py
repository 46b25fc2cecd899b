"""Execution of untrusted programs: no network, confined writes, limits."""
