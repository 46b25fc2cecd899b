"""Verdicts on statements about the code: confirmed, refuted or unproven, with a receipt."""
