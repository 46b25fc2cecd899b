"""Languages whose programs can be run, a module each."""
