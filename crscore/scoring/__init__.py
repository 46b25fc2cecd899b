"""From pseudo-references and sentences to cells, and from judged cells to a result."""
