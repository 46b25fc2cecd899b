"""Mappings of node types to roles, one module for each family of languages."""
