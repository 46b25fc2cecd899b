"""Nightly audits of review bots: coverage, noise, reactions of authors, comparisons, decisions."""
