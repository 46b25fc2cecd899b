"""Values that cross rooms, in the order of a run.

A diff; its pseudo-references (claims, and findings of static analysis); the comments of a review;
what the two sides score together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt


class LineKind(StrEnum):
    """Role of a line in a diff."""

    CONTEXT = "context"
    ADDED = "added"
    REMOVED = "removed"


class FileStatus(StrEnum):
    """Change of a file as a whole."""

    MODIFIED = "modified"
    ADDED = "added"
    DELETED = "deleted"
    RENAMED = "renamed"
    COPIED = "copied"
    MODE_CHANGED = "mode_changed"


class Side(StrEnum):
    """The version of a file that a line number counts in."""

    OLD = "old"
    NEW = "new"


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """One line of a hunk."""

    kind: LineKind
    """Added, removed or context."""
    text: str
    """The line without its sign and without its line end."""
    old: int | None
    """Line number in the old file; None for an added line."""
    new: int | None
    """Line number in the new file; None for a removed line."""
    ends_file_without_newline: bool = False
    """True when `\\ No newline at end of file` follows this line."""
    ends_with_crlf: bool = False
    """True when the line ends in CR LF; the CR is no part of `text`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One `@@` block."""

    old_start: int
    """First line in the old file; 0 for a new file."""
    old_length: int
    """Lines of the old file covered."""
    new_start: int
    """First line in the new file; 0 for a deleted file."""
    new_length: int
    """Lines of the new file covered."""
    section: str
    """The text git prints after the second `@@`; may be empty."""
    lines: tuple[DiffLine, ...]
    """All lines, in diff order."""

    def lines_of(self, *kinds: LineKind) -> tuple[DiffLine, ...]:
        """Return the lines of these kinds, in diff order; all lines without a kind."""
        return tuple(line for line in self.lines if not kinds or line.kind in kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One file of a diff."""

    path: str
    """Path in the new version; the old path for a deleted file; "" when unknown (a bare hunk)."""
    old_path: str | None
    """Path in the old version when it differs from `path`, else None."""
    status: FileStatus
    """Change of the file as a whole."""
    language: str | None
    """By the path's suffix (`python`, `json`, ...) or as the caller said; None if unknown."""
    hunks: tuple[Hunk, ...]
    """Empty for binary files, submodules, pure renames and mode changes."""
    is_binary: bool = False
    """The diff says only that the binary contents differ."""
    is_submodule: bool = False
    """The entry is a submodule (mode 160000)."""
    is_missing: bool = False
    """The host did not show what changed in it."""
    old_mode: str | None = None
    """File mode before, six octal digits, when the diff tells it."""
    new_mode: str | None = None
    """File mode after, six octal digits, when the diff tells it."""
    old_source: str | None = None
    """The whole old file, when the caller gave it."""
    new_source: str | None = None
    """The whole new file, when the caller gave it."""

    def lines(self, *kinds: LineKind) -> tuple[DiffLine, ...]:
        """Return the lines of these kinds of all hunks, in diff order; all without a kind."""
        return tuple(line for hunk in self.hunks for line in hunk.lines_of(*kinds))


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """A parsed change."""

    files: tuple[ChangedFile, ...]
    """In the order of the diff."""
    sha256: str
    """Hash of the diff's text as read, 64 hex digits; names the change in caches and recordings."""
    notes: tuple[str, ...] = ()
    """Repairs and omissions of the reader, one sentence each."""

    def lines(self, *kinds: LineKind) -> tuple[DiffLine, ...]:
        """Return the lines of these kinds of all files, in diff order; all without a kind."""
        return tuple(line for file in self.files for line in file.lines(*kinds))


@dataclass(frozen=True, slots=True, kw_only=True)
class LineSpan:
    """Lines of one side of one file."""

    path: str
    """The file's path on that side."""
    side: Side
    """Which version the numbers count in."""
    start: int
    """First line, 1-based; 0 for the file as a whole."""
    end: int
    """Last line, inclusive; 0 for the file as a whole."""


class ReferenceKind(StrEnum):
    """Kind of a pseudo-reference."""

    CLAIM = "claim"
    IMPLICATION = "implication"
    ISSUE = "issue"


@dataclass(frozen=True, slots=True, kw_only=True)
class PseudoReference:
    """Statement that a good review of the change should address."""

    text: str
    """One English sentence."""
    kind: ReferenceKind
    """Claim, implication or issue."""
    source: str
    """Who wrote it: a claim generator's or an analyzer's name."""
    spans: tuple[LineSpan, ...] = ()
    """The lines it stands on; empty when it speaks of the whole change."""
    identifiers: tuple[str, ...] = ()
    """The names of the code it stands on, most telling first."""
    reading: str = ""
    """The same statement as the encoder reads it, code in words; "" where `text` serves both."""
    weight: float = 1.0
    """How informative it is, in (0, 1]; orders references, does not enter the published score."""
    counted: bool = True
    """False when it is left out of the diff's comprehensiveness (over the claim limit)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Claims of a generator for one diff."""

    references: tuple[PseudoReference, ...]
    """Most informative first."""
    raw: str | None = None
    """The model's or recording's unparsed answer, when there was one."""
    notes: tuple[str, ...] = ()
    """Unreadable and omitted parts, one sentence each."""


class Severity(StrEnum):
    """How much a finding matters, as SARIF names it."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


SEVERITIES = tuple(Severity)
"""Worst first."""


class ToolState(StrEnum):
    """Outcome of a tool in a run."""

    RAN = "ran"
    MISSING = "missing"
    UNSUPPORTED = "unsupported version"
    FAILED = "failed"
    ABSTAINED = "abstained"


class Coverage(StrEnum):
    """How much of what should have been analysed was."""

    NONE = "none"
    PARTIAL = "partial"
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Finding of one tool."""

    tool: str
    """The tool's name."""
    rule: str
    """The tool's id of the rule; "" when it gave none."""
    path: str
    """Path in the diff."""
    line: int
    """First line, 1-based, in the new file; 0 for the file as a whole."""
    end_line: int
    """Last line, inclusive; equal to `line` when the tool names one."""
    message: str
    """The tool's own words."""
    text: str
    """One English sentence, as a reviewer would say it."""
    severity: Severity
    """How much it matters."""
    in_change: bool = False
    """True when it stands on a changed line."""
    pre_existing: bool = False
    """True when the old file had it on the same code."""
    is_style: bool = False
    """True for a matter of taste, which does not count."""
    counted: bool = False
    """True when it is a pseudo-reference, alone or as one with another tool's finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRun:
    """Run of one tool on one change."""

    tool: str
    """The tool's name."""
    version: str | None
    """Its version; None when it is not installed or does not say."""
    state: ToolState
    """Its outcome."""
    reason: str = ""
    """Why, when it did not simply read whole files: one clause."""
    files: int = 0
    """Files of the change that it read."""
    unread: tuple[str, ...] = ()
    """Files of the change that it should have read and could not."""

    @property
    def whole(self) -> bool:
        """True when it read all that it should have read, whole."""
        return self.state is ToolState.RAN and not self.unread and not self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """Findings of all tools for one change."""

    findings: tuple[Finding, ...] = ()
    """By path, line, tool, rule and text."""
    tools: tuple[ToolRun, ...] = ()
    """The tools that have something to say on the change's files, by name."""
    notes: tuple[str, ...] = ()
    """Omissions, one sentence each."""

    @property
    def coverage(self) -> Coverage:
        """`none` without tools that concern the change, `complete` when each read its files."""
        if not self.tools:
            return Coverage.NONE
        return Coverage.COMPLETE if all(run.whole for run in self.tools) else Coverage.PARTIAL

    @property
    def identity(self) -> str:
        """Names the tools with their versions, for the signature.

        Example:
            >>> Analysis().identity
            'none'
            >>> ruff = ToolRun(tool="ruff", version="0.17.6", state=ToolState.RAN, files=1)
            >>> pmd = ToolRun(tool="pmd", version=None, state=ToolState.MISSING)
            >>> Analysis(tools=(pmd, ruff)).identity
            'ruff@0.17.6,partial'
        """
        return analyzers_identity([self])


def analyzers_identity(analyses: Sequence[Analysis]) -> str:
    """Name the tools of several changes with their versions.

    Args:
        analyses: Of the changes.

    Returns:
        `none` when no tool spoke and none should have; ends in `partial` when some tool did not
        read all that it should have read.
    """
    ran = {
        f"{run.tool}@{run.version}" if run.version else run.tool
        for analysis in analyses
        for run in analysis.tools
        if run.state is ToolState.RAN
    }
    partial = any(analysis.coverage is Coverage.PARTIAL for analysis in analyses)
    return (
        ",".join([*sorted(ran), *([Coverage.PARTIAL.value] if partial else [])])
        or Coverage.NONE.value
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """One review comment as it was given."""

    body: str
    """Markdown or plain text."""
    path: str | None = None
    """File it is attached to; None for unattached text."""
    line: int | None = None
    """Line it is attached to, in `side`; None when unattached or attached to the file."""
    start_line: int | None = None
    """First line of a comment on several lines."""
    side: Side = Side.NEW
    """Side that `line` counts in."""
    outdated: bool = False
    """True when `line` counts in an older version of the change, so `diff_hunk` knows better."""
    diff_hunk: str | None = None
    """The hunk it was written on, as GitHub keeps it."""
    author: str | None = None
    """Login, or None when unknown."""
    id: str | None = None
    """The host's id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One unit of a review."""

    text: str
    """Plain text: Markdown resolved, code spans kept with their backticks."""
    comment: int
    """Index of its comment in the result's `comments`."""
    hidden: bool = False
    """True for text that a reader of the rendered comment does not see."""


class Flag(StrEnum):
    """Oddity of a sentence of a review."""

    RESTATES = "restates the change"
    REPEATS = "repeats an earlier sentence"
    ADDRESSES_SCORER = "speaks to the scorer"
    NO_SENTENCE = "is no sentence"
    HIDDEN = "is hidden from readers"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedComment:
    """A comment split into what is read and what is kept apart."""

    sentences: tuple[str, ...]
    """Plain text units, in order."""
    suggestions: tuple[str, ...] = ()
    """Contents of ```suggestion blocks."""
    code_blocks: tuple[str, ...] = ()
    """Contents of other fenced or indented code blocks."""
    hidden: tuple[str, ...] = ()
    """Plain text units that a reader does not see, with what machines left for each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The three scores of one text against one set of pseudo-references, or an abstention.

    The four counts are the sufficient statistics: resampling adds them up and
    never encodes again.
    """

    conciseness: float | None
    """Share of sentences that address a pseudo-reference, in [0, 1]."""
    comprehensiveness: float | None
    """Share of pseudo-references that a sentence addresses, in [0, 1]."""
    relevance: float | None
    """Harmonic mean of the two, in [0, 1]."""
    matched_sentences: float
    """Numerator of conciseness: a count, or a sum of degrees in [0, 1]."""
    sentences: int
    """Denominator of conciseness."""
    matched_references: float
    """Numerator of comprehensiveness: a count, or a sum of degrees in [0, 1]."""
    references: int
    """Denominator of comprehensiveness."""
    reason: str | None = None
    """Why the three are None; None when they are numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A sentence's best pseudo-reference, or a pseudo-reference's best sentence."""

    index: int | None
    """Index of the partner in the result; None when there was none to compare with, or when it
    belongs to an older version of the change."""
    similarity: float | None
    """Cosine similarity to the partner, in [-1, 1]; None without an index."""
    degree: float | None
    """How far they address each other, in [0, 1], by the matcher; None when there was none."""
    matched: bool
    """True when the matcher takes the pair as addressing each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """Two trivial measures that a score has to beat; shown beside it, never in it."""

    words: int
    """Words in the review."""
    repeated_tokens: float | None
    """Share of the diff's distinct tokens in the review, in [0, 1]; None without tokens."""


class ScopeKind(StrEnum):
    """How much of the diff a comment is scored against."""

    HUNK = "hunk"
    FILE = "file"
    DIFF = "diff"
    ORIGINAL = "original"
    """The hunk of an older version of the change, on which an outdated comment was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Part of the change that a comment was scored against."""

    kind: ScopeKind
    """Hunk, file or the whole diff."""
    path: str | None = None
    """The file, unless the scope is the whole diff."""
    hunk: int | None = None
    """Index of the hunk in its file, when the scope is a hunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentResult:
    """One comment, scored against the part of the diff it is attached to."""

    comment: Comment
    """As given."""
    scope: Scope
    """The part of the change it was scored against."""
    scores: Scores
    """Against the pseudo-references of the scope."""
    sentences: tuple[int, ...]
    """Indices into the result's `sentences`."""
    references: tuple[int, ...]
    """Indices into the result's `references`: the scope's."""
    suggestions: tuple[str, ...] = ()
    """Suggested code, kept apart from the sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewResult:
    """All comments of one author, scored against the whole diff."""

    author: str | None
    """Login, or None for unattributed text."""
    scores: Scores
    """Conciseness over all its sentences, comprehensiveness over the diff's references."""
    baselines: Baselines
    """Of all its comments together."""
    comments: tuple[int, ...]
    """Indices into the result's `comments`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Result:
    """Everything a report needs; a report computes no score."""

    diff: Diff
    """The change."""
    references: tuple[PseudoReference, ...]
    """The R pseudo-references that some score used; `counted` ones make up the diff's set."""
    sentences: tuple[Sentence, ...]
    """The S sentences of all comments."""
    similarity: npt.NDArray[np.float32]
    """Cosine similarities, shape (R, S), each in [-1, 1], read-only."""
    degrees: npt.NDArray[np.float32]
    """The matcher's judgement of each cell, shape (R, S), each in [0, 1], read-only."""
    sentence_flags: tuple[Flag | None, ...]
    """For each sentence, what the matcher found odd about it; None mostly."""
    sentence_matches: tuple[Match, ...]
    """For each sentence, its best pseudo-reference among the counted ones."""
    reference_matches: tuple[Match, ...]
    """For each pseudo-reference, its best sentence."""
    comments: tuple[CommentResult, ...]
    """Every comment, in the order given."""
    reviews: tuple[ReviewResult, ...]
    """One for each author, in order of first appearance."""
    scores: Scores
    """All comments together against the whole diff."""
    baselines: Baselines
    """Of all comments together."""
    threshold: float | None
    """The cosine threshold used; None for a matcher without one."""
    decision: float
    """The degree from which a pair counts as matched, in (0, 1)."""
    analysis: Analysis = field(default_factory=Analysis)
    """Static analysis of the change, counted or not."""
    signature: str
    """Same signature, same score."""
    notes: tuple[str, ...] = ()
    """Omissions and repairs on the way, one sentence each."""

    @property
    def conciseness(self) -> float | None:
        """Share of sentences that are on topic, in [0, 1]; None when abstained."""
        return self.scores.conciseness

    @property
    def comprehensiveness(self) -> float | None:
        """Share of pseudo-references addressed, in [0, 1]; None when abstained."""
        return self.scores.comprehensiveness

    @property
    def relevance(self) -> float | None:
        """Harmonic mean of the two, in [0, 1]; None when abstained."""
        return self.scores.relevance
