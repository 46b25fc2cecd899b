"""Synchronisation: from the code host into the store, with a bare clone of each repository."""
