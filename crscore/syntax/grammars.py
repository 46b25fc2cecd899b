"""Supported languages and their parsers."""

from __future__ import annotations

import hashlib
import importlib
import pkgutil
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING

from crscore.errors import DependencyError
from crscore.syntax import languages

if TYPE_CHECKING:
    import tree_sitter

    from crscore.syntax.model import Language


@cache
def tables() -> dict[str, Language]:
    """Return every language's table, by each of its names."""
    found: dict[str, Language] = {}
    for module in sorted(item.name for item in pkgutil.iter_modules(languages.__path__)):
        loaded = importlib.import_module(f"{languages.__name__}.{module}")
        for language in loaded.LANGUAGES:
            for name in (language.name, *sorted(language.aliases)):
                found[name] = language
    return found


def language_of(name: str | None) -> Language | None:
    """Return the table for a language name as in `ChangedFile.language`, or None."""
    return tables().get(name) if name else None


@cache
def _parser(package: str, entry: str) -> tree_sitter.Parser:
    try:
        import tree_sitter  # noqa: PLC0415 - only a run that parses pays for it

        grammar = importlib.import_module(package)
    except ImportError as exc:
        wheel = package.replace("_", "-")
        raise DependencyError(wheel, f"pip install {wheel}") from exc
    return tree_sitter.Parser(tree_sitter.Language(getattr(grammar, entry)()))


def parser(language: Language) -> tree_sitter.Parser:
    """Return the parser of a language.

    Raises:
        DependencyError: Its grammar's wheel is not installed.
    """
    return _parser(language.package, language.entry)


def languages_known() -> tuple[Language, ...]:
    """Return every table once, sorted by name."""
    by_name = {language.name: language for language in tables().values()}
    return tuple(by_name[name] for name in sorted(by_name))


@cache
def fingerprint() -> str:
    """Return a hash of the installed grammars' versions: another version may parse differently.

    Returns:
        Eight hex digits of a hash over the grammars' packages and their versions.
    """
    packages = sorted({"tree-sitter", *(item.package for item in languages_known())})
    return hashlib.sha256(" ".join(map(_versioned, packages)).encode()).hexdigest()[:8]


def _versioned(package: str) -> str:
    name = package.replace("_", "-")
    try:
        return f"{name}=={metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return f"{name} missing"
