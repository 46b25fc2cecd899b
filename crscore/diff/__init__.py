"""Changes: the parsed diff, the whole files, and where they come from."""
