"""Samples of each language with a grammar, from `tests/data/languages/`."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from crscore.syntax.grammars import Language, language_of
from crscore.syntax.outline import Outline
from crscore.syntax.outliner import read_outline

LANGUAGES = {
    path.stem: tomllib.loads(path.read_text("utf-8"))
    for path in sorted((Path(__file__).parents[1] / "data" / "languages").glob("*.toml"))
}
"""Samples by language: `source` with its `declarations`, `function` and `change`."""
SAMPLES = {name: samples["source"] for name, samples in LANGUAGES.items()}
"""A class around a function `load` in each language."""
FUNCTIONS = {name: samples["function"] for name, samples in LANGUAGES.items()}
"""The same function in each language."""


def table(name: str) -> Language:
    """Return the table of a language."""
    language = language_of(name)
    assert language is not None
    return language


def outline(name: str, source: str, *, lines: Sequence[tuple[int, int]] | None = None) -> Outline:
    """Read a text; PHP needs no opening tag."""
    prolog = "<?php " if name == "php" and not source.startswith("<?php") else ""
    return read_outline(table(name), prolog + source, lines=lines)
