"""Checks what remarks say about the code; a receipt says what confirms or refutes a remark."""
