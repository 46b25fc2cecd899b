"""One run on a pull request: its order, what it found, and the documents made of that."""
