"""One module for each family of languages: node types to roles."""
