"""Examples of the contrastive training: sketches of functions, their equivalents and mutants."""

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
"""Maximum number of equivalent forms drawn per function."""
MUTANTS = 6
"""Maximum number of mutants drawn per function."""
MIN_BYTES = 80
MAX_BYTES = 2500
# Node types of functions in Python and in Java.
_FUNCTIONS = ("function_definition", "method_declaration")


class CodeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the data."""

    code: str
    language: str
    intent: str = ""
    """Purpose of the code, in words."""


class Example(NamedTuple):
    """Sketch of a function."""

    language: str
    intent: str
    code: str
    equivalents: tuple[str, ...]
    """At least one."""
    mutants: tuple[str, ...]
    """At least one."""


def read_rows(path: Path) -> list[CodeRow]:
    """Read JSON Lines of `code` and `language`.

    Raises:
        InputError: The file cannot be read, or a row is wrong.
    """
    content = jsonl.read_bytes(path, "code")
    return [row for _, row in jsonl.read_rows(content, CodeRow, path, "code")]


def make_examples(rows: Sequence[CodeRow], *, seed: int) -> list[Example]:
    """Make examples of the functions in rows of Python and Java; other languages are left out.

    Functions without an equivalent form, or without a mutant, are left out, and so are functions
    of less than `MIN_BYTES` or more than `MAX_BYTES`.

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
