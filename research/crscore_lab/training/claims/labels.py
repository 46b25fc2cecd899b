"""Makes training rows, with claims of a stronger model."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from crscore import jsonl
from crscore.claims.model import ModelClaims
from crscore.errors import InputError
from crscore.records import Diff, ReferenceKind
from crscore_lab.training.claims.rows import ChangeRow, single_chunk

TOP_P: Final = 0.95
"""The paper's `Sampling.top_p` for the stronger model."""
CHANGES_PER_BATCH: Final = 64
"""Number of changes that are labelled, and then written, at a time."""


class LabelledRow(msgspec.Struct):
    """Line of the file of labelled rows."""

    sha256: str
    asked: str
    """Model, prompt and settings that made the row. Rows that were made with others are ignored."""
    patch: str
    claims: tuple[str, ...]
    implications: tuple[str, ...]
    raw: str


def read_changes(
    path: Path,
    *,
    min_chars: int = 10,
    max_chars: int = 1000,
    limit: int | None = None,
    seed: int = 42,
) -> list[tuple[str, Diff]]:
    """Read patches that fit into one request, without duplicates.

    Args:
        path: JSON Lines, plain or gzip, with `patch` or `diff` in each object; or a folder of
            `.diff` and `.patch` files.
        min_chars: Minimum characters of a patch.
        max_chars: Maximum characters of a patch.
        limit: Number of patches to draw; None for all.
        seed: Seed of the draw. A higher limit draws the same patches and more.

    Returns:
        Each patch, with the parsed change.

    Raises:
        InputError: The file cannot be read, or has no change.

    Source:
        Naik et al., NAACL 2025, appendix C.3: 1,000 changes of 10 to 1,000 characters, drawn
        with the seed 42.
    """
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in (".diff", ".patch"))
        rows = [(str(file), ChangeRow(patch=file.read_text("utf-8", "replace"))) for file in files]
    else:
        content = jsonl.read_bytes(path, "changes")
        rows = list(jsonl.read_rows(content, ChangeRow, path, "changes"))
    changes: dict[str, tuple[str, Diff]] = {}
    for location, row in rows:
        patch = row.patch or row.diff
        if min_chars <= len(patch) <= max_chars:
            change = row.parse(location)
            if single_chunk(change) is not None:
                changes.setdefault(change.sha256, (patch, change))
    if not changes:
        raise InputError(f"{path} has no change of {min_chars:,} to {max_chars:,} characters")
    keys = list(changes)
    if limit is not None:
        # Sorted by a hash instead of shuffled, so that a higher limit only adds patches.
        keys.sort(key=lambda key: hashlib.sha256(f"{seed} {key}".encode()).digest())
    return [changes[key] for key in keys[:limit]]


def label_changes(
    changes: Sequence[tuple[str, Diff]],
    target: Path,
    generator: ModelClaims,
    report: Callable[[str], None],
) -> tuple[int, int]:
    """Label the changes that have no row yet.

    Answers are parsed, checked against the change and deduplicated as in the generator, so that a
    model learns only claims that would be kept.

    Args:
        changes: Patches to label, with the parsed changes.
        target: File of labelled rows, to which rows are added.
        generator: The stronger model.
        report: Called with each line of progress.

    Returns:
        Number of rows that existed, and number of rows added.

    Raises:
        GenerationError: The server does not answer; rows added by then are kept.
        InputError: The file does not consist of labelled rows.
    """
    content = target.read_bytes() if target.exists() else b""
    rows = jsonl.read_rows(content, LabelledRow, target, "labelled rows")
    identity = generator.identity
    done = {row.sha256 for _, row in rows if row.asked == identity}
    missing = [row for row in changes if row[1].sha256 not in done]
    added = 0
    with target.open("ab") as file:
        for start in range(0, len(missing), CHANGES_PER_BATCH):
            batch = missing[start : start + CHANGES_PER_BATCH]
            answers = generator.generate([change for _, change in batch])
            for (patch, change), answer in zip(batch, answers, strict=True):
                claims, implications = (
                    tuple(ref.text for ref in answer.references if ref.kind == kind)
                    for kind in (ReferenceKind.CLAIM, ReferenceKind.IMPLICATION)
                )
                if not claims:
                    continue
                labelled = LabelledRow(
                    change.sha256, identity, patch, claims, implications, answer.raw or ""
                )
                line = json.dumps(msgspec.to_builtins(labelled), ensure_ascii=False)
                file.write(f"{line}\n".encode("utf-8", "surrogatepass"))
                added += 1
            file.flush()
            report(f"{start + len(batch):,} of {len(missing):,} labelled, {added:,} rows")
    return len(changes) - len(missing), added
