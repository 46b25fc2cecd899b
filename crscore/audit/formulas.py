"""Formulas: comments that say the same sentences with other names.

A template that a script fills in reads as a remark of weight on each change, so the words of one
comment cannot show it, only the other comments of the same reviewer.
"""

import json
import re
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import islice
from typing import Final

from crscore.audit.store.database import Store
from crscore.audit.store.reports import Scope, read_remarks

FROM: Final = 2
"""Number of earlier comments with the same words from which on a comment is a formula."""
SHARE: Final = 0.5
"""Minimum share of a formula's words that stand in such groups. Of the comments of six bots on real
changes, none to 1.4 % have it."""
WORDS: Final = 4
"""Words of a group."""
MAX_WORDS: Final = 40
"""Number of words of a comment that are read."""
_NAME: Final = "_"
# Addresses too: a link to the rule that a linter quotes differs from remark to remark.
_QUOTED: Final = re.compile(r"`[^`]*`|\"[^\"]*\"|https?://\S+")
_AROUND: Final = ".,;:!?()[]*'"


def find_formulas(store: Store, scope: Scope) -> str:
    """Return the keys of the bots' comments that are formulas, as a JSON list.

    Raises:
        StoreError: The store cannot be read.
    """
    counts: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    formula_rows = []
    for reviewer, key, text in read_remarks(store, scope):
        words, counter = _masked(text), counts[reviewer]
        groups = list(zip(*(words[at:] for at in range(min(WORDS, len(words)))), strict=False))
        repeated = {
            at + offset
            for at, group in enumerate(groups)
            if counter[group] >= FROM
            for offset in range(len(group))
        }
        is_word = [word != _NAME for word in words]
        if repeated and sum(is_word[at] for at in repeated) >= SHARE * sum(is_word):
            formula_rows.append(key)
        counter.update(set(groups))
    return json.dumps(formula_rows)


def _masked(text: str) -> list[str]:
    """Return the words; names, numbers and quoted code are all alike."""
    words = map(_mask, _QUOTED.sub(f" {_NAME} ", text).split())
    return list(islice(filter(None, words), MAX_WORDS))


@lru_cache(maxsize=4096)  # a team's comments have few different words
def _mask(word: str) -> str:
    word = word.strip(_AROUND)
    is_plain = word.isalpha() and (word.islower() or word.istitle())
    return word.lower() if is_plain else _NAME if word else ""
