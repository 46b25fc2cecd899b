"""Files of changes: training rows with their claims, and changes to label."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from crscore import jsonl
from crscore.claims.llm import chunks
from crscore.claims.llm.answer import read_answer
from crscore.claims.llm.chunks import Chunk
from crscore.diff import parse
from crscore.errors import DiffParseError, InputError, LimitError
from crscore.records import Diff, LineKind

SUFFIXES: Final = (".diff", ".patch")
"""Suffixes of the files read from a folder."""


class PatchRow(msgspec.Struct, frozen=True):
    """Line of a file of changes; other keys are ignored."""

    patch: str | None = None
    diff: str | None = None

    def __post_init__(self) -> None:
        """Check that there is exactly one patch."""
        if (self.patch is None) == (self.diff is None):
            present = "neither" if self.patch is None else "both"
            raise ValueError(f"a row has `patch` or `diff`; this one has {present}")
        if not self.text.strip():
            raise ValueError("the patch must not be blank")

    @property
    def text(self) -> str:
        """Patch, under either name."""
        return self.patch or self.diff or ""


class ClaimRow(PatchRow, frozen=True):
    """Line of a file of training rows."""

    completion: str | None = None
    claims: tuple[str, ...] | None = None
    implications: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Check that the claims are given once, and that none is blank."""
        super().__post_init__()
        lists = {"claims": self.claims, "implications": self.implications}
        for name, texts in lists.items():
            if not all(text.strip() for text in texts or ()):
                raise ValueError(f"`{name}` has a blank text")
        if self.completion is None and not self.claims:
            raise ValueError("a row has a `completion`, or `claims` that are not empty")
        if self.completion is not None and any(texts is not None for texts in lists.values()):
            raise ValueError("a row has `completion` or lists of claims, not both")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRow:
    """Change with its claims."""

    index: int
    """1-based position in the file."""
    change: Diff
    """Parsed patch."""
    claims: tuple[str, ...]
    """Claims about the change, one or more sentences each, without numbers or headers."""
    implications: tuple[str, ...]
    """Implications of the change; may be empty."""
    cut: bool = False
    """Whether the completion was truncated; its last point is then left out."""

    @property
    def group(self) -> str:
        """Group of the change for the split: the same added and removed lines give the same name.

        Line numbers, context and indentation do not count, so that a change that occurs twice in
        the data, moved or cut differently, is not on both sides.
        """
        digest = hashlib.sha256()
        for line in self.change.lines(LineKind.ADDED, LineKind.REMOVED):
            if text := line.text.strip():
                digest.update(f"{line.kind} {text}\n".encode(errors="replace"))
        return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """File of training rows."""

    rows: tuple[TrainingRow, ...]
    """Rows in file order."""
    sha256: str
    """Hash of the file's content, unpacked; 64 hex digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlabelledChange:
    """Change to label."""

    patch: str
    """Patch as given."""
    parsed: Diff
    """Parsed patch for the generator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSample:
    """Changes to label, with counts of those left out."""

    changes: tuple[UnlabelledChange, ...]
    """Distinct changes, in the order of the questions."""
    copies: int
    """Number of duplicate patches."""
    unfit: int
    """Number of patches that are too short or too long."""
    multi_part: int
    """Number of changes that are asked about in several parts and cannot become a row."""
    unreadable: tuple[str, ...]
    """Locations of texts that are not diffs, with the reason."""


def read_rows(path: Path) -> Rows:
    """Read training rows.

    JSON Lines, plain or gzip. Each object has `patch` or `diff`, a unified diff or a bare hunk,
    and either `completion`, a model's answer in any form, or the lists `claims` and `implications`.
    Other keys are ignored.

    Args:
        path: The file.

    Returns:
        Its rows.

    Raises:
        InputError: The file cannot be read, has no row, or a line is not a row; the message names
            the line and the fault.
    """
    content = jsonl.read_bytes(path, "training rows")
    parsed = jsonl.read_rows(content, ClaimRow, path, "training rows")
    rows = tuple(
        _training_row(row, index, location) for index, (location, row) in enumerate(parsed, 1)
    )
    if not rows:
        raise InputError(f"{path} has no row to learn from")
    return Rows(rows=rows, sha256=hashlib.sha256(content).hexdigest())


def read_changes(
    path: Path,
    *,
    min_chars: int = 10,
    max_chars: int = 1000,
    limit: int | None = None,
    seed: int = 42,
) -> ChangeSample:
    """Read and sample changes.

    Args:
        path: A folder of `.diff` and `.patch` files, or JSON Lines, plain or gzip, with `patch`
            or `diff` in each object.
        min_chars: Minimum characters of a patch.
        max_chars: Maximum characters of a patch.
        limit: Number of changes; None for all.
        seed: Seed of the draw. A higher limit draws the same changes and more.

    Returns:
        The changes.

    Raises:
        InputError: There is nothing to read, or a line is not an object with a patch.

    Source:
        Naik et al., NAACL 2025, appendix C.3: 1,000 changes of 10 to 1,000 characters, drawn
        with the seed 42.
    """
    changes: dict[str, UnlabelledChange] = {}
    counts = {"copies": 0, "unfit": 0, "multi_part": 0}
    unreadable: list[str] = []
    for location, patch in _patches(path):
        if patch in changes:
            counts["copies"] += 1
        elif not min_chars <= len(patch) <= max_chars:
            counts["unfit"] += 1
        else:
            try:
                parsed = parse.parse_diff(patch, source=location)
            except InputError as exc:
                unreadable.append(str(exc))
                continue
            if single_chunk(parsed) is None:
                counts["multi_part"] += 1
            else:
                changes[patch] = UnlabelledChange(patch=patch, parsed=parsed)
    selected = list(changes.values())
    if limit is not None:
        key = f"{seed} ".encode()
        # By a hash: unlike a shuffle, it keeps the changes of a lower limit.
        selected.sort(key=lambda c: hashlib.sha256(key + c.parsed.sha256.encode()).digest())
    return ChangeSample(changes=tuple(selected[:limit]), unreadable=tuple(unreadable), **counts)


def single_chunk(diff: Diff) -> Chunk | None:
    """Return the chunk in which a change is asked about; None where there are several."""
    parts = chunks.chunk_diff(diff)
    return parts.chunks[0] if len(parts.chunks) == 1 and not parts.notes else None


def _training_row(row: ClaimRow, index: int, location: str) -> TrainingRow:
    try:
        change = parse.parse_diff(row.text, source=location)
    except (DiffParseError, LimitError) as exc:
        # The error names the file's line, and the position of the fault in the patch.
        raise InputError(f"{location}: the patch cannot be read: {exc}") from exc
    if row.completion is None:
        sections = (row.claims or (), row.implications or ())
        claims, implications = (tuple(" ".join(t.split()) for t in texts) for texts in sections)
        return TrainingRow(index=index, change=change, claims=claims, implications=implications)
    answer = read_answer(row.completion)
    if not answer.claims:
        raise InputError(f"{location}: the completion has no claim about the change")
    return TrainingRow(
        index=index,
        change=change,
        claims=answer.claims,
        implications=answer.implications,
        cut=answer.cut,
    )


def _patches(path: Path) -> Iterator[tuple[str, str]]:
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
        if not files:
            raise InputError(f"{path} has no {' or '.join(SUFFIXES)} file")
        for file in files:
            yield str(file), jsonl.read_bytes(file, "a patch").decode("utf-8", "replace")
        return
    content = jsonl.read_bytes(path, "changes")
    if not content.strip():
        raise InputError(f"{path} is empty")
    for location, row in jsonl.read_rows(content, PatchRow, path, "changes"):
        yield location, row.text
