"""Language of a file, by its name."""

import tomllib
from pathlib import Path
from typing import Final

_TABLES: Final[dict[str, dict[str, str]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
_SUFFIXES, _NAMES = (
    {name: language for language, names in _TABLES[table].items() for name in names.split()}
    for table in ("suffixes", "names")
)

_OTHER_NAMES: Final = {**_SUFFIXES, "c#": "csharp", "golang": "go"}


def language_of(path: str) -> str | None:
    """Return the language of a file.

    Args:
        path: Any path, with slashes or backslashes; case-insensitive.

    Returns:
        A lower-case name such as `python`, `cpp` or `yaml`, or None when the name is not
        conclusive. `.h` counts as `c`; templates count as the markup they are written in.

    Example:
        >>> language_of("src/App.TSX"), language_of("docker/Dockerfile.dev"), language_of("LICENSE")
        ('tsx', 'dockerfile', None)
    """
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    if name in _NAMES:
        return _NAMES[name]
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        return None
    # page.blade.php is no PHP.
    for end in (f"{stem.rpartition('.')[2]}.{suffix}", suffix):
        if end in _SUFFIXES:
            return _SUFFIXES[end]
    # Dockerfile.dev, Makefile.am, .env.local
    return _NAMES.get(stem) if stem in {"dockerfile", "makefile", ".env"} else None


def canonical_name(language: str) -> str:
    """Return the name that `language_of` uses for a language.

    Args:
        language: A name, or a suffix without its dot; case-insensitive.

    Example:
        >>> [canonical_name(name) for name in ("js", "Python", "C++", "golang", "klingon")]
        ['javascript', 'python', 'cpp', 'go', 'klingon']
    """
    name = language.strip().lower()
    return name if name in _TABLES["suffixes"] else _OTHER_NAMES.get(name, name)


def suffix_of(language: str) -> str | None:
    """Return the usual suffix of a language.

    Args:
        language: A name returned by `language_of`.

    Returns:
        With its dot and in lower case; None when the language is not known.

    Example:
        >>> suffix_of("python"), suffix_of("csharp"), suffix_of("klingon")
        ('.py', '.cs', None)
    """
    suffix = next((suffix for suffix, name in _SUFFIXES.items() if name == language), None)
    return None if suffix is None else f".{suffix}"
