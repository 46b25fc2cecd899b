"""Source text to a neutral picture of its code, through tree-sitter."""
