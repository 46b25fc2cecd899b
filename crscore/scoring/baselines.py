"""Two trivial measures of a review that are shown with its score."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from crscore.records import Baselines, Diff

# Runs of at least three letters of any script: "user_id2name" gives "user" and "name".
_TOKEN: Final = re.compile(r"[^\W\d_]{3,}")


def baselines(diff: Diff, texts: Sequence[str]) -> Baselines:
    """Count the review's words and the share of the diff's tokens that it repeats.

    A word is a run of characters between white space with at least one letter or digit. A
    token is a run of at least three letters, case-folded: identifiers are split at digits and
    underscores, not at capitals. The diff's tokens come from its added, removed and context lines,
    not from paths and section titles.

    Args:
        diff: The change.
        texts: The review's comments as given, Markdown and code included; may be empty.

    Returns:
        The number of words, and the share of the diff's distinct tokens that occur in the
        texts, in [0, 1]; None if the diff has no token.

    Source:
        Not in the paper: a review's length and its overlap with the diff follow human judgement of
        relevance closely enough that no score should be shown without them.

    Example:
        >>> from crscore.records import Diff
        >>> baselines(Diff(files=(), sha256=""), ["Looks good - to me."])
        Baselines(words=4, repeated_tokens=None)
    """
    # On the human study, they correlate with relevance as people rate it by 0.366 and 0.478, the
    # score by 0.623 (benchmarks/README.md, "Agreement with people").
    diff_tokens = _tokens(line.text for line in diff.lines())
    repeated = diff_tokens & _tokens(texts)
    return Baselines(
        words=sum(any(map(str.isalnum, word)) for text in texts for word in text.split()),
        repeated_tokens=len(repeated) / len(diff_tokens) if diff_tokens else None,
    )


def _tokens(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(token.casefold() for text in texts for token in _TOKEN.findall(text))
