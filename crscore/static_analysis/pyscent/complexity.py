"""Cyclomatic complexity, counted by radon 6."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from crscore.static_analysis.pyscent.blocks import Span, blocks, span
from crscore.static_analysis.pyscent.rules import ALARMING_RANKS, COMPLEX_CODE, WARNING, rank
from crscore.static_analysis.pyscent.smells import smell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.static_analysis.pyscent.smells import Smell


def complex_code(tree: ast.Module, *, published: bool = False) -> Iterator[Smell]:
    """Find the blocks of rank C or worse.

    Every function counts by itself, wherever it stands; the code of a function inside it
    is not its own. An `assert` is no path: a test is not complex for what it checks. The
    published tool asks radon for its list, which counts asserts, has classes in it (the
    mean of their methods, plus one) and leaves out what stands inside functions.

    Args:
        tree: The file.
        published: Take radon's own list.

    Yields:
        A finding a block.

    Raises:
        RecursionError: The tree is too deep for radon.
    """
    for name, where, measure in _listed(tree) if published else _functions(tree):
        if measure > COMPLEX_CODE.limit:
            row = rank(measure)
            yield smell(
                COMPLEX_CODE,
                where,
                f"`{name}`",
                measure,
                level=WARNING if row.letter in ALARMING_RANKS else None,
                published=published,
                rank=row.letter,
                risk=row.risk,
            )


def _functions(tree: ast.Module) -> Iterator[tuple[str, Span, int]]:
    from radon.visitors import ComplexityVisitor  # noqa: PLC0415 - `--version` does without

    for name, node in blocks(tree):
        if not isinstance(node, ast.ClassDef):
            block = ComplexityVisitor.from_ast(node, no_assert=True).functions[0]
            yield name, span(node), block.complexity


def _listed(tree: ast.Module) -> Iterator[tuple[str, Span, int]]:
    from radon.visitors import ComplexityVisitor  # noqa: PLC0415 - `--version` does without

    for block in ComplexityVisitor.from_ast(tree).blocks:
        yield block.fullname, Span(block.lineno, block.endline), block.complexity
