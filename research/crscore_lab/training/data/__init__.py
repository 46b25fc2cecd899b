"""Training data: texts and rated reviews with their changes."""
