"""Verdicts on what a remark says of the code: confirmed, refuted or unproven, with a receipt."""
