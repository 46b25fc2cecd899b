"""Nightly audits of review bots: what they said, whether it was acted on, which bot is better."""
