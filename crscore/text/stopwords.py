"""English stop words: the 179 of the list that the published metric used."""

import importlib.resources
from typing import Final

ENGLISH: Final = frozenset(
    importlib.resources.files(__package__).joinpath("stopwords.txt").read_text("utf-8").split()
)
"""Lower-case words and the pieces that contractions leave (`don`, `ll`).

Source:
    The English list of the NLTK stop word corpus as it stood until 2024 (179 entries),
    in the order of that list. Later releases have more, which would change the scores.
"""

IGNORED_PIECES = ENGLISH | {".", ","}
"""Word pieces left out of a sentence's vector.

Source:
    Naik et al., NAACL 2025, arXiv:2409.19801; the reference code adds the full stop and
    the comma to the list.
"""
