"""Language-neutral model of source code, built with tree-sitter."""
