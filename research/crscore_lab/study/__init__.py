"""Comparison of scores with human judgements, from a file of rated reviews to a report."""
