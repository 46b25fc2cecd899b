"""Training rows labelled by a stronger model."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from crscore.claims.llm.generator import ModelClaims
from crscore.claims.llm.prompt import Form, Prompt
from crscore.errors import InputError
from crscore.lab.training.claims.rows import Change, decode_lines
from crscore.llm.engines.base import Answer, Engine, Message, Sampling
from crscore.records import Claims, ReferenceKind

SOURCE: Final = "labels"
"""Source of the claims, recorded in every reference."""
BATCH: Final = 64
"""Changes per batch of questions; the most that a kill can lose."""
NOTHING: Final = "no claim of the answer was left"
"""Reason why an answer yields no row."""


class LabelKey(msgspec.Struct, frozen=True):
    """Key of a labelled row: the change, the model, and the way it was asked."""

    sha256: str | None = None
    asked: str | None = None


class AppendLog:
    """Append-only file of rows that survives a kill at any byte.

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
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as exc:
            raise InputError(f"{path} cannot be opened: {exc.strerror}") from exc
        try:
            _lock(self._handle, path)
            content = path.read_bytes()
            end = content.rfind(b"\n") + 1
            if end < len(content):
                # A line without an end was interrupted; its change is asked about again.
                os.ftruncate(self._handle, end)
            self.keys = tuple(key for _, key in decode_lines(content[:end], LabelKey, path))
        except BlockingIOError as exc:
            os.close(self._handle)
            raise InputError(f"{path}: another process writes to it; wait for it") from exc
        except BaseException:
            os.close(self._handle)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)  # also releases the lock

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows to the disk durably.

        Raises:
            InputError: The rows cannot be written.
        """
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        data = "".join(lines).encode("utf-8", "surrogatepass")
        try:
            while data:
                data = data[os.write(self._handle, data) :]
            os.fsync(self._handle)
        except OSError as exc:
            raise InputError(f"{self.path} cannot be written: {exc.strerror}") from exc


def _lock(handle: int, path: Path) -> None:
    """Lock a file for this process.

    Raises:
        BlockingIOError: Another process has it.
        InputError: This system has no such locks.
    """
    try:
        import fcntl  # noqa: PLC0415  (not there on Windows)
    except ImportError as exc:
        raise InputError(f"{path} cannot be locked: this system is not Linux or macOS") from exc
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@dataclass(slots=True, kw_only=True)
class Labelled:
    """Outcome of a labelling run."""

    known: int = 0
    """Changes that already had a row."""
    made: int = 0
    """Rows that were added."""
    failed: Counter[str] = field(default_factory=Counter)
    """Reason for a missing row -> number of changes, which the next run asks about again."""
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
            >>> Labelled(input_tokens=2_000_000, output_tokens=500_000).dollars(2.5, 10.0)
            10.0
        """
        return (self.input_tokens * price_in + self.output_tokens * price_out) / 1e6


class _Listening:
    """Engine that records the last answers of the wrapped engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.identity, self.origin = engine.identity, engine.origin
        self.special_tokens = engine.special_tokens
        # A change that fits in one chunk is asked about whole, or the server rejects it.
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
    changes: Sequence[Change],
    log: AppendLog,
    *,
    engine: Engine,
    prompt: Prompt,
    sampling: Sampling,
    form: Form = "json",
    say: Callable[[str], None],
) -> Labelled:
    """Ask about all changes that have no row yet.

    Answers are parsed, checked against the change and deduplicated as in the generator, so that a
    model learns only claims that would be kept.

    Args:
        changes: Changes to label.
        log: Log with the existing rows, to which rows are added.
        engine: Engine of the stronger model.
        prompt: Prompt with its examples.
        sampling: Sampling settings.
        form: Form of the answer.
        say: Called with each line of progress.

    Returns:
        The outcome.

    Raises:
        GenerationError: The server does not answer; rows made by then are kept.
        InputError: A row cannot be written.
    """
    listening = _Listening(engine)
    generator = ModelClaims(
        source=SOURCE, engine=listening, prompt=prompt, sampling=sampling, form=form
    )
    asked = generator.identity
    known = {key.sha256 for key in log.keys if key.asked == asked}
    waiting = [one for one in changes if one.parsed.sha256 not in known]
    done = Labelled(known=len(changes) - len(waiting))
    for start in range(0, len(waiting), BATCH):
        batch = waiting[start : start + BATCH]
        made = generator.generate([one.parsed for one in batch])
        for answer in listening.answers:
            done.count(answer)
        log.add(_rows(zip(batch, made, strict=True), asked, done))
        say(
            f"{start + len(batch):,} of {len(waiting):,} asked about, {done.made:,} rows, "
            f"{done.input_tokens:,} tokens in, {done.output_tokens:,} out"
        )
    return done


def _rows(
    found: Iterable[tuple[Change, Claims]], asked: str, done: Labelled
) -> Iterator[Mapping[str, Any]]:
    for change, claims in found:
        if claims.raw is None:
            continue  # no answer, for a reason that is counted
        texts: dict[ReferenceKind, list[str]] = {kind: [] for kind in ReferenceKind}
        for reference in claims.references:
            texts[reference.kind].append(reference.text)
        if not texts[ReferenceKind.CLAIM]:
            done.failed[NOTHING] += 1
            continue
        done.made += 1
        yield {
            "sha256": change.parsed.sha256,
            "asked": asked,
            "patch": change.patch,
            "claims": texts[ReferenceKind.CLAIM],
            "implications": texts[ReferenceKind.IMPLICATION],
            "raw": claims.raw,
        }
