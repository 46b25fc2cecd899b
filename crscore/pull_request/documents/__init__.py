"""Documents about a pull request for people and programs, made from an overview or a result."""
