"""Judges suggested code: compares it with references, or runs it with tests."""
