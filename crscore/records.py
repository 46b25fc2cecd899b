"""Records that modules pass to each other, in the order of a run.

They describe a diff, its pseudo-references (claims, and issues from static analysis), the comments
of a review, and the scores.
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
    """Kind of change of a file as a whole."""

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
    """The line without its first character (`+`, `-` or a space) and without its line end."""
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
    """Number of lines of the old file that the hunk covers."""
    new_start: int
    """First line in the new file; 0 for a deleted file."""
    new_length: int
    """Number of lines of the new file that the hunk covers."""
    section: str
    """Text that git prints after the second `@@`; may be empty."""
    lines: tuple[DiffLine, ...]
    """All lines, in diff order."""

    def lines_of(self, *kinds: LineKind) -> tuple[DiffLine, ...]:
        """Return the lines of these kinds, in diff order; all lines if no kind is given."""
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
    """Language (`python`, `json`, ...) by the suffix of the path or as set by the caller; None if
    unknown."""
    hunks: tuple[Hunk, ...]
    """Hunks in diff order; none for binary files, submodules, pure renames and mode changes."""
    is_binary: bool = False
    """Whether the diff only reports that the binary contents differ."""
    is_submodule: bool = False
    """Whether the entry is a submodule (mode 160000)."""
    missing: str = ""
    """Reason why the changes of the file are unknown, as a clause; empty if they are known."""
    old_mode: str | None = None
    """File mode before the change, six octal digits; None if the diff does not show it."""
    new_mode: str | None = None
    """File mode after the change, six octal digits; None if the diff does not show it."""
    old_source: str | None = None
    """Text of the complete old file; None if the caller does not provide it."""
    new_source: str | None = None
    """Text of the complete new file; None if the caller does not provide it."""

    def path_on(self, side: Side) -> str:
        """Return the path in one version."""
        return self.old_path or self.path if side is Side.OLD else self.path

    def source_on(self, side: Side) -> str:
        """Return the text of the complete file in one version; empty if it is unknown."""
        return (self.old_source if side is Side.OLD else self.new_source) or ""

    @property
    def is_missing(self) -> bool:
        """Whether the changes of the file are unknown."""
        return bool(self.missing)

    @property
    def shows_text(self) -> bool:
        """Whether the diff shows the content of the file."""
        return not (self.is_binary or self.is_submodule or self.missing)

    def lines(self, *kinds: LineKind) -> tuple[DiffLine, ...]:
        """Return the lines of these kinds in all hunks; all lines if no kind is given."""
        return tuple(line for hunk in self.hunks for line in hunk.lines_of(*kinds))

    def hunk_at(self, side: Side, line: int) -> int | None:
        """Return the index of the hunk with this line of one version; None if there is none."""
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
    """Notes on parts of the diff that were repaired or left out, one sentence each."""

    @property
    def shows_text(self) -> bool:
        """Whether the diff shows the content of any file."""
        return any(file.shows_text for file in self.files)

    def lines(self, *kinds: LineKind) -> tuple[DiffLine, ...]:
        """Return the lines of these kinds in all files; all lines if no kind is given."""
        return tuple(line for file in self.files for line in file.lines(*kinds))

    def file_at(self, path: str, side: Side = Side.NEW) -> ChangedFile | None:
        """Find a changed file by its path.

        A new file can take the old name of a renamed file, so the side decides which of the two
        files is preferred. A bare hunk has no path, so its file is returned for any path.

        Args:
            path: A new or old path.
            side: The version whose paths are tried first.

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
    """Range of lines in one version of a file."""

    path: str
    """Path of the file in that version."""
    side: Side
    """Version that the line numbers refer to."""
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
    """Kind of change of a topic."""

    NEW = "new"
    REMOVED = "removed"
    RENAMED = "renamed"
    MOVED = "moved"
    CHANGED = "changed"
    LAYOUT = "only layout"
    """Only the formatting has changed, such as white space."""
    COMMENTS = "only comments"


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    """Unit of a change that a reader would name: a function, a type, a test, a section, a file."""

    name: str
    """Name of the unit, or path of its file; may be empty for a hunk without a path."""
    noun: str
    """Kind of unit: `method`, `class`, `section`, `file`."""
    state: TopicState
    """Change of the unit."""
    lines: int
    """Number of changed lines in the unit, at least 0."""
    place: LineSpan
    """Lines of the unit in the new version, or in the old version if the unit was removed."""


class PseudoReference(msgspec.Struct, frozen=True, kw_only=True):
    """Statement that a good review of the change should address."""

    text: str
    """One English sentence."""
    kind: ReferenceKind
    """Claim, implication or issue."""
    source: str
    """Name of the claim generator or analyzer."""
    spans: tuple[LineSpan, ...] = ()
    """Lines that the statement is about; none if it is about the entire change."""
    identifiers: tuple[str, ...] = ()
    """Names of the code that the statement is about, most informative first."""
    reading: str = ""
    """The statement with code written as words, for the encoder; "" if the encoder reads `text`."""
    weight: float = 1.0
    """How informative the statement is, in (0, 1]. The weight decides the order of the references
    and which of them count."""
    counted: bool = True
    """Whether it counts for the comprehensiveness of reviews of the whole diff; False if it is
    minor or exceeds the maximum number of claims."""
    topic: Topic | None = None
    """Unit of the change that the statement is about; None if the generator does not name one."""

    @property
    def encoded_text(self) -> str:
        """The text that the encoder reads."""
        return self.reading or self.text


class Claims(msgspec.Struct, frozen=True, kw_only=True):
    """Claims of a generator for one diff."""

    references: tuple[PseudoReference, ...]
    """The claims, most informative first."""
    raw: str | None = None
    """Unparsed answer of a model or a recording; None for another generator."""
    notes: tuple[str, ...] = ()
    """Notes on parts that could not be read or were left out, one sentence each."""


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
    """Id of the rule that the tool applied; "" if the tool names none."""
    path: str
    """Path in the diff."""
    line: int
    """First line, 1-based, in the new file; 0 for the file as a whole."""
    end_line: int
    """Last line, inclusive; equal to `line` if the tool names only one line."""
    message: str
    """Message of the tool."""
    text: str
    """The finding as one English sentence that a reviewer could write."""
    severity: Severity
    """How serious the finding is, converted from the levels of the tool."""
    in_change: bool = False
    """Whether the finding is on a changed line."""
    pre_existing: bool = False
    """Whether the old file has the same finding on the same code."""
    is_style: bool = False
    """Whether the finding is a matter of style and therefore no pseudo-reference."""
    counted: bool = False
    """Whether the finding is a pseudo-reference, alone or merged with a finding of another tool."""


class ToolRun(msgspec.Struct, frozen=True, kw_only=True):
    """Run of one tool on one change."""

    tool: str
    """The tool's name."""
    version: str | None
    """Version of the tool; None if the tool is not installed or its version is unknown."""
    state: ToolState
    """Outcome of the run."""
    reason: str = ""
    """Reason why files were not read in full, as a clause; "" if all were."""
    files: int = 0
    """Number of files of the change that were read."""
    unread: tuple[str, ...] = ()
    """Files of the change that could not be read."""

    @property
    def is_complete(self) -> bool:
        """Whether the tool read all files that it should have read, in full."""
        return self.state is ToolState.RAN and not self.unread and not self.reason


# docs/design/013-untrusted-code.md lists the systems.
UNCONFINED: Final = "sandbox:none"
"""Word in a signature that says that the system could not deny the network to analyzers."""


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """Findings of all tools for one change."""

    findings: tuple[Finding, ...] = ()
    """Findings in the order of path, line, tool, rule and text."""
    tools: tuple[ToolRun, ...] = ()
    """Runs of the tools that apply to the changed files, in the order of the tools' names."""
    notes: tuple[str, ...] = ()
    """Notes on parts that were left out, one sentence each."""
    confined: bool = True
    """False if a tool ran or should have run on a system that cannot deny the network to tools."""

    @property
    def coverage(self) -> Coverage:
        """`none` if no tool applies, `complete` if each tool read all its files, else `partial`."""
        if not self.tools:
            return Coverage.NONE
        return Coverage.COMPLETE if all(run.is_complete for run in self.tools) else Coverage.PARTIAL

    @property
    def identity(self) -> str:
        """Tools with their versions, for the signature.

        The value is `none` if no tool ran or should have run. After the tools follows `partial` if
        a tool did not read all files that it should have read, and `UNCONFINED` if the tools were
        not confined.

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


# Lines are given as in https://docs.github.com/en/rest/pulls/comments; lines of GitLab are
# converted.
class Comment(msgspec.Struct, frozen=True, kw_only=True):
    """Review comment whose text is not parsed yet."""

    body: str
    """Markdown or plain text."""
    path: str | None = None
    """File that the comment is attached to; None for unattached text."""
    line: int | None = None
    """Line that the comment is attached to, in the version `side`; None if it is attached to no
    line."""
    start_line: int | None = None
    """First line of a comment on several lines, whose last line is `line`; None for one line."""
    side: Side = Side.NEW
    """Version that `line` refers to."""
    outdated: bool = False
    """Whether `line` refers to an older version of the change, so that `diff_hunk` is preferred."""
    earlier: bool = False
    """Whether it was written on an older version of the change although its line is still in this
    version."""
    diff_hunk: str | None = None
    """Hunk that the comment was written on, as GitHub stores it."""
    author: str | None = None
    """Login of the author; None if unknown."""
    id: str | None = None
    """Id of the comment on its code host."""

    @property
    def is_older(self) -> bool:
        """Whether it was written on an older version of the change."""
        return self.outdated or self.earlier

    def spanning(self, offsets: tuple[int, int] | None) -> Comment:
        """Return a copy of the comment on the lines that one of its suggestion blocks replaces.

        Args:
            offsets: Number of lines above and below the line of the comment that are also replaced;
                None to keep the lines of the comment.
        """
        if offsets is None or self.line is None:
            return self
        start, line = max(self.line - offsets[0], 1), self.line + offsets[1]
        return msgspec.structs.replace(self, start_line=start if start < line else None, line=line)


class Position(msgspec.Struct, frozen=True):
    """Position of a sentence in the structure of its comment."""

    block: int = 0
    """Index, from 0, of the paragraph, list item, table cell or heading that contains it."""
    is_heading: bool = False
    """Whether it is in a heading, or in a paragraph that is all bold."""
    severity: str | None = None
    """Severity that a label next to it names: `critical`, `high`, `medium` or `low`."""


class Sentence(msgspec.Struct, frozen=True, kw_only=True):
    """Sentence, the unit of a review."""

    text: str
    """Plain text: Markdown resolved, code spans kept with their backticks."""
    comment: int
    """Index of its comment in the result's `comments`."""
    hidden: bool = False
    """Whether a reader of the rendered comment does not see the text."""
    proposal: bool = False
    """Whether the text paraphrases proposed code."""
    position: Position = Position()
    """Its position in the structure of its comment."""
    unread: bool = False
    """Whether the text is not in English, so that the encoder cannot read it."""


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
    """Harm that is done if a remark is right and the change is merged without regard to it."""

    CRITICAL = "critical"
    """Security, loss of data, a crash, wrong results, a broken interface or build."""
    MAJOR = "major"
    """Missing validation or error handling, a race, a bug under odd conditions, performance."""
    MINOR = "minor"
    """Design, tests, duplication, clarity."""
    NIT = "nit"
    """Naming, formatting, wording of code comments."""


MAX_IMPORTANCE: Final = 4
"""Importance of a critical remark, on a scale from 0."""
# The scale of worth is that of the guide for readers, `prompts/read.v1.toml`.
LEAST_WORTH: Final = 1.0
"""Worth of a remark that has nothing to act on or is about something else."""
MAX_WORTH: Final = 5.0
"""Worth of a remark that is right, important and exact."""
ACTIONABLE_FROM: Final = 0.5
"""Minimum of the probability `actionable` for a text that needs an answer."""
# A remark that is less likely to be about the change is worth nothing
# (docs/design/010-usefulness.md).
ON_TOPIC: Final = 0.25
"""Minimum of the probability `about` for a text that counts as about the change."""
OFF_TOPIC: Final = "off topic"
"""Word for the usefulness of a review without a remark about the change."""


# docs/design/028-verdicts.md
class Verdict(StrEnum):
    """Verdict on a remark's statement about the code."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNPROVEN = "unproven"
    """Undecided, which is the default."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """Proof of a verdict."""

    verdict: Verdict
    """Confirmed or refuted."""
    says: str
    """What the remark says about the code: a clause that continues "says that", without a full
    stop; empty if a language model judges the remark as a whole."""
    fact: str
    """Fact about the code, as one sentence."""
    lines: tuple[LineSpan, ...] = ()
    """Lines that prove the verdict; none if the proof is that code is absent."""


# `prompts/read.v1.toml` asks for these words.
class Holds(StrEnum):
    """Whether a remark is right, as judged by a reader of the code."""

    YES = "yes"
    NO = "no"
    OPEN = "open"
    """The code does not decide it, or the remark states nothing."""


class RemarkReading(msgspec.Struct, frozen=True, kw_only=True):
    """Reading of a remark by a language model, on the scale of `prompts/read.v1.toml`."""

    stance: Stance
    """Purpose of the remark."""
    importance: float
    """Harm if the remark is right and is ignored, from 0 (none) to 4 (critical)."""
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
        """Whether the model calls the remark wrong without quoting a line that proves it."""
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
    """Probability that the sentence is about this change and no other change, in [0, 1]."""
    subject: Subject
    """Subject: a claim, the change as a whole, the code around the change, or something else."""
    reference: int | None
    """Index of the claim that is the subject, among the references of the result; None for any
    other subject."""


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """One point of a comment: its sentences, proposals and code."""

    comment: int
    """Index of its comment among the comments of the result."""
    sentences: tuple[int, ...]
    """Indices of its sentences and proposals among the sentences of the result."""
    stance: Stance
    """Purpose of the remark."""
    actionable: float
    """Probability that the author of the change has something to answer, in [0, 1]."""
    importance: float
    """Harm if the remark is right and is ignored, from 0 (none) to 4 (critical)."""
    level: Importance
    """The importance as a word."""
    about: float
    """Probability that the remark is about this change and no other change, in [0, 1]."""
    worth: float
    """How glad the author of the change should be to get the remark, from 1 to 5: an expected
    value."""
    specific: float
    """Probability that the remark says enough to act on, in [0, 1]."""
    acts: float
    """Probability that the author changes the code because of the remark, in [0, 1]."""
    receipt: Receipt | None = None
    """Proof for or against what the remark says about the code; None if undecided."""
    labelled: str | None = None
    """Severity in a label that its author wrote: `critical`, `high`, `medium` or `low`."""
    reading: RemarkReading | None = None
    """Reading by a language model; None if the network alone read it."""

    @property
    def verdict(self) -> Verdict:
        """Verdict on what the remark says about the code."""
        return self.receipt.verdict if self.receipt else Verdict.UNPROVEN

    @property
    def is_limited(self) -> bool:
        """Whether the network's reading limits the worth to less than the language model gave."""
        reading = self.reading
        # A hidden or repeated remark has the least worth for another reason.
        return bool(reading and not reading.is_doubt and LEAST_WORTH < self.worth < reading.worth)

    @property
    def is_valuable(self) -> bool:
        """Whether it gives the author something to answer about the change and is not refuted."""
        return (
            self.actionable >= ACTIONABLE_FROM
            and self.about >= ON_TOPIC
            and self.verdict is not Verdict.REFUTED
        )


class Aspects(msgspec.Struct, frozen=True, kw_only=True):
    """Estimates of how people would rate a comment."""

    relevant: float
    """Probability that it is about the change and needs no other context, in [0, 1]."""
    informative: float
    """Probability that it is specific enough to act on, in [0, 1]."""
    clear: float
    """Probability that it is clear and civil, in [0, 1]."""


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """Share of a remark in the value of a review."""

    remark: int
    """Index of the remark among the remarks of the result."""
    value: float
    """Contribution of the remark's worth to the value of the review, in [0, 1]."""


class Usefulness(msgspec.Struct, frozen=True, kw_only=True):
    """Usefulness of a text to the author of the change: the headline."""

    about: float
    """Probability that the text is about this change and no other change, in [0, 1]."""
    importance: float
    """Highest importance of a valuable remark, as a share of `MAX_IMPORTANCE`, in [0, 1]."""
    aspects: Aspects
    """Estimates of how people would rate it."""
    shares: tuple[Share, ...]
    """Share of each remark in the value, highest share first."""
    taken_off: float
    """Deduction from the value for remarks with nothing to answer, in [0, 1]."""
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
    """Standing among only the reviews, or the comments, that bots wrote, 0 to 100."""
    word: str
    """Word that describes the middle of the interval, or `OFF_TOPIC`."""
    against: str
    """The comparison set, such as "612 reviews by people and bots"."""

    @property
    def interval(self) -> str:
        """The standing and its interval, such as "64 (35 to 85)"."""
        return f"{self.standing} ({self.low} to {self.high})"

    @property
    def comparison(self) -> str:
        """The standing in words, such as "better than 61 % of 612 reviews, 55 % of the bots'"."""
        # The standing is rounded, so "better than 0 %" could be wrong.
        share = {0: "hardly any", 100: "nearly all"}.get(self.standing, f"{self.standing} %")
        return f"better than {share} of {self.against}, {self.among_bots} % of the bots'"


class ParsedComment(msgspec.Struct, frozen=True, kw_only=True):
    """Comment, split into sentences, blocks of code and hidden text."""

    sentences: tuple[str, ...]
    """Visible sentences as plain text, in order."""
    positions: tuple[Position, ...] = ()
    """Position of each sentence; empty if the positions were not determined."""
    suggestions: tuple[str, ...] = ()
    """Contents of ```suggestion blocks."""
    suggestion_offsets: tuple[tuple[int, int] | None, ...] = ()
    """For each suggestion block, the number of lines above and below the line of the comment that
    it replaces (`suggestion:-1+2` of GitLab); None if it replaces the lines of the comment."""
    code_blocks: tuple[str, ...] = ()
    """Contents of other fenced or indented code blocks."""
    diffs: tuple[str, ...] = ()
    """Contents of ```diff blocks."""
    follows: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Content of a block of code -> index of the text block before it; -1 if there is none."""
    proposals: tuple[str, ...] = ()
    """Changes that the code in the comment proposes, one short text each; none if the change under
    review is unknown."""
    proposal_positions: tuple[Position, ...] = ()
    """Position of each proposal, which is the position of the text before it."""
    hidden: tuple[str, ...] = ()
    """Text that a reader of the rendered comment does not see, including markers for programs."""


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
    """Suggestion block of a comment, judged in the file that it changes."""

    code: str
    """Content of the block."""
    applies: bool | None = None
    """Whether the code host can apply the suggestion; None if its location is unknown."""
    parses: bool | None = None
    """Whether the file parses with the suggestion; None without a location or a grammar, or if the
    file does not parse without it."""
    effect: Effect | None = None
    """Part of the code that the suggestion changes; None without a location or a grammar, or if the
    grammar cannot read the lines."""
    reason: str | None = None
    """Reason why the suggestion does not apply or why a field is unknown, as a clause; else
    None."""


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """The three scores of a text against a set of pseudo-references, or why there are none.

    The four counts are the sufficient statistics: resampling adds them up without encoding again.
    """

    conciseness: float | None
    """Share of sentences that address a pseudo-reference, in [0, 1]."""
    comprehensiveness: float | None
    """Share of pseudo-references that a sentence addresses, in [0, 1]."""
    relevance: float | None
    """Harmonic mean of conciseness and comprehensiveness, in [0, 1]."""
    matched_sentences: float
    """Numerator of conciseness: a count, or a sum of degrees in [0, 1]."""
    sentences: int
    """Denominator of conciseness."""
    matched_references: float
    """Numerator of comprehensiveness: a count, or a sum of degrees in [0, 1]."""
    references: int
    """Denominator of comprehensiveness."""
    reason: str | None = None
    """Reason why the three scores are None; None if they are numbers."""


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """Best pseudo-reference of a sentence, or best sentence of a pseudo-reference.

    Of several pairs, the best is one in which the sentence addresses the pseudo-reference, if there
    is one, and then the one with the highest degree.
    """

    index: int | None
    """Index of the partner in the result; None if there was no partner to compare with, or if the
    partner belongs to an older version of the change."""
    similarity: float | None
    """Cosine similarity to the partner, in [-1, 1]; None without an index."""
    degree: float | None
    """Degree to which they address each other, in [0, 1]; None if there was no partner."""
    matched: bool
    """Whether the sentence addresses the pseudo-reference: the degree is high enough, the
    pseudo-reference is the subject of the sentence, or the sentence names its code."""


class Baselines(msgspec.Struct, frozen=True, kw_only=True):
    """Two trivial measures that a score must beat. They are reported with the score."""

    words: int
    """Number of words in the review."""
    repeated_tokens: float | None
    """Share of the distinct tokens of the diff that the review repeats, in [0, 1]; None if the diff
    has no tokens."""


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
    """Hunk, file, whole diff, or a hunk of an older version."""
    path: str | None = None
    """The file, unless the scope is the whole diff."""
    hunk: int | None = None
    """Index of the hunk in its file, if the scope is a hunk."""


class CommentResult(msgspec.Struct, frozen=True, kw_only=True):
    """Comment, scored against the part of the diff that it is attached to."""

    comment: Comment
    """The comment before parsing."""
    scope: Scope
    """Part of the change that the comment was scored against."""
    scores: Scores
    """Scores against the pseudo-references of the scope."""
    sentences: tuple[int, ...]
    """Indices of its sentences in the result."""
    references: tuple[int, ...]
    """Indices in the result of the pseudo-references of the scope."""
    suggestions: tuple[Suggestion, ...] = ()
    """Suggestion blocks of the comment, which are not part of its sentences."""
    usefulness: Usefulness | None = None
    """Usefulness of the comment; None without visible text or without weights for the encoder."""


class ReviewResult(msgspec.Struct, frozen=True, kw_only=True):
    """All comments of one author, scored against the whole diff."""

    author: str | None
    """Login, or None for unattributed text."""
    scores: Scores
    """Scores of all sentences of the author against the references of the whole diff."""
    baselines: Baselines
    """Baselines of all comments of the author together."""
    comments: tuple[int, ...]
    """Indices of the author's comments in the result."""
    usefulness: Usefulness | None = None
    """Usefulness of these comments together; None without visible text or without weights for the
    encoder."""


class Result(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Everything that a report needs; reports compute no scores.

    Two results are equal if all their fields are equal, even if one result was pickled.
    """

    diff: Diff
    """The change."""
    references: tuple[PseudoReference, ...]
    """The R pseudo-references that a score uses; the scores of the whole diff use the `counted`
    ones."""
    small: tuple[Topic, ...] = ()
    """Topics of the change without a counted reference, most informative first."""
    sentences: tuple[Sentence, ...]
    """The S sentences of all comments."""
    similarity: npt.NDArray[np.float32]
    """Cosine similarities, shape (R, S), each in [-1, 1], read-only."""
    degrees: npt.NDArray[np.float32]
    """Degree to which each sentence addresses each reference, shape (R, S), in [0, 1],
    read-only."""
    sentence_flags: tuple[Flag | None, ...]
    """For each sentence, its irregularity; usually None."""
    sentence_matches: tuple[Match, ...]
    """For each sentence, its best pseudo-reference among the counted ones."""
    reference_matches: tuple[Match, ...]
    """For each pseudo-reference, its best sentence."""
    comments: tuple[CommentResult, ...]
    """Result of each comment, in input order."""
    reviews: tuple[ReviewResult, ...]
    """Result of each author's comments together, in order of first appearance."""
    scores: Scores
    """Scores of all comments together against the whole diff."""
    baselines: Baselines
    """Baselines of all comments together."""
    threshold: float | None
    """Cosine threshold of the matcher; None if the matcher has none."""
    decision: float
    """Minimum degree at which a sentence addresses a reference, in (0, 1)."""
    readings: tuple[Reading, ...] = ()
    """Reading of each of the S sentences; empty without weights for the encoder."""
    remarks: tuple[Remark, ...] = ()
    """The remarks of all comments, in order; empty without weights for the encoder."""
    usefulness: Usefulness | None = None
    """Usefulness of all comments together, the headline; None without visible text or without
    weights for the encoder."""
    analysis: Analysis = Analysis()
    """Static analysis of the change, with the findings that do not count."""
    signature: str
    """Signature of the scores; the same inputs with the same signature have the same scores."""
    notes: tuple[str, ...] = ()
    """Notes on parts that were left out or repaired, one sentence each."""

    @property
    def conciseness(self) -> float | None:
        """Share of sentences that address a reference, in [0, 1]; None if there is no score."""
        return self.scores.conciseness

    @property
    def comprehensiveness(self) -> float | None:
        """Share of references that a sentence addresses, in [0, 1]; None if there is no score."""
        return self.scores.comprehensiveness

    @property
    def relevance(self) -> float | None:
        """Harmonic mean of the other two scores, in [0, 1]; None if there is no score."""
        return self.scores.relevance

    @property
    def standing(self) -> int | None:
        """Share of real reviews that are less useful, in percent, 0 to 100.

        None if `usefulness` is None.
        """
        return None if self.usefulness is None else self.usefulness.standing

    # A generated comparison would fail, because `==` of two arrays is an array without a truth
    # value.
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

    # A representation with all fields would fill several screens of a console or a notebook.
    def __repr__(self) -> str:
        relevance = "None" if self.relevance is None else f"{self.relevance:.3f}"
        return (
            f"Result(standing={self.standing}, relevance={relevance}, "
            f"comments={len(self.comments)}, remarks={len(self.remarks)})"
        )
