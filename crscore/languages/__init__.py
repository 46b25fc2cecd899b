"""Languages: one table for each that has a grammar, and the file names of the others."""
