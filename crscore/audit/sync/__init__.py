"""Reads pull requests from a code host into the store, and fetches clones of the repositories."""
