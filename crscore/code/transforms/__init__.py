"""Rewriting of Python and Java: equivalent transformations, and mutations."""

from crscore.code.transforms.edits import Variant
from crscore.code.transforms.mutations import mutants

__all__ = ["Variant", "mutants"]
