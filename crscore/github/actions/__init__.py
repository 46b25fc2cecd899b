"""What a GitHub runner hands a step, and what it takes back: variables, event, files, lines."""
