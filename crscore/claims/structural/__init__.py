"""Writes sentences about a change by comparing syntax trees; `plugin` is the claim generator."""
