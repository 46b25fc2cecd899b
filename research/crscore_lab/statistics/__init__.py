"""Statistics that only studies and training need."""
