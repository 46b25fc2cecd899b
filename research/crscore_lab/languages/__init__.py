"""Languages whose programs can be run, one module each."""
