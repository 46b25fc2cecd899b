"""WordNet synonyms for METEOR, from files on this machine."""

import functools
import io
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from crscore.code import libraries

DEBIAN: Final = Path("/usr/share/wordnet")
"""Folder of Debian's and Ubuntu's package wordnet-base."""
# nltk requires the names of the 45 files that WordNet was written in; METEOR never shows them.
_LEXNAMES: Final = "".join(f"{number:02d} file{number} 1\n" for number in range(45))

NO_SYNONYMS: Final = SimpleNamespace(synsets=lambda _word: ())
"""WordNet without any synonym: METEOR asks for the sets of synonyms that a word is in."""


@functools.cache
def find() -> tuple[SimpleNamespace, str]:
    """Find WordNet in nltk's data folders, then in Debian's.

    Returns:
        WordNet and `wordnet 3.0`, or the version it has; without its files one without synonyms
        and `no wordnet`.

    Raises:
        DependencyError: nltk is not installed.
    """
    corpus = libraries.load("nltk.corpus", "nltk")
    try:
        corpus.wordnet.ensure_loaded()
        reader = corpus.wordnet
    except LookupError:
        if not (DEBIAN / "data.noun").exists():
            return NO_SYNONYMS, "no wordnet"
        reader = _read_debian()
    # Every word is looked up once.
    synonyms = SimpleNamespace(synsets=functools.cache(reader.synsets))
    return synonyms, f"wordnet {reader.get_version()}"


def _read_debian() -> Any:
    base: Any = libraries.load("nltk.corpus.reader.wordnet", "nltk").WordNetCorpusReader

    class Reader(base):  # type: ignore[misc]
        """nltk's reader for a folder without `lexnames` and without other languages."""

        def open(self, file: str) -> Any:
            return io.StringIO(_LEXNAMES) if file == "lexnames" else super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:  # noqa: ARG002  (nltk's signature)
            return None

    # nltk opens files below its data folders only.
    data = libraries.load("nltk.data", "nltk")
    if str(DEBIAN) not in data.path:
        data.path.append(str(DEBIAN))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The multilingual functions")
        return Reader(str(DEBIAN), None)
