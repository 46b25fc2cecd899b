"""What every code host has in common: the records of a pull request, retries, one comment."""
