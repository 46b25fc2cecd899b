"""Scores: pairs of pseudo-references and sentences become cells, and judged cells a result."""
