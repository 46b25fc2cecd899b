"""Who spoke on a pull request, and which part of what they wrote is review."""
