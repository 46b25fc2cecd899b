"""pyscent: eleven smells of Python code, found by pylint, radon and the syntax tree."""
