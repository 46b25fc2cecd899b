"""Language of a file, determined by its name."""

from collections.abc import Mapping
from functools import cache

from crscore.languages.tables import read_tables, read_words


@cache
def _languages(key: str) -> Mapping[str, str]:
    """Return a mapping from suffixes, or from file names, to languages."""
    return {word: language for language, words in read_words(key).items() for word in words}


def language_of(path: str) -> str | None:
    """Return the language of a file.

    Args:
        path: Any path, with slashes or backslashes; case-insensitive.

    Returns:
        A lower-case name such as `python`, `cpp` or `yaml`, or None if the file name is not
        conclusive. `.h` counts as `c`; templates count as the markup that they are written in.

    Example:
        >>> language_of("src/App.TSX"), language_of("docker/Dockerfile.dev"), language_of("LICENSE")
        ('tsx', 'dockerfile', None)
    """
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    files, suffixes = _languages("files"), _languages("suffixes")
    if name in files:
        return files[name]
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        return None
    # page.blade.php is not a PHP file.
    for end in (f"{stem.rpartition('.')[2]}.{suffix}", suffix):
        if end in suffixes:
            return suffixes[end]
    # Dockerfile.dev, Makefile.am, .env.local
    return files.get(stem) if stem in {"dockerfile", "makefile", ".env"} else None


def canonical_name(language: str) -> str:
    """Return the name that `language_of` uses for a language.

    Args:
        language: A name, or a suffix without its dot; case-insensitive.

    Example:
        >>> [canonical_name(name) for name in ("js", "Python", "C++", "golang", "klingon")]
        ['javascript', 'python', 'cpp', 'go', 'klingon']
    """
    name = language.strip().lower()
    if name in read_words("suffixes"):
        return name
    for table_name, table in read_tables().items():
        if name in table.get("other_names", "").split():
            return table_name
    return _languages("suffixes").get(name, name)


def suffix_of(language: str) -> str | None:
    """Return the usual suffix of a language.

    Args:
        language: A name returned by `language_of`.

    Returns:
        The suffix with its dot, in lower case; None if the language is not known.

    Example:
        >>> suffix_of("python"), suffix_of("csharp"), suffix_of("klingon")
        ('.py', '.cs', None)
    """
    suffixes = read_words("suffixes").get(language)
    return f".{suffixes[0]}" if suffixes else None
