"""A change: its parsed diff, whole files and where they come from."""
