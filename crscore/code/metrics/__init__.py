"""Metrics that compare code with reference code, by name."""

from crscore.code.metrics.measurement import compute, make, names

__all__ = ["compute", "make", "names"]
