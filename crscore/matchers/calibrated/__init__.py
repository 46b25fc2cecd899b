"""Calibrated matcher: words -> features -> trees, and guards."""
