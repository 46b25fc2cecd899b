"""Makes examples for the contrastive training: sketches of functions, equivalents and mutants."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from crscore import jsonl
from crscore.errors import InputError
from crscore.syntax.sketch import sketch
from crscore.syntax.trees import grammar_of, parse_code
from crscore_lab.training.code.variants import LANGUAGES, list_equivalents, list_mutants

EQUIVALENTS = 3
"""Maximum number of equivalent forms that are drawn for a function."""
MUTANTS = 6
"""Maximum number of mutants that are drawn for a function."""
MIN_BYTES = 80
MAX_BYTES = 2500
# Node types of functions in Python and in Java.
_FUNCTIONS = ("function_definition", "method_declaration")


class CodeRow(msgspec.Struct, frozen=True, kw_only=True):
    """Row of the training data."""

    code: str
    language: str
    intent: str = ""
    """Purpose of the code, in words; empty if it is not known."""


class Example(NamedTuple):
    """Sketches of a function and of its variants."""

    language: str
    intent: str
    code: str
    equivalents: tuple[str, ...]
    """Sketches of equivalent forms, at least one."""
    mutants: tuple[str, ...]
    """Sketches of mutants, at least one."""


def read_rows(path: Path) -> list[CodeRow]:
    """Read a JSON Lines file with a `CodeRow` in each line.

    Raises:
        InputError: The file cannot be read, or a row has another format.
    """
    content = jsonl.read_bytes(path, "code")
    return [row for _, row in jsonl.read_rows(content, CodeRow, path, "code")]


def make_examples(rows: Sequence[CodeRow], *, seed: int) -> list[Example]:
    """Make an example of each function in rows of Python and Java.

    Rows in other languages are left out, and so are functions without an equivalent form, without a
    mutant, or with fewer than `MIN_BYTES` or more than `MAX_BYTES` bytes.

    Raises:
        InputError: There are fewer than two examples.
    """
    draw = random.Random(seed)
    examples: list[Example] = []
    for row in rows:
        if grammar_of(row.language).name in LANGUAGES:
            for code in dict.fromkeys(_functions(row.code, row.language)):
                examples += _example(row, code, draw)
    if len(examples) < 2:
        raise InputError(f"{len(examples)} functions to learn from; expected at least 2")
    return examples


def _functions(code: str, language: str) -> Iterator[str]:
    for node in parse_code(code, language).nodes():
        size = node.end_byte - node.start_byte
        if node.type in _FUNCTIONS and MIN_BYTES <= size <= MAX_BYTES:
            yield (node.text or b"").decode()


def _example(row: CodeRow, code: str, draw: random.Random) -> Iterator[Example]:
    equivalents = list_equivalents(code, row.language)
    mutants = list_mutants(code, row.language)
    if equivalents and mutants:
        equivalents = draw.sample(equivalents, min(EQUIVALENTS, len(equivalents)))
        mutants = draw.sample(mutants, min(MUTANTS, len(mutants)))
        yield Example(
            row.language,
            row.intent,
            sketch(code, row.language),
            tuple(sketch(variant.code, row.language) for variant in equivalents),
            tuple(sketch(variant.code, row.language) for variant in mutants),
        )
