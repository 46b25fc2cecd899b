"""Checks statements about the code; a receipt says what confirms or refutes a statement."""
