"""Language of the texts of a review: the default encoder reads English only.

Its vectors of texts in another language are similar whatever the texts say. The language is
decided by the script and, for Latin letters, by py3langid (BSD, 5 MB), which is loaded only for
texts with few English function words.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from msgspec.structs import replace

from crscore.records import Remark, Sentence
from crscore.text import CODE_SPAN, ENGLISH
from crscore.version import version_of

IDENTITY: Final = f"1(py3langid-{version_of('py3langid')})"
"""Version of the rules and of the detector, for the signature."""
NOT_READ: Final = "the text is not in English, so it was not read"
"""Reason that a text has no score."""
MIN_LOG_ODDS: Final = 12.0
"""Minimum logarithm of the odds of another language against English."""
MAX_CHARS: Final = 10_000
"""Maximum characters of a text that are looked at."""
# The detector knows more languages, which short technical English resembles: "nit: multi-line?" is
# Latin, "hahaha, nice" Tagalog. A text in one of these is still unlike English.
_LANGUAGES: Final = (
    "en ca cs da de es et eu fi fr gl hr hu id is it lt lv nl no pl pt ro sk sl sq sv tr vi"
)
# No evidence of a language: code spans; a few quoted words ('Typo: "Hinweis"'); single Greek
# letters ("λ is unused"); words with the characters of code ("getId()", "a/b.py:3", "UTF-8",
# "x=1"), but not "don't", "multi-line" or "(see below)".
_MASKED: Final = re.compile(
    rf"""{CODE_SPAN.pattern}|["“„«][^"“”„«»\n]{{1,40}}["”“»]|\b[\u0370-\u03ff]\b"""
    r"""|(?<![!-~])(?=[!-~]*?(?:[\d_@$\\]|[a-z][A-Z]|\w[!-&(-,./:-@\[-^{-~]+\w|\(\)|://))[!-~]+"""
)
# "don't", "größe", "请修复"; not "x2", "42"
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# A letter that is not Latin; the second range has the letters of Vietnamese.
_OTHER_LETTER: Final = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")
# Without words of other languages: German "will", Dutch "over".
_FUNCTION_WORDS: Final = {word for word in ENGLISH if len(word) > 3} - {"will", "over"} | {
    "the", "and", "you", "are", "not",
    # Frequent in reviews.
    "please", "instead", "otherwise", "could", "would", "might", "maybe", "without", "never",
    "always", "still", "already", "every", "another", "since", "whether", "rather", "thanks",
    "looks", "needs",
}  # fmt: skip


@lru_cache(maxsize=16_384)
def is_english(text: str, in_english: bool = False) -> bool:
    """Return whether a text is in English; True without enough evidence of another language.

    Args:
        text: Plain text; code, addresses and quoted words in it are not evidence.
        in_english: It is a part of a text in English. Then one function word is enough, and four
            words are too few for the detector, which takes a quarter of a short run to load: 32 %
            of real comments need it instead of 57 %.

    Example:
        >>> is_english("nit"), is_english("请修复: `foo` leaks"), is_english("Hier fehlt ein Test.")
        (True, False, False)
    """
    words = _WORD.findall(_MASKED.sub(" ", text[:MAX_CHARS]).lower())
    foreign_letters = sum(len(_OTHER_LETTER.findall(word)) for word in words)
    latin = [word for word in words if _OTHER_LETTER.search(word) is None]
    function_words = sum(word in _FUNCTION_WORDS for word in latin)
    # Most other scripts need about half as many letters. English terms in a Chinese sentence may
    # outnumber them, but have no function words.
    is_foreign = 2 * foreign_letters > sum(map(len, latin))
    if foreign_letters > 1 and (is_foreign or (foreign_letters > 3 and not function_words)):
        return False
    enough = max(1 if in_english else 2, len(latin) / 12)
    if len(latin) < (5 if in_english else 2) or function_words >= enough:
        return True
    scores = dict(_detector().rank(" ".join(latin)))
    english = scores.pop("en")
    return bool(max(scores.values()) - english <= MIN_LOG_ODDS)


@lru_cache(maxsize=1)
def _detector() -> Any:
    """Load the detector: 0.5 s and 60 MB."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415

    full = LanguageIdentifier.from_model_file(MODEL_FILE)
    full.set_languages(_LANGUAGES.split())
    # `full` keeps the table of all its languages: 27 MB.
    return LanguageIdentifier(
        full.nb_ptc, full.nb_pc, full.nb_classes, full.tk_nextmove, full.tk_output,
        tk_row=full.tk_row,
    )  # fmt: skip


def mark_unread(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Mark all sentences of comments in another language, and such sentences of other comments."""
    texts: dict[int, str] = {}
    for sentence in sentences:
        if not (sentence.hidden or sentence.proposal):
            texts[sentence.comment] = f"{texts.get(sentence.comment, '')} {sentence.text}"
    unread = {comment for comment, text in texts.items() if not is_english(text)}
    return tuple(
        replace(sentence, unread=True)
        if sentence.comment in unread
        or not (sentence.hidden or sentence.proposal or is_english(sentence.text, in_english=True))
        else sentence
        for sentence in sentences
    )


def describe_unread(
    sentences: Sequence[Sentence], remarks: Sequence[Remark] = ()
) -> tuple[str, ...]:
    """Count the comments with sentences that nobody reads; empty if all or none are such.

    Args:
        sentences: All sentences of a review.
        remarks: Its remarks, some of which a language model may have read.
    """
    by_model = {at for remark in remarks if remark.reading for at in remark.sentences}
    unread = [unit for at, unit in enumerate(sentences) if unit.unread and at not in by_model]
    if not unread or len(unread) == len(sentences):
        return ()
    count, total = (len({unit.comment for unit in units}) for units in (unread, sentences))
    return (f"Not in English, so not read: text in {count:,} of {total:,} comments.",)
