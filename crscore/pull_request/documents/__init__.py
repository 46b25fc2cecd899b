"""Documents about a pull request for people and programs, one a module; all are pure."""
