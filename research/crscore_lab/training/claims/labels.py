"""Training rows labelled by a stronger model."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from crscore import jsonl
from crscore.claims.llm.generator import ModelClaims
from crscore.claims.llm.prompt import Form, Prompt
from crscore.errors import InputError
from crscore.llm.engines.base import Answer, Engine, Message, Sampling
from crscore.records import Claims, ReferenceKind
from crscore_lab.training.claims.rows import UnlabelledChange

SOURCE: Final = "labels"
"""Source of the claims, recorded in every reference."""
CHANGES_PER_BATCH: Final = 64
"""Changes per batch of requests: at most this many are lost when the process is killed."""
NO_CLAIM: Final = "no claim of the answer remained"
"""Reason why an answer yields no row."""


class LabelKey(msgspec.Struct, frozen=True):
    """Key of a labelled row: the change, and the model with its prompt and settings."""

    sha256: str | None = None
    identity: str | None = msgspec.field(default=None, name="asked")


class LabelFile:
    """Append-only file of labelled rows that survives a kill at any byte.

    Rows are only appended, and one process writes at a time.

    Args:
        path: JSON Lines; created if missing. An incomplete line at its end is removed.

    Raises:
        InputError: The file cannot be opened or read, another process writes to it, or a complete
            line is not a row.
    """

    def __init__(self, path: Path) -> None:
        if path.suffix == ".gz":
            raise InputError(f"{path}: rows are added to a plain file; choose a name without .gz")
        self.path = path
        try:
            # Unbuffered, so that nothing is held back when `add` syncs.
            self._file = path.open("a+b", buffering=0)
        except OSError as exc:
            raise InputError(f"{path} cannot be opened: {exc.strerror}") from exc
        try:
            # Locked before reading, because another process may be in the middle of a row.
            _lock(self._file, path)
            content = path.read_bytes()
            end = content.rfind(b"\n") + 1
            self._file.truncate(end)  # the change of an incomplete line is labelled again
            rows = jsonl.read_rows(content[:end], LabelKey, path, "labelled rows")
            self.keys = tuple(key for _, key in rows)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()  # also releases the lock

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows to the disk durably.

        Raises:
            InputError: The rows cannot be written.
        """
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        data = "".join(lines).encode("utf-8", "surrogatepass")
        try:
            # An unbuffered write may be partial.
            while data:
                data = data[self._file.write(data) :]
            os.fsync(self._file.fileno())
        except OSError as exc:
            raise InputError(f"{self.path} cannot be written: {exc.strerror}") from exc


def _lock(file: FileIO, path: Path) -> None:
    """Lock a file for this process.

    Raises:
        InputError: Another process has locked it, or this system does not support such locks.
    """
    try:
        import fcntl  # noqa: PLC0415  (missing on Windows)

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError as exc:
        raise InputError(f"{path} cannot be locked: this system is not Linux or macOS") from exc
    except BlockingIOError as exc:
        raise InputError(f"{path}: another process writes to it; wait for it") from exc


@dataclass(slots=True, kw_only=True)
class LabelCounts:
    """Outcome of a labelling run."""

    existing: int = 0
    """Changes that already had a row."""
    added: int = 0
    """Rows that were added."""
    failed: Counter[str] = field(default_factory=Counter)
    """Reason for a missing row -> number of changes, which the next run labels again."""
    input_tokens: int = 0
    """Tokens of all chats, as counted by the server."""
    output_tokens: int = 0
    """Tokens of all answers."""
    uncounted: int = 0
    """Answers without token counts from the server."""

    def count(self, answer: Answer) -> None:
        """Count one answer."""
        if answer.reason is not None:
            self.failed[answer.reason] += 1
        if answer.input_tokens is None or answer.output_tokens is None:
            self.uncounted += answer.reason is None
        else:
            self.input_tokens += answer.input_tokens
            self.output_tokens += answer.output_tokens

    def dollars(self, price_in: float, price_out: float) -> float:
        """Return the cost.

        Args:
            price_in: Dollars for a million tokens of chats.
            price_out: Dollars for a million tokens of answers.

        Returns:
            Dollars, without the cost of failed requests.

        Example:
            >>> LabelCounts(input_tokens=2_000_000, output_tokens=500_000).dollars(2.5, 10.0)
            10.0
        """
        return (self.input_tokens * price_in + self.output_tokens * price_out) / 1e6


class _RecordingEngine:
    """Engine that records the last answers of the wrapped engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.identity, self.origin = engine.identity, engine.origin
        self.special_tokens = engine.special_tokens
        # Unknown, so that each change is sent as a single chunk, or rejected by the server.
        self.context_tokens: int | None = None
        self.answers: tuple[Answer, ...] = ()

    def count(self, messages: Sequence[Message]) -> int | None:
        return self._engine.count(messages)

    def complete(
        self, chats: Sequence[Sequence[Message]], sampling: Sampling
    ) -> tuple[Answer, ...]:
        self.answers = self._engine.complete(chats, sampling)
        return self.answers


def label_changes(
    changes: Sequence[UnlabelledChange],
    file: LabelFile,
    *,
    engine: Engine,
    prompt: Prompt,
    sampling: Sampling,
    form: Form = "json",
    report: Callable[[str], None],
) -> LabelCounts:
    """Label all changes that have no row yet.

    Answers are parsed, checked against the change and deduplicated as in the generator, so that a
    model learns only claims that would be kept.

    Args:
        changes: Changes to label.
        file: File with the existing rows, to which rows are added.
        engine: Engine of the stronger model.
        prompt: Prompt with its examples.
        sampling: Sampling settings.
        form: Form of the answer.
        report: Called with each line of progress.

    Raises:
        GenerationError: The server does not answer; rows added by then are kept.
        InputError: A row cannot be written.
    """
    recording = _RecordingEngine(engine)
    generator = ModelClaims(
        source=SOURCE, engine=recording, prompt=prompt, sampling=sampling, form=form
    )
    identity = generator.identity
    # Rows of another model or prompt do not count.
    labelled = {key.sha256 for key in file.keys if key.identity == identity}
    unlabelled = [change for change in changes if change.parsed.sha256 not in labelled]
    counts = LabelCounts(existing=len(changes) - len(unlabelled))
    for start in range(0, len(unlabelled), CHANGES_PER_BATCH):
        batch = unlabelled[start : start + CHANGES_PER_BATCH]
        claims = generator.generate([change.parsed for change in batch])
        for answer in recording.answers:
            counts.count(answer)
        rows = list(_label_rows(zip(batch, claims, strict=True), identity, counts))
        file.add(rows)
        counts.added += len(rows)
        report(
            f"{start + len(batch):,} of {len(unlabelled):,} labelled, {counts.added:,} rows, "
            f"{counts.input_tokens:,} tokens in, {counts.output_tokens:,} out"
        )
    return counts


def _label_rows(
    answers: Iterable[tuple[UnlabelledChange, Claims]], identity: str, counts: LabelCounts
) -> Iterator[Mapping[str, Any]]:
    for change, claims in answers:
        if claims.raw is None:
            continue  # no answer, for a reason that is counted
        texts: dict[ReferenceKind, list[str]] = {kind: [] for kind in ReferenceKind}
        for reference in claims.references:
            texts[reference.kind].append(reference.text)
        if not texts[ReferenceKind.CLAIM]:
            counts.failed[NO_CLAIM] += 1
            continue
        yield {
            "sha256": change.parsed.sha256,
            "asked": identity,
            "patch": change.patch,
            "claims": texts[ReferenceKind.CLAIM],
            "implications": texts[ReferenceKind.IMPLICATION],
            "raw": claims.raw,
        }
