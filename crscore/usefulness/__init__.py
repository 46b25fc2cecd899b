"""Usefulness of a review to the author of the change: on topic, and worth reading."""
