"""Runs code with its tests in the sandbox, and estimates pass@k."""
