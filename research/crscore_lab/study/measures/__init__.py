"""Measures of a score's agreement with people: correlations, pairs, systems, links and readers."""
