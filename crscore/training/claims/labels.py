"""Training rows by a stronger model: ask it about each change, and keep what it says."""

from __future__ import annotations

import fcntl
import json
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec

from crscore.claims.llm.generator import ModelClaims
from crscore.errors import InputError
from crscore.records import ReferenceKind
from crscore.training.claims.rows import decode_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from crscore.claims.llm.prompt import Form, Prompt
    from crscore.llm.engines.base import Answer, Engine, Message, Sampling
    from crscore.records import Claims
    from crscore.training.claims.rows import Change

SOURCE: Final = "labels"
"""Source of the claims, which every reference names."""
BATCH: Final = 64
"""Changes asked about at a time; what a kill can lose."""
NOTHING: Final = "no claim of the answer was left"
"""Why an answer makes no row."""


class LabelKey(msgspec.Struct, frozen=True):
    """Key of a labelled row: the change, and who was asked about it how."""

    sha256: str | None = None
    asked: str | None = None


class AppendLog:
    """File of rows that grows line by line and survives a kill at any byte.

    Rows are only ever added, and one process writes at a time.

    Args:
        path: JSON Lines; made if it is not there. A half line at its end is taken off.

    Raises:
        InputError: It cannot be opened or read, another process writes to it, or a line that
            is whole is no row.
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
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            content = path.read_bytes()
            end = content.rfind(b"\n") + 1
            if end < len(content):
                # A line without its end was being written. What it was is asked about again.
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
        os.close(self._handle)  # and with it the lock

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows to the disk; when it returns they stay there.

        Raises:
            InputError: The disk does not take them.
        """
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        data = "".join(lines).encode("utf-8", "surrogatepass")
        try:
            while data:
                data = data[os.write(self._handle, data) :]
            os.fsync(self._handle)
        except OSError as exc:
            raise InputError(f"{self.path} cannot be written: {exc.strerror}") from exc


@dataclass(slots=True, kw_only=True)
class Labelled:
    """Outcome of a run."""

    known: int = 0
    """Changes that had their row before."""
    made: int = 0
    """Rows that were added."""
    failed: Counter[str] = field(default_factory=Counter)
    """Why a change has no row -> how many; they are asked about again in the next run."""
    input_tokens: int = 0
    """Tokens of all chats, as the server counts them."""
    output_tokens: int = 0
    """Tokens of all answers."""
    uncounted: int = 0
    """Answers of which the server did not say how many."""

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
            Dollars, without what requests cost that failed.

        Example:
            >>> Labelled(input_tokens=2_000_000, output_tokens=500_000).dollars(2.5, 10.0)
            10.0
        """
        return (self.input_tokens * price_in + self.output_tokens * price_out) / 1e6


class _Listening:
    """An engine that keeps the last answers of the engine behind it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.identity, self.origin = engine.identity, engine.origin
        self.special_tokens = engine.special_tokens
        # A change that fits in one piece is asked about whole, or the server refuses it.
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

    Answers are read, held against the change and freed of copies as the generator does it, so
    that a model learns only what would have been kept.

    Args:
        changes: What to ask about.
        log: Where rows are, and are added.
        engine: Runs the stronger model.
        prompt: What it is asked, with its examples.
        sampling: How it answers.
        form: How the answer is written.
        say: Takes a line of progress.

    Returns:
        How it went.

    Raises:
        GenerationError: The server answers nothing; rows made by then are kept.
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
