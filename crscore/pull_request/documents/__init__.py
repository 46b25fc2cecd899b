"""Documents about a pull request for people and programs, one per module; all are pure."""
