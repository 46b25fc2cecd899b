"""Documents about a pull request for people and programs; all depend on their arguments alone."""
