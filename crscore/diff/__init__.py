"""Change: its parsed diff, whole files and their origin."""
