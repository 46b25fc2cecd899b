"""Statistics that studies and training need, and crscore itself does not."""
