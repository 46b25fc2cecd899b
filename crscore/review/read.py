"""Reads the parts of a review: where each comment is, its sentences, proposed code and language.

Each proposal of code becomes one short text that a sentence encoder can read. A suggestion block is
described by its differences from the lines that it replaces, and a diff block by its removed and
added lines. Other code is a proposal only in a comment without other text.

The default encoder reads only English: its vectors of texts in another language are similar,
whatever the texts say. The script shows the language or, for Latin letters, py3langid does (BSD,
5 MB), which is loaded only for texts with few English function words.
"""

import operator
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import repeat, takewhile, zip_longest
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from crscore.diff.sections import SIGNS
from crscore.records import (
    ChangedFile,
    Comment,
    Diff,
    LineKind,
    ParsedComment,
    Position,
    Remark,
    Scope,
    ScopeKind,
    Sentence,
    Side,
)
from crscore.review.sentences import split_comment
from crscore.text import CODE_SPAN, ENGLISH, count_noun, shorten
from crscore.version import version_of

# Sizes are limited, not time, so that a result does not depend on the machine
# (docs/design/013-untrusted-code.md). A sentence takes about 20 KB of memory.
MAX_SENTENCES: Final = 20_000
"""Maximum number of sentences scored per change."""


class SplitReview(NamedTuple):
    """Parts of a review, and notes on what was left out."""

    parsed: tuple[ParsedComment, ...]
    """Parts of each comment."""
    authors: Mapping[str | None, Sequence[int]]
    """Author -> indices of the author's comments; authors are in order of first appearance."""
    files: tuple[ChangedFile | None, ...]
    """File that each comment is on; None if unknown."""
    scopes: tuple[Scope | None, ...]
    """Part of the diff that each comment is on; None for a file that the diff does not change."""
    sentences: tuple[Sentence, ...]
    """Visible sentences of all comments, then the hidden ones."""
    notes: tuple[str, ...]
    """Notes about text that is not scored, one sentence each."""


def split_review(
    comments: Sequence[Comment], diff: Diff, splitter: str, *, english_only: bool = False
) -> SplitReview:
    """Split the comments on a change.

    Args:
        comments: The comments of all authors.
        diff: The change under review.
        splitter: Name of the sentence splitter. `paper`, the published splitter, ignores proposed
            code.
        english_only: Whether to mark text in another language as unread.

    Returns:
        The parts of the comments. If there are more than `MAX_SENTENCES`, the last sentences of the
        author who wrote most are left out, so that one author cannot crowd out another.
    """
    parsed = tuple(parse_comment(comment, diff, splitter) for comment in comments)
    authors: dict[str | None, list[int]] = {}
    for index, comment in enumerate(comments):
        authors.setdefault(comment.author, []).append(index)
    sentences = sentences_of(parsed)
    sentences = mark_unread(sentences) if english_only else sentences
    notes = []
    # Bytes that are not UTF-8 were replaced by U+FFFD, so words may be misread.
    if count := sum("\ufffd" in comment.body for comment in comments):
        damaged = count_noun(count, "comment")
        notes.append(f"Characters of {damaged} could not be decoded; save the review as UTF-8.")
    if len(sentences) > MAX_SENTENCES:
        notes.append(
            f"{MAX_SENTENCES:,} of {len(sentences):,} sentences are scored; "
            "the last sentences of the author who wrote most are left out."
        )
        lengths = {
            author: sum(len(comments[index].body) for index in indices)
            for author, indices in authors.items()
        }
        # The sort is stable, so the first sentences of each author are kept.
        order = sorted(
            range(len(sentences)), key=lambda i: lengths[comments[sentences[i].comment].author]
        )
        sentences = tuple(sentences[i] for i in sorted(order[:MAX_SENTENCES]))
    files = tuple(file_of(comment, diff) for comment in comments)
    scopes = tuple(find_scope(comment, diff) for comment in comments)
    return SplitReview(parsed, authors, files, scopes, sentences, tuple(notes))


def parse_comment(comment: Comment, diff: Diff, splitter: str) -> ParsedComment:
    """Split a comment and, except with the published splitter, read the code that it proposes."""
    parsed = split_comment(comment.body, splitter=splitter)
    if splitter == "paper":
        return parsed
    return read_proposals(parsed, comment, file_of(comment, diff))


def sentences_of(parsed: Sequence[ParsedComment]) -> tuple[Sentence, ...]:
    """Return the visible sentences of all comments, then the hidden ones."""
    visible: list[Sentence] = []
    hidden: list[Sentence] = []
    for index, comment in enumerate(parsed):
        positions = comment.positions or repeat(Position(), len(comment.sentences))
        visible += (
            Sentence(text=text, comment=index, position=position)
            for text, position in zip(comment.sentences, positions, strict=True)
        )
        visible += (
            Sentence(text=text, comment=index, proposal=True, position=position)
            for text, position in zip(comment.proposals, comment.proposal_positions, strict=True)
        )
        hidden += (Sentence(text=text, comment=index, hidden=True) for text in comment.hidden)
    return (*visible, *hidden)


# `@@ -1,2 +3,4 @@` and the short form `@@ -1 +3 @@`, which hosts store with a comment
_HEADER = re.compile(r"^@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@")


def find_scope(comment: Comment, diff: Diff) -> Scope | None:
    """Find the part of the diff that a comment is on.

    Args:
        comment: Comment, with or without path, line and hunk.
        diff: The change.

    Returns:
        The hunk that contains the comment's line; the file if the line is not in a hunk; the whole
        diff if the comment has neither a path nor a stored hunk of the diff. None if the comment
        names a file that the diff does not change.
    """
    if comment.path is None:
        for file in diff.files if comment.diff_hunk else ():
            index = _find_hunk(file, comment.diff_hunk or "")
            if index is not None:
                return Scope(kind=ScopeKind.HUNK, path=file.path, hunk=index)
        return Scope(kind=ScopeKind.DIFF)
    commented = diff.file_at(comment.path, comment.side)
    if commented is None:
        return None
    index = None
    # An outdated line number belongs to another version, so only the stored hunk identifies it.
    if comment.line is not None and not comment.outdated:
        index = commented.hunk_at(comment.side, comment.line)
    if index is None and comment.diff_hunk:
        index = _find_hunk(commented, comment.diff_hunk)
    if index is None:
        return Scope(kind=ScopeKind.FILE, path=commented.path)
    return Scope(kind=ScopeKind.HUNK, path=commented.path, hunk=index)


def file_of(comment: Comment, diff: Diff) -> ChangedFile | None:
    """Find the changed file that a comment is on; without a path, the only file of the diff."""
    if comment.path is not None:
        return diff.file_at(comment.path, comment.side)
    return diff.files[0] if len(diff.files) == 1 else None


def _find_hunk(file: ChangedFile, text: str) -> int | None:
    """Return the index of the hunk of which `text` is the start; None if there is none.

    GitHub stores a hunk from its header down to the commented line. The stored lines are compared
    too, because hunks of two files can have the same header.
    """
    # Not `splitlines`, because a form feed in code does not end a line of a diff.
    header, *body = text.rstrip("\n").split("\n")
    match = _HEADER.match(header)
    if match is None:
        return None
    start = int(match[1]), int(match[2])
    lines = [line for line in body if not line.startswith("\\")]
    for index, hunk in enumerate(file.hunks):
        if (hunk.old_start, hunk.new_start) != start or len(lines) > len(hunk.lines):
            continue
        pairs = zip(lines, hunk.lines, strict=False)
        if all(text.rstrip("\r") == SIGNS[line.kind] + line.text for text, line in pairs):
            return index
    return None


# Comparing lines takes quadratic time.
MAX_LINES: Final = 100
"""Maximum number of lines that are compared on each side."""
MAX_LINE_CHARS: Final = 1_000
"""Maximum number of characters of a line that are read."""
MAX_SHOWN: Final = 200
"""Maximum number of characters of code on each side of one change."""
MAX_DESCRIPTION_CHARS: Final = 400
"""A description with more characters gets no further change."""
MAX_FULL_CHARS: Final = 60
"""Maximum number of characters of code that is shown in full; longer code is cut to the difference
and its context."""
CONTEXT_TOKENS: Final = 5
"""Number of tokens, including white space, that are shown on each side of the difference."""
MIN_SIMILARITY: Final = 0.2
"""Minimum share of common words (0 to 1) of a suggestion and the lines that it may replace."""
# Suggestions for several lines are rare.
MIN_GAIN: Final = 0.1
"""How much greater this share must be with several lines than with the last line alone."""

_TOKEN: Final = re.compile(r"\w+|\s+|[^\w\s]")
_CODE_WORD: Final = re.compile(r"\w+")
# Runs of backticks, which a code span between single backticks cannot contain
_TICKS: Final = re.compile("``+")
_SPAN: Final = r"(?:``[^\n]{1,200}?``|`[^`\n]{1,200}`)"
# "`a`", "`a`?", "``a`b``"; not "use `a`"
_ONLY_CODE: Final = re.compile(rf"(?P<new>{_SPAN})\s*(?P<asks>\?*)\.?")
# One to four words
_FEW_WORDS: Final = r"[^\s/`?]{1,80}(?: [^\s/`?]{1,80}){0,3}"
_EDITS: Final = (
    # s/old/new/, as in sed, also without the last slash and inside backticks
    re.compile(rf"`?s/(?P<old>{_FEW_WORDS})/(?P<new>{_FEW_WORDS})\s?(?:/[gi]*)?`?\s*[?.]?"),
    # `old` -> `new`, also without the backticks
    re.compile(
        rf"(?:nit\w*\W{{1,3}})?(?P<old>{_SPAN}|[^\s`]{{1,100}})\s*(?:-{{1,2}}>|→|⇒)\s*"
        rf"(?P<new>{_SPAN}|[^\s`]{{0,99}}[^\s`.?])\s*[?.]?",
        re.IGNORECASE,
    ),
)
_LONGEST_EDIT: Final = 500


def read_proposals(
    parsed: ParsedComment, comment: Comment, file: ChangedFile | None
) -> ParsedComment:
    """Find the proposals of code in a comment.

    Args:
        parsed: The comment, split into its parts.
        comment: The comment itself, with the lines that it is on.
        file: The changed file of the comment; None if unknown.

    Returns:
        The comment with `proposals`, and without the sentences that are nothing but a proposal
        ("`a` -> `b`"). A suggestion that changes nothing is not a proposal.
    """
    proposals: dict[str, Position] = {}
    prose: list[tuple[str, Position]] = []
    positions = parsed.positions or repeat(Position(), len(parsed.sentences))
    for text, position in zip(parsed.sentences, positions, strict=True):
        if inline := _read_inline(text):
            proposals.setdefault(inline, position)
        else:
            prose.append((text, position))
    if parsed.suggestions:
        for suggestion, offsets in zip_longest(parsed.suggestions, parsed.suggestion_offsets):
            new = _cut_lines(suggestion.split("\n") if suggestion.strip() else [])
            old = find_replaced_lines(comment.spanning(offsets), file, new)
            change = describe_change(old, new) if old else _describe_new(new)
            proposals.setdefault(change, _find_position(suggestion, parsed))
    for block in parsed.diffs:
        proposals.setdefault(describe_change(*_split_sides(block)), _find_position(block, parsed))
    proposals.pop("", None)
    if not proposals:
        # The comment consists of code only.
        if len(prose) == 1 and (only_code := _fullmatch(_ONLY_CODE, prose[0][0])):
            proposals = {f"use {only_code['new']}{only_code['asks'][:1]}": Position()}
            prose = []
        elif not prose:
            proposals = {_describe_new(code.split("\n")): Position() for code in parsed.code_blocks}
            proposals.pop("", None)
    return replace(
        parsed,
        sentences=tuple(text for text, _ in prose),
        positions=tuple(position for _, position in prose),
        proposals=tuple(proposals),
        proposal_positions=tuple(proposals.values()),
    )


def _find_position(code: str, parsed: ParsedComment) -> Position:
    return Position(max(0, parsed.follows.get(code, 0)))


def describe_change(old: Sequence[str], new: Sequence[str]) -> str:
    """Describe what changes between two pieces of code.

    Args:
        old: Lines before the change; only the first `MAX_LINES` are compared.
        new: Lines after the change; only the first `MAX_LINES` are compared.

    Returns:
        One short text; "" for equal lines.

    Example:
        >>> describe_change(["a = 1", "b = 2"], ["a = 1", "b = 3", "c = 4"])
        'change `b = 2` to `b = 3 c = 4`'
        >>> describe_change(["a = 1"], []), describe_change(["a = 1"], ["a = 1"])
        ('remove `a = 1`', '')
    """
    old, new = _cut_lines(old), _cut_lines(new)
    before, after = ([" ".join(line.split()) for line in side] for side in (old, new))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    changes = [
        (slice(start, end), slice(new_start, new_end))
        for tag, start, end, new_start, new_end in matcher.get_opcodes()
        if tag != "equal"
    ]
    # Empty lines are described only if nothing else differs.
    changes = [
        (removed, added) for removed, added in changes if any(before[removed]) or any(after[added])
    ] or changes[:1]
    if not changes:
        pairs = zip(old, new, strict=True)
        differing = [line for old_line, line in pairs if line.rstrip() != old_line.rstrip()]
        return f"change the white space of {_format_code(differing[0])}" if differing else ""
    blocks = [(before[removed], after[added]) for removed, added in changes]
    (first_removed, first_added), (last_removed, last_added) = changes[0], changes[-1]
    joined = (
        before[first_removed.start : last_removed.stop],
        after[first_added.start : last_added.stop],
    )
    if max(len(" ".join(side)) for side in joined) <= MAX_FULL_CHARS:
        blocks = [joined]
    descriptions: list[str] = []
    for block in blocks:
        if sum(map(len, descriptions)) <= MAX_DESCRIPTION_CHARS:
            descriptions.append(_describe_block(*block))
    return ", ".join(descriptions)


def _describe_block(before: Sequence[str], after: Sequence[str]) -> str:
    old, new = " ".join(filter(None, before)), " ".join(filter(None, after))
    if not old and not new:
        return "add an empty line" if len(after) > len(before) else "remove an empty line"
    if not old or not new:
        return f"remove {_format_code(old)}" if old else f"add {_format_code(new)}"
    if _squeeze(old) == _squeeze(new):
        return f"change the white space of {_format_code(new)}"
    if max(len(old), len(new)) > MAX_FULL_CHARS:
        # Only the difference and its context are kept, because `_format_code` cuts off the end of
        # longer code.
        before, after = _TOKEN.findall(old), _TOKEN.findall(new)
        shorter = min(len(before), len(after))
        common_start = sum(takewhile(bool, map(operator.eq, before, after)))
        common_end = sum(takewhile(bool, map(operator.eq, reversed(before), reversed(after))))
        start = max(0, common_start - CONTEXT_TOKENS)
        cut = max(0, min(common_end, shorter - common_start) - CONTEXT_TOKENS)
        old, new = ("".join(side[start : len(side) - cut]).strip() for side in (before, after))
    return f"change {_format_code(old)} to {_format_code(new)}"


def _describe_new(lines: Iterable[str]) -> str:
    """Describe proposed code if it is unknown what it replaces; "" for code without words."""
    code = " ".join(" ".join(line.split()) for line in lines if _CODE_WORD.search(line))
    return f"use {_format_code(code)}" if code else ""


def _format_code(text: str) -> str:
    text = _TICKS.sub("`", text.strip())
    code = shorten(text, MAX_SHOWN)
    # A code span that contains a backtick needs two on each side:
    # https://spec.commonmark.org/0.31.2/#code-spans
    return f"`` {code} ``" if "`" in code else f"`{code}`"


def _squeeze(text: str) -> str:
    return "".join(text.split())


def _cut_lines(lines: Sequence[str]) -> list[str]:
    return [line[:MAX_LINE_CHARS] for line in lines[:MAX_LINES]]


def _fullmatch(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return pattern.fullmatch(text) if len(text) <= _LONGEST_EDIT else None


def _read_inline(text: str) -> str:
    """Return the proposal that a sentence consists of; "" for any other sentence."""
    for pattern in _EDITS:
        edit = _fullmatch(pattern, text)
        if edit is not None:
            old, new = (edit[key].strip("` ") for key in ("old", "new"))
            return f"change {_format_code(old)} to {_format_code(new)}" if old and new else ""
    question = _fullmatch(_ONLY_CODE, text)
    return f"use {question['new']}?" if question is not None and question["asks"] else ""


def _split_sides(block: str) -> tuple[list[str], list[str]]:
    """Return the old and the new lines of a diff block."""
    old: list[str] = []
    new: list[str] = []
    for line in block.split("\n"):
        if line.startswith(("@@", "---", "+++", "diff ", "index ", "\\")):
            continue
        sign, text = line[:1], line[1:]
        # Unchanged lines are the same on both sides, with their leading space or without it.
        if sign != "+":
            old.append(text if sign == "-" else line)
        if sign != "-":
            new.append(text if sign == "+" else line)
    return old, new


def find_replaced_lines(
    comment: Comment, file: ChangedFile | None, suggestion: Sequence[str]
) -> list[str]:
    """Find the lines that a suggestion in a comment replaces.

    Args:
        comment: The comment, with the lines that it is on.
        file: The changed file of the comment; None if unknown.
        suggestion: The lines of the suggestion.

    Returns:
        The lines that the comment is on. For a comment on no line, the lines of its hunk that the
        suggestion resembles. Empty if the lines are unknown.
    """
    line = comment.line
    if line is not None and not comment.outdated and file is not None:
        lines = _read_lines(comment, line, file)
        if lines:
            return lines
    if line is not None and not comment.diff_hunk:
        return []
    last = list(_read_last_lines(comment, file))
    if line is None:
        return _align_lines(last[-MAX_LINES:], suggestion, is_end=bool(comment.diff_hunk))
    return last[-(line - (comment.start_line or line) + 1) :]


def _read_lines(comment: Comment, end: int, file: ChangedFile) -> list[str]:
    """Return the lines that a comment is on, as far as the hunk with the last line has them."""
    start = max(comment.start_line or end, end - MAX_LINES + 1)
    index = file.hunk_at(comment.side, end)
    if index is None:
        return []
    hunk = file.hunks[index]
    # If a side of the hunk starts at line S, its line N is at least N - S lines below the top.
    first = max(0, start - hunk.range_of(comment.side)[0])
    lines: list[str] = []
    for line in hunk.lines[first:]:
        line_number = line.number_on(comment.side)
        if line_number is not None and start <= line_number <= end:
            lines.append(line.text)
            if line_number == end:
                break
    return lines


def _read_last_lines(comment: Comment, file: ChangedFile | None) -> Iterator[str]:
    """Yield the last lines of the hunk stored with a comment, or else of the file's only hunk.

    All lines are on the comment's side.
    """
    # The hunk that GitHub stores with a comment ends at the comment's line.
    max_lines = 4 * MAX_LINES
    if comment.diff_hunk:
        other_sign = "-" if comment.side is Side.NEW else "+"
        for line in comment.diff_hunk.rstrip("\n").split("\n")[-max_lines:]:
            if not line.startswith((other_sign, "@@ ", "\\")):
                yield line[1:]
    elif file is not None and len(file.hunks) == 1:
        kind = LineKind.REMOVED if comment.side is Side.NEW else LineKind.ADDED
        for diff_line in file.hunks[0].lines[-max_lines:]:
            if diff_line.kind is not kind:
                yield diff_line.text


def _align_lines(last: list[str], suggestion: Sequence[str], *, is_end: bool) -> list[str]:
    """Return as many of the last lines as a suggestion resembles most; empty if it resembles none.

    The number of lines is the one with the highest share of common words. An empty suggestion
    removes the last line. With `is_end`, the suggestion replaces at least the last line.
    """
    unmatched = Counter(word for line in suggestion for word in _CODE_WORD.findall(line))
    if not unmatched or not last:
        return last[-1:]
    total, common = unmatched.total(), 0
    shares: list[float] = []
    for line in reversed(last):
        for word in _CODE_WORD.findall(line[:MAX_LINE_CHARS]):
            total += 1
            if unmatched[word] > 0:
                unmatched[word] -= 1
                common += 1
        shares.append(2 * common / total)
    best = max(shares)
    if best < max(MIN_SIMILARITY, shares[0] + MIN_GAIN):
        keeps_last = _squeeze(last[-1]) in map(_squeeze, suggestion)
        return last[-1:] if is_end or keeps_last or best >= MIN_SIMILARITY else []
    return last[-shares.index(best) - 1 :]


LANGUAGE_IDENTITY: Final = f"1(py3langid-{version_of('py3langid')})"
"""Version of these rules and of the language detector, for the signature."""
NOT_READ: Final = "the text is not in English, so it was not read"
"""Reason why a text has no score."""
# With this value, only 1 of 4,286 real English comments is taken for another language, and 99 % of
# longer messages in 17 other languages are recognized (docs/design/005-encoders.md).
MIN_LOG_ODDS: Final = 12.0
"""Natural logarithm of the odds of another language against English, above which a text is not
English."""
MAX_CHARS: Final = 10_000
"""Maximum number of characters that are read to decide a text's language."""
# The detector chooses among these only, because short technical English resembles some other
# languages: "nit: multi-line?" Latin, "hahaha, nice" Tagalog. A text in a language that is not
# listed is still unlike English.
_LANGUAGES: Final = (
    "en ca cs da de es et eu fi fr gl hr hu id is it lt lv nl no pl pt ro sk sl sq sv tr vi"
)
# What is no evidence of a language: code spans; a few quoted words ('Typo: "Hinweis"'); single
# Greek letters ("λ is unused"); words with the characters of code ("getId()", "a/b.py:3", "UTF-8",
# "x=1"), but not "don't", "multi-line" or "(see below)".
_MASKED: Final = re.compile(
    rf"""{CODE_SPAN.pattern}|["“„«][^"“”„«»\n]{{1,40}}["”“»]|\b[\u0370-\u03ff]\b"""
    r"""|(?<![!-~])(?=[!-~]*?(?:[\d_@$\\]|[a-z][A-Z]|\w[!-&(-,./:-@\[-^{-~]+\w|\(\)|://))[!-~]+"""
)
# "don't", "größe", "请修复"; not "x2", "42"
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# A letter that is not Latin; the second range has the letters of Vietnamese.
_OTHER_LETTER: Final = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")
# Words that other languages also have are left out: German "will", Dutch "over".
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
        in_english: Whether the text is part of an English text. If so, one function word is enough
            for short texts, and texts of up to four words never go to the detector. Loading the
            detector takes a quarter of the time of a short run; with these rules, only 32 % of real
            comments need it, not 57 %.

    Example:
        >>> is_english("nit"), is_english("请修复: `foo` leaks"), is_english("Hier fehlt ein Test.")
        (True, False, False)
    """
    words = _WORD.findall(_MASKED.sub(" ", text[:MAX_CHARS]).lower())
    foreign_letters = sum(len(_OTHER_LETTER.findall(word)) for word in words)
    latin = [word for word in words if _OTHER_LETTER.search(word) is None]
    function_words = sum(word in _FUNCTION_WORDS for word in latin)
    # Most other scripts need about half as many letters as the Latin script. In a Chinese sentence,
    # English terms may have most of the letters, but they are no function words.
    is_foreign = 2 * foreign_letters > sum(map(len, latin))
    if foreign_letters > 1 and (is_foreign or (foreign_letters > 3 and not function_words)):
        return False
    enough = max(1 if in_english else 2, len(latin) / 12)
    if len(latin) < (5 if in_english else 2) or function_words >= enough:
        return True
    scores = dict(_load_detector().rank(" ".join(latin)))
    english = scores.pop("en")
    return bool(max(scores.values()) - english <= MIN_LOG_ODDS)


@lru_cache(maxsize=1)
def _load_detector() -> Any:
    """Load the detector, which takes 0.5 s and 60 MB."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # noqa: PLC0415

    full = LanguageIdentifier.from_model_file(MODEL_FILE)
    full.set_languages(_LANGUAGES.split())
    # A new detector has no table of all languages, which takes 27 MB in `full`.
    return LanguageIdentifier(
        full.nb_ptc, full.nb_pc, full.nb_classes, full.tk_nextmove, full.tk_output,
        tk_row=full.tk_row,
    )  # fmt: skip


def mark_unread(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Mark sentences that are not in English, and every sentence of a comment that is not."""
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
    """Return a note on how many comments have unread sentences; empty if all or none are unread.

    Args:
        sentences: All sentences of a review.
        remarks: Remarks of the review; sentences that a language model has read are not unread.
    """
    by_model = {index for remark in remarks if remark.reading for index in remark.sentences}
    unread = [item for i, item in enumerate(sentences) if item.unread and i not in by_model]
    if not unread or len(unread) == len(sentences):
        return ()
    count, total = (len({item.comment for item in items}) for items in (unread, sentences))
    return (f"Text in {count:,} of {total:,} comments was not read: it is not in English.",)
