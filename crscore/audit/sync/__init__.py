"""Synchronisation: from GitHub into the store, and one bare clone a repository."""
