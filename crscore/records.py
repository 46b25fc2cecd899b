"""Values that cross modules, in the order of a run.

A diff; its pseudo-references (claims, and findings of static analysis); the comments of a review;
the scores of the two sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class LineKind(StrEnum):
    """Role of a line in a diff."""

    CONTEXT = "context"
    ADDED = "added"
    REMOVED = "removed"


# git writes the status in extended headers: https://git-scm.com/docs/diff-generate-patch
class FileStatus(StrEnum):
    """What a change does to a file as a whole."""

    MODIFIED = "modified"
    ADDED = "added"
    DELETED = "deleted"
    RENAMED = "renamed"
    COPIED = "copied"
    MODE_CHANGED = "mode_changed"


class Side(StrEnum):
    """Version of a file that a line number refers to."""

    OLD = "old"
    NEW = "new"

    @property
    def changed_kind(self) -> LineKind:
        """Kind of the lines that only this version has."""
        return LineKind.REMOVED if self is Side.OLD else LineKind.ADDED


class DiffLine(msgspec.Struct, frozen=True, kw_only=True):
    """Line of a hunk."""

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
    """True when the line ends in CR LF; the CR is not part of `text`."""

    def number_on(self, side: Side) -> int | None:
        """Return the line number in one version; None if the version lacks the line."""
        return self.old if side is Side.OLD else self.new


class Hunk(msgspec.Struct, frozen=True, kw_only=True):
    """Hunk: one `@@` block."""

    old_start: int
    """First line in the old file; 0 for a new file."""
    old_length: int
    """Number of lines of the old file covered."""
    new_start: int
    """First line in the new file; 0 for a deleted file."""
    new_length: int
    """Number of lines of the new file covered."""
    section: str
    """Text that git prints after the second `@@`; may be empty."""
    lines: tuple[DiffLine, ...]
    """All lines, in diff order."""

    def lines_of(self, *kinds: LineKind) -> tuple[DiffLine, ...]:
        """Return the lines of these kinds, in diff order; all lines without a kind."""
        return tuple(line for line in self.lines if not kinds or line.kind in kinds)

    def range_of(self, side: Side) -> tuple[int, int]:
        """Return the first line and the number of lines on one side."""
        if side is Side.OLD:
            return self.old_start, self.old_length
        return self.new_start, self.new_length


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True):
    """File of a diff."""

    path: str
    """Path in the new version; the old path for a deleted file; "" when unknown (a bare hunk)."""
    old_path: str | None
    """Path in the old version when it differs from `path`, else None."""
    status: FileStatus
    """Change of the file as a whole."""
    language: str | None
    """By the path's suffix (`python`, `json`, ...) or set by the caller; None if unknown."""
    hunks: tuple[Hunk, ...]
    """Empty for binary files, submodules, pure renames and mode changes."""
    is_binary: bool = False
    """Whether the diff only reports that the binary contents differ."""
    is_submodule: bool = False
    """The entry is a submodule (mode 160000)."""
    missing: str = ""
    """Reason why its changes are unknown, a clause; empty if they are known."""
    old_mode: str | None = None
    """File mode before, six octal digits, when given in the diff."""
    new_mode: str | None = None
    """File mode after, six octal digits, when given in the diff."""
    old_source: str | None = None
    """Full old file, if given by the caller."""
    new_source: str | None = None
    """Full new file, if given by the caller."""

    def path_on(self, side: Side) -> str:
        """Return the path in one version."""
        return self.old_path or self.path if side is Side.OLD else self.path

    def source_on(self, side: Side) -> str:
        """Return the full file in one version; empty if it is unknown."""
        return (self.old_source if side is Side.OLD else self.new_source) or ""

    @property
    def is_missing(self) -> bool:
        """Whether its changes are unknown."""
        return bool(self.missing)

    @property
    def shows_text(self) -> bool:
        """Whether the diff shows its content."""
        return not (self.is_binary or self.is_submodule or self.missing)

    def lines(self, *kinds: LineKind) -> tuple[DiffLine, ...]:
        """Return the lines of these kinds of all hunks, in diff order; all without a kind."""
        return tuple(line for hunk in self.hunks for line in hunk.lines_of(*kinds))

    def hunk_at(self, side: Side, line: int) -> int | None:
        """Return the index of the hunk that contains a line of one side."""
        for index, hunk in enumerate(self.hunks):
            start, length = hunk.range_of(side)
            if start <= line < start + length:
                return index
        return None


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """Parsed change."""

    files: tuple[ChangedFile, ...]
    """Files in diff order."""
    sha256: str
    """Hash of the diff's text as read, 64 hex digits; identifies it in caches and recordings."""
    notes: tuple[str, ...] = ()
    """Repairs and omissions of the reader, one sentence each."""

    @property
    def shows_text(self) -> bool:
        """Whether the content of a file is shown."""
        return any(file.shows_text for file in self.files)

    def lines(self, *kinds: LineKind) -> tuple[DiffLine, ...]:
        """Return the lines of these kinds of all files, in diff order; all without a kind."""
        return tuple(line for file in self.files for line in file.lines(*kinds))

    def file_at(self, path: str, side: Side = Side.NEW) -> ChangedFile | None:
        """Find a changed file by its path.

        A new file can take the old name of a renamed one, so the side decides which of the two
        names is tried first. A diff that is one bare hunk has no path: its only file matches any.

        Args:
            path: A new or old path.
            side: The side whose names are tried first.

        Returns:
            The file, or None if the diff does not change it.
        """
        path = path.removeprefix("./")
        # If a series changes a file several times, comments are on its last version.
        new = next((file for file in reversed(self.files) if file.path == path), None)
        old = next((file for file in self.files if file.old_path == path), None)
        file = (new or old) if side is Side.NEW else (old or new)
        if file is None and len(self.files) == 1 and self.files[0].path == "":
            return self.files[0]
        return file


class LineSpan(msgspec.Struct, frozen=True, kw_only=True):
    """Range of lines on one side of one file."""

    path: str
    """The file's path on that side."""
    side: Side
    """Version that the numbers refer to."""
    start: int
    """First line, 1-based; 0 for the file as a whole."""
    end: int
    """Last line, inclusive; 0 for the file as a whole."""


class ReferenceKind(StrEnum):
    """Kind of a pseudo-reference."""

    CLAIM = "claim"
    IMPLICATION = "implication"
    ISSUE = "issue"


class TopicState(StrEnum):
    """What a change does to a topic."""

    NEW = "new"
    REMOVED = "removed"
    RENAMED = "renamed"
    MOVED = "moved"
    CHANGED = "changed"
    LAYOUT = "only layout"
    COMMENTS = "only comments"


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    """Unit of a change that a reader would name: a function, a type, a test, a section, a file."""

    name: str
    """Its name, or its file's path; may be empty for a hunk without a path."""
    noun: str
    """Kind of unit: `method`, `class`, `section`, `file`."""
    state: TopicState
    """Change of the unit."""
    lines: int
    """Number of changed lines that belong to it, at least 0."""
    place: LineSpan
    """Its lines: in the new version, or in the old one if it was removed."""


class PseudoReference(msgspec.Struct, frozen=True, kw_only=True):
    """Statement that a good review of the change should address."""

    text: str
    """One English sentence."""
    kind: ReferenceKind
    """Claim, implication or issue."""
    source: str
    """Name of the claim generator or analyzer."""
    spans: tuple[LineSpan, ...] = ()
    """Lines that it is about; empty if it is about the entire change."""
    identifiers: tuple[str, ...] = ()
    """Names of the code it is about, most informative first."""
    reading: str = ""
    """The statement as the encoder reads it, with code in words; "" if the encoder reads `text`."""
    weight: float = 1.0
    """How informative it is, in (0, 1]: orders references, does not affect the published score."""
    counted: bool = True
    """False when it is left out of the diff's comprehensiveness (over the claim limit)."""
    topic: Topic | None = None
    """The unit of the change that it is about; None if the generator knows no unit."""

    @property
    def encoded_text(self) -> str:
        """The text that the encoder reads."""
        return self.reading or self.text


class Claims(msgspec.Struct, frozen=True, kw_only=True):
    """Claims of a generator for one diff."""

    references: tuple[PseudoReference, ...]
    """Most informative first."""
    raw: str | None = None
    """The model's or recording's unparsed answer, when there was one."""
    notes: tuple[str, ...] = ()
    """Unreadable and omitted parts, one sentence each."""


# SARIF 2.1.0, section 3.27.10, has these levels and `none`.
class Severity(StrEnum):
    """Severity of a finding, as in SARIF."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


SEVERITIES = tuple(Severity)
"""Severities, worst first."""


class ToolState(StrEnum):
    """Outcome of a tool in a run."""

    RAN = "ran"
    MISSING = "missing"
    UNSUPPORTED = "unsupported version"
    FAILED = "failed"
    ABSTAINED = "abstained"


class Coverage(StrEnum):
    """Completeness of the static analysis."""

    NONE = "none"
    PARTIAL = "partial"
    COMPLETE = "complete"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Finding of one tool."""

    tool: str
    """The tool's name."""
    rule: str
    """The tool's id of the rule; "" when missing."""
    path: str
    """Path in the diff."""
    line: int
    """First line, 1-based, in the new file; 0 for the file as a whole."""
    end_line: int
    """Last line, inclusive; equal to `line` when the tool names one."""
    message: str
    """Message of the tool."""
    text: str
    """One English sentence, as a reviewer would write it."""
    severity: Severity
    """How serious the finding is, mapped from the tool's own levels."""
    in_change: bool = False
    """Whether it is on a changed line."""
    pre_existing: bool = False
    """True when the old file had it on the same code."""
    is_style: bool = False
    """Whether it is a matter of style, which is no pseudo-reference."""
    counted: bool = False
    """Whether it is a pseudo-reference, alone or merged with another tool's finding."""


class ToolRun(msgspec.Struct, frozen=True, kw_only=True):
    """Run of one tool on one change."""

    tool: str
    """The tool's name."""
    version: str | None
    """Version of the tool; None when it is not installed or unknown."""
    state: ToolState
    """Outcome of the run."""
    reason: str = ""
    """Reason, one clause; "" if all files were read in full."""
    files: int = 0
    """Number of files of the change that were read."""
    unread: tuple[str, ...] = ()
    """Files of the change that could not be read."""

    @property
    def whole(self) -> bool:
        """Whether it read all files that it should have read, in full."""
        return self.state is ToolState.RAN and not self.unread and not self.reason


# docs/design/013-untrusted-code.md lists the systems.
UNCONFINED: Final = "sandbox:none"
"""Word in a signature: this system cannot deny the network to analyzers."""


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """Findings of all tools for one change."""

    findings: tuple[Finding, ...] = ()
    """By path, line, tool, rule and text."""
    tools: tuple[ToolRun, ...] = ()
    """Tools that apply to the change's files, by name."""
    notes: tuple[str, ...] = ()
    """Omissions, one sentence each."""
    confined: bool = True
    """False when this system cannot deny the network to tools, and one ran or should have run."""

    @property
    def coverage(self) -> Coverage:
        """`none` without tools that concern the change, `complete` when each read its files."""
        if not self.tools:
            return Coverage.NONE
        return Coverage.COMPLETE if all(run.whole for run in self.tools) else Coverage.PARTIAL

    @property
    def identity(self) -> str:
        """Tools with their versions, for the signature.

        `none` if no tool ran or should have run. `partial` follows the tools if one of them did not
        read all that it should have read, then `UNCONFINED` if they were not confined.

        Example:
            >>> Analysis().identity
            'none'
            >>> ruff = ToolRun(tool="ruff", version="0.17.6", state=ToolState.RAN, files=1)
            >>> pmd = ToolRun(tool="pmd", version=None, state=ToolState.MISSING)
            >>> Analysis(tools=(pmd, ruff)).identity
            'ruff@0.17.6,partial'
        """
        tools = {
            f"{run.tool}@{run.version}" if run.version else run.tool
            for run in self.tools
            if run.state is ToolState.RAN
        }
        partial = [Coverage.PARTIAL.value] if self.coverage is Coverage.PARTIAL else []
        unconfined = [] if self.confined else [UNCONFINED]
        return ",".join([*sorted(tools), *partial, *unconfined]) or Coverage.NONE.value


# Lines are given as in https://docs.github.com/en/rest/pulls/comments; GitLab's are converted.
class Comment(msgspec.Struct, frozen=True, kw_only=True):
    """Review comment before parsing."""

    body: str
    """Markdown or plain text."""
    path: str | None = None
    """File it is attached to; None for unattached text."""
    line: int | None = None
    """Line it is attached to, in `side`; None when unattached or attached to the file."""
    start_line: int | None = None
    """First line of a comment on several lines."""
    side: Side = Side.NEW
    """Side that `line` refers to."""
    outdated: bool = False
    """Whether `line` refers to an older version of the change, so that `diff_hunk` is preferred."""
    earlier: bool = False
    """Whether it was written on an older version of the change, though its line is still there."""
    diff_hunk: str | None = None
    """Hunk it was written on, as stored by GitHub."""
    author: str | None = None
    """Login, or None when unknown."""
    id: str | None = None
    """Id on the host."""

    @property
    def is_older(self) -> bool:
        """Whether it was written on an older version of the change."""
        return self.outdated or self.earlier

    def spanning(self, offsets: tuple[int, int] | None) -> Comment:
        """Return the comment with the lines that one of its suggestion blocks replaces.

        Args:
            offsets: Number of lines above and below its line; None for exactly its lines.
        """
        if offsets is None or self.line is None:
            return self
        start, line = max(self.line - offsets[0], 1), self.line + offsets[1]
        return msgspec.structs.replace(self, start_line=start if start < line else None, line=line)


class Position(msgspec.Struct, frozen=True):
    """Position of a sentence in the layout of its comment."""

    block: int = 0
    """Number of its paragraph, list item, table cell or heading, from 0."""
    is_heading: bool = False
    """Whether it is in a heading, or in a paragraph that is all bold."""
    severity: str | None = None
    """Severity that a label beside it names: `critical`, `high`, `medium` or `low`."""


class Sentence(msgspec.Struct, frozen=True, kw_only=True):
    """Sentence, the unit of a review."""

    text: str
    """Plain text: Markdown resolved, code spans kept with their backticks."""
    comment: int
    """Index of its comment in the result's `comments`."""
    hidden: bool = False
    """True for text that a reader of the rendered comment does not see."""
    proposal: bool = False
    """True for proposed code, paraphrased."""
    position: Position = Position()
    """Its position in the layout of its comment."""
    unread: bool = False
    """True for text that is not in English, which the encoder cannot read."""


class Flag(StrEnum):
    """Irregularity of a sentence of a review."""

    RESTATES = "restates the change"
    REPEATS = "repeats an earlier sentence"
    NO_SENTENCE = "is no sentence"
    HIDDEN = "is hidden from readers"
    NOT_ENGLISH = "is not in English"


class Stance(StrEnum):
    """Purpose of a text of a review for the author of the change."""

    REQUEST = "asks for a change"
    PROBLEM = "names a problem"
    PROPOSAL = "proposes code"
    QUESTION = "asks a question"
    EXPLANATION = "explains"
    PRAISE = "praises"
    DESCRIPTION = "describes the change"
    OTHER = "talks about something else"


class Importance(StrEnum):
    """Harm of a merge that ignores a remark, if the remark is right."""

    CRITICAL = "critical"
    """Security, loss of data, a crash, wrong results, a broken interface or build."""
    MAJOR = "major"
    """Missing validation or error handling, a race, a bug under odd conditions, performance."""
    MINOR = "minor"
    """Design, tests, duplication, clarity."""
    NIT = "nit"
    """Naming, layout, wording of comments."""


MAX_IMPORTANCE: Final = 4
"""Importance of a critical remark."""
# The scale of the guide for readers, `prompts/read.v1.toml`.
LEAST_WORTH: Final = 1.0
"""Worth of a remark with nothing to act on, or about something else."""
MAX_WORTH: Final = 5.0
ACTIONABLE_FROM: Final = 0.5
"""Minimum `actionable` of a text that needs an answer."""
# A remark with a lower probability is worth nothing (docs/design/010-usefulness.md).
ON_TOPIC: Final = 0.25
"""Minimum `about` of a text that is about the change."""
OFF_TOPIC: Final = "off topic"
"""Word for a review without a remark about the change."""


# docs/design/028-verdicts.md
class Verdict(StrEnum):
    """Verdict on a remark's statement about the code."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNPROVEN = "unproven"
    """Undecided: the default."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """Proof of a verdict."""

    verdict: Verdict
    """Confirmed or refuted."""
    says: str
    """Claim of the remark about the code: a clause without an end mark, after "says that"; empty if
    a language model judges the remark as a whole."""
    fact: str
    """Fact about the code: one sentence."""
    lines: tuple[LineSpan, ...] = ()
    """Lines that prove it; empty if the proof is that code is absent."""


# `prompts/read.v1.toml` asks for these words.
class Holds(StrEnum):
    """Whether a remark is right, as a reader of the code judges it."""

    YES = "yes"
    NO = "no"
    OPEN = "open"
    """The code does not decide it, or the remark states nothing."""


class RemarkReading(msgspec.Struct, frozen=True, kw_only=True):
    """Reading of a remark by a language model, on the scale of `prompts/read.v1.toml`."""

    stance: Stance
    """Purpose of the remark."""
    importance: float
    """Harm of a merge that ignores the remark, if it is right, from 0 (none) to 4 (critical)."""
    worth: float
    """How glad the author of the change should be to get the remark, from 1 to 5."""
    specific: float
    """Share of authors who would know from the remark what to do and where, in [0, 1]."""
    acts: float
    """Share of authors who would change the code because of the remark, in [0, 1]."""
    holds: Holds
    """Whether the remark is right."""
    line: LineSpan | None
    """Line of the code that decides whether the remark is right; None without one."""
    why: str
    """One sentence about that line; may be empty."""

    @property
    def is_doubt(self) -> bool:
        """Whether it calls the remark wrong without a line that shows it."""
        return self.holds is Holds.NO and self.line is None


class Subject(StrEnum):
    """Subject of a sentence of a review."""

    CLAIM = "a claim"
    CHANGE = "the change as a whole"
    SURROUNDINGS = "its surroundings"
    ELSEWHERE = "something else"


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Reading of a sentence of a review, as the author of the change would take it."""

    stance: Stance
    """Purpose of the sentence."""
    actionable: float
    """Probability that the author of the change has something to answer, in [0, 1]."""
    about: float
    """Probability that it is about this change and no other, in [0, 1]."""
    subject: Subject
    """What it is about: a claim, the whole change, its surroundings, or something else."""
    reference: int | None
    """Index of the claim that it is about in the result; None for any other subject."""


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """One point of a comment: its sentences, proposals and code."""

    comment: int
    """Index of its comment in the result."""
    sentences: tuple[int, ...]
    """Indices of its sentences and proposals in the result."""
    stance: Stance
    """Its purpose."""
    actionable: float
    """Probability that the author of the change has something to answer, in [0, 1]."""
    importance: float
    """Harm of a merge that ignores it, if it is right: 0 (nothing at stake) to 4 (critical)."""
    level: Importance
    """The importance as a word."""
    about: float
    """Probability that it is about this change and no other, in [0, 1]."""
    worth: float
    """How glad the author of the change should be to get it: an expected value, from 1 to 5."""
    specific: float
    """Probability that it says enough to act on, in [0, 1]."""
    acts: float
    """Probability that the author changes the code for it, in [0, 1]."""
    receipt: Receipt | None = None
    """Proof for or against its statement about the code; None if undecided."""
    labelled: str | None = None
    """Severity that its writer's label names: `critical`, `high`, `medium` or `low`."""
    reading: RemarkReading | None = None
    """Reading by a language model; None if the network alone read it."""

    @property
    def verdict(self) -> Verdict:
        """Verdict on its statement about the code."""
        return self.receipt.verdict if self.receipt else Verdict.UNPROVEN

    @property
    def is_limited(self) -> bool:
        """Whether its worth is below the model's, because the network's reading limits it."""
        reading = self.reading
        # A hidden or repeated remark is not counted: it is worth nothing in any case.
        return bool(reading and not reading.is_doubt and LEAST_WORTH < self.worth < reading.worth)

    @property
    def is_valuable(self) -> bool:
        """Whether it gives the author of the change something to answer about the change."""
        return (
            self.actionable >= ACTIONABLE_FROM
            and self.about >= ON_TOPIC
            and self.verdict is not Verdict.REFUTED
        )


class Aspects(msgspec.Struct, frozen=True, kw_only=True):
    """Estimates of how people would rate a comment, each a probability in [0, 1]."""

    relevant: float
    """It is about the change and needs no other context."""
    informative: float
    """It is specific enough to act on."""
    clear: float
    """It is clear and civil."""


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """Share of a remark in the value of a review."""

    remark: int
    """Index of the remark in the result."""
    value: float
    """Contribution of its worth to the value, in [0, 1]."""


class Usefulness(msgspec.Struct, frozen=True, kw_only=True):
    """Usefulness of a text to the author of the change: the headline."""

    about: float
    """Probability that the text is about this change and no other, in [0, 1]."""
    importance: float
    """Highest importance of a valuable remark, as a share of its scale, in [0, 1]."""
    aspects: Aspects
    """Estimates of how people would rate it."""
    shares: tuple[Share, ...]
    """Share of each remark in the value, the most valuable first."""
    taken_off: float
    """Deduction from the value for empty remarks, in [0, 1]."""
    value: float
    """Sum of the shares minus the deduction, in [0, 1]."""
    standing: int
    """Share of real texts of the comparison set that are less useful, in percent, 0 to 100."""
    low: int
    """Lower end of the interval that contains, in four of five cases, the standing that results
    from readers' ratings of the text, 0 to 100."""
    high: int
    """Upper end of the interval."""
    among_bots: int
    """Standing among only the reviews by bots, or comments by bots, 0 to 100."""
    word: str
    """The middle of the interval as a word, or `OFF_TOPIC`."""
    against: str
    """The comparison set: "612 reviews by people and bots"."""

    @property
    def interval(self) -> str:
        """The standing and its interval: "64 (35 to 85)"."""
        return f"{self.standing} ({self.low} to {self.high})"

    @property
    def comparison(self) -> str:
        """The standing in words: "better than 61 % of 612 reviews, 55 % of the bots'"."""
        # The standing is rounded, so "better than 0 %" could be wrong.
        share = {0: "hardly any", 100: "nearly all"}.get(self.standing, f"{self.standing} %")
        return f"better than {share} of {self.against}, {self.among_bots} % of the bots'"


class ParsedComment(msgspec.Struct, frozen=True, kw_only=True):
    """Comment split into sentences and separate parts."""

    sentences: tuple[str, ...]
    """Plain text units, in order."""
    positions: tuple[Position, ...] = ()
    """Position of each sentence; empty when the layout was not read."""
    suggestions: tuple[str, ...] = ()
    """Contents of ```suggestion blocks."""
    suggestion_offsets: tuple[tuple[int, int] | None, ...] = ()
    """Lines that each block replaces above and below its comment's line (`suggestion:-1+2` of
    GitLab); None for the lines of the comment."""
    code_blocks: tuple[str, ...] = ()
    """Contents of other fenced or indented code blocks."""
    diffs: tuple[str, ...] = ()
    """Contents of ```diff blocks."""
    follows: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Content of a block of code -> index of the text block that it follows; -1 at the start."""
    proposals: tuple[str, ...] = ()
    """Changes that its code proposes, one short text each; only if the change is known."""
    proposal_positions: tuple[Position, ...] = ()
    """Position of each proposal: the position of the text before it."""
    hidden: tuple[str, ...] = ()
    """Plain text units that a reader does not see, including markers of machines."""


class Effect(StrEnum):
    """Part of the code that a suggestion changes."""

    NOTHING = "nothing"
    WHITE_SPACE = "white space"
    """White space, or the kind of a string's quotes, without meaning in the language."""
    COMMENTS = "comments"
    NAMES = "names"
    """Names that the file defines and uses only in the replaced lines."""
    BEHAVIOUR = "behaviour"
    """Anything else, so perhaps what the code does."""


class Suggestion(msgspec.Struct, frozen=True, kw_only=True):
    """Suggestion block of a comment, judged at its location."""

    code: str
    """Content of the block."""
    applies: bool | None = None
    """Whether the host can apply it; None if its location is unknown."""
    parses: bool | None = None
    """Whether the file parses with it; None without a location or a grammar, or if it did not
    parse before."""
    effect: Effect | None = None
    """Part of the code that it changes; None without a location or a grammar, or if the
    grammar cannot read the lines."""
    reason: str | None = None
    """Reason why it does not apply or why a field is unknown, a clause; else None."""


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """The three scores of one text against one set of pseudo-references, or the reason for none.

    The four counts are the sufficient statistics: resampling adds them up without encoding again.
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
    """Reason why the three are None; None when they are numbers."""


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """Best pseudo-reference of a sentence, or best sentence of a pseudo-reference.

    If any partner is addressed, the best is one of those; among them, the highest degree decides.
    """

    index: int | None
    """Index of the partner in the result; None when there was none to compare with, or when it
    belongs to an older version of the change."""
    similarity: float | None
    """Cosine similarity to the partner, in [-1, 1]; None without an index."""
    degree: float | None
    """Degree to which they address each other, in [0, 1]; None without an index."""
    matched: bool
    """Whether the sentence addresses the pseudo-reference: by the degree, as its subject, or by a
    name of its code."""


class Baselines(msgspec.Struct, frozen=True, kw_only=True):
    """Two trivial measures that a score must beat; they are reported with it but not part of it."""

    words: int
    """Words in the review."""
    repeated_tokens: float | None
    """Share of the diff's distinct tokens in the review, in [0, 1]; None without tokens."""


class ScopeKind(StrEnum):
    """Part of the diff that a comment is scored against."""

    HUNK = "hunk"
    FILE = "file"
    DIFF = "diff"
    ORIGINAL = "original"
    """The hunk of an older version of the change that an outdated comment was written on."""


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Part of the change that a comment was scored against."""

    kind: ScopeKind
    """Hunk, file or the whole diff."""
    path: str | None = None
    """The file, unless the scope is the whole diff."""
    hunk: int | None = None
    """Index of the hunk in its file, when the scope is a hunk."""


class CommentResult(msgspec.Struct, frozen=True, kw_only=True):
    """Comment, scored against the part of the diff it is attached to."""

    comment: Comment
    """Comment as given."""
    scope: Scope
    """Part of the change it was scored against."""
    scores: Scores
    """Scores against the pseudo-references of the scope."""
    sentences: tuple[int, ...]
    """Indices into the result's `sentences`."""
    references: tuple[int, ...]
    """Indices into the result's `references`, for the scope."""
    suggestions: tuple[Suggestion, ...] = ()
    """Suggestion blocks, kept apart from the sentences."""
    usefulness: Usefulness | None = None
    """Its usefulness; None without a text, or without weights for the encoder."""


class ReviewResult(msgspec.Struct, frozen=True, kw_only=True):
    """All comments of one author, scored against the whole diff."""

    author: str | None
    """Login, or None for unattributed text."""
    scores: Scores
    """Conciseness over all its sentences, comprehensiveness over the diff's references."""
    baselines: Baselines
    """Baselines of all its comments together."""
    comments: tuple[int, ...]
    """Indices into the result's `comments`."""
    usefulness: Usefulness | None = None
    """Usefulness of its comments together; None as for a comment."""


class Result(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Everything that a report needs; reports compute no scores.

    Two results are equal if all fields are, also after pickling.
    """

    diff: Diff
    """The change."""
    references: tuple[PseudoReference, ...]
    """The R pseudo-references that some score used; `counted` ones make up the diff's set."""
    small: tuple[Topic, ...] = ()
    """Topics of the change without a counted reference, the most informative first."""
    sentences: tuple[Sentence, ...]
    """The S sentences of all comments."""
    similarity: npt.NDArray[np.float32]
    """Cosine similarities, shape (R, S), each in [-1, 1], read-only."""
    degrees: npt.NDArray[np.float32]
    """The matcher's judgement of each cell, shape (R, S), each in [0, 1], read-only."""
    sentence_flags: tuple[Flag | None, ...]
    """For each sentence, its irregularity; mostly None."""
    sentence_matches: tuple[Match, ...]
    """For each sentence, its best pseudo-reference among the counted ones."""
    reference_matches: tuple[Match, ...]
    """For each pseudo-reference, its best sentence."""
    comments: tuple[CommentResult, ...]
    """Every comment, in the order given."""
    reviews: tuple[ReviewResult, ...]
    """One per author, in order of first appearance."""
    scores: Scores
    """Scores of all comments together against the whole diff."""
    baselines: Baselines
    """Baselines of all comments together."""
    threshold: float | None
    """Cosine threshold used; None for a matcher without one."""
    decision: float
    """Minimum degree of a matched pair, in (0, 1)."""
    readings: tuple[Reading, ...] = ()
    """Reading of each of the S sentences; empty without weights for the encoder."""
    remarks: tuple[Remark, ...] = ()
    """The remarks of all comments, in their order; empty as the readings."""
    usefulness: Usefulness | None = None
    """Usefulness of all comments together: the headline; None as for a comment."""
    analysis: Analysis = Analysis()
    """Static analysis of the change, counted or not."""
    signature: str
    """Signature of the score: same signature, same score."""
    notes: tuple[str, ...] = ()
    """Omissions and repairs, one sentence each."""

    @property
    def conciseness(self) -> float | None:
        """Share of sentences that are on topic, in [0, 1]; None if there is no score."""
        return self.scores.conciseness

    @property
    def comprehensiveness(self) -> float | None:
        """Share of pseudo-references addressed, in [0, 1]; None if there is no score."""
        return self.scores.comprehensiveness

    @property
    def relevance(self) -> float | None:
        """Harmonic mean of the two, in [0, 1]; None if there is no score."""
        return self.scores.relevance

    @property
    def standing(self) -> int | None:
        """Share of real reviews that are less useful, in percent, 0 to 100.

        None as for the headline, `usefulness`.
        """
        return None if self.usefulness is None else self.usefulness.standing

    # A dataclass's own comparison would fail, because `==` of two arrays is an array without a
    # truth value.
    def __eq__(self, result: object) -> bool:
        if not isinstance(result, Result):
            return NotImplemented
        pairs = ((getattr(self, name), getattr(result, name)) for name in self.__struct_fields__)
        return all(
            left.shape == right.shape and bool((left == right).all())
            if hasattr(left, "shape")
            else left == right
            for left, right in pairs
        )

    __hash__ = None  # type: ignore[assignment]

    # All fields would fill several screens of a console or a notebook.
    def __repr__(self) -> str:
        relevance = "None" if self.relevance is None else f"{self.relevance:.3f}"
        return (
            f"Result(standing={self.standing}, relevance={relevance}, "
            f"comments={len(self.comments)}, remarks={len(self.remarks)})"
        )
