"""Execution of code with its tests, in the sandbox: pass@k."""
