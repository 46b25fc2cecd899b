"""Rewriting of Python and Java: equivalent transformations, and mutations."""

from crscore.code.transforms.edits import LANGUAGES, Variant
from crscore.code.transforms.equivalents import FAMILIES, transforms
from crscore.code.transforms.mutations import OPERATORS, mutants

__all__ = ["FAMILIES", "LANGUAGES", "OPERATORS", "Variant", "mutants", "transforms"]
