"""Training rows by a stronger model: ask it about each change, and keep what it says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from crscore.claims.llm.generator import ModelClaims
from crscore.records import ReferenceKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from crscore.claims.llm.prompt import Form, Prompt
    from crscore.llm.engines.base import Answer, Engine, Message, Sampling
    from crscore.records import Claims
    from crscore.training.claims.append_log import Journal
    from crscore.training.claims.changes import Change

SOURCE: Final = "labels"
"""Who says the claims, where a reference must name somebody."""
A_BATCH: Final = 64
"""Changes asked about at a time; what a kill can lose."""
NOTHING: Final = "no claim of the answer was left"
"""Why an answer makes no row."""


@dataclass(slots=True, kw_only=True)
class Spent:
    """What a run has used."""

    input_tokens: int = 0
    """Tokens of all chats, as the server counts them."""
    output_tokens: int = 0
    """Tokens of all answers."""
    uncounted: int = 0
    """Answers of which the server did not say how many."""

    def add(self, answer: Answer) -> None:
        """Count one answer."""
        if answer.input_tokens is None or answer.output_tokens is None:
            self.uncounted += answer.reason is None
        else:
            self.input_tokens += answer.input_tokens
            self.output_tokens += answer.output_tokens

    def dollars(self, price_in: float, price_out: float) -> float:
        """Give the cost.

        Args:
            price_in: Dollars for a million tokens of chats.
            price_out: Dollars for a million tokens of answers.

        Returns:
            Dollars, without what requests cost that failed.

        Example:
            >>> Spent(input_tokens=2_000_000, output_tokens=500_000).dollars(2.5, 10.0)
            10.0
        """
        return (self.input_tokens * price_in + self.output_tokens * price_out) / 1e6


@dataclass(slots=True, kw_only=True)
class Labelled:
    """How a run went."""

    known: int = 0
    """Changes that had their row before."""
    made: int = 0
    """Rows that were added."""
    failed: Counter[str] = field(default_factory=Counter)
    """Why a change has no row -> how many; they are asked about again in the next run."""
    spent: Spent = field(default_factory=Spent)
    """Tokens."""


class _Listening:
    """An engine that remembers what the engine behind it said."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.answers: tuple[Answer, ...] = ()

    @property
    def identity(self) -> str:
        return self._engine.identity

    @property
    def origin(self) -> str:
        return self._engine.origin

    @property
    def context_tokens(self) -> int | None:
        # A change that fits in one piece is asked about whole, or the server refuses it.
        return None

    @property
    def special_tokens(self) -> frozenset[str]:
        return self._engine.special_tokens

    def count(self, messages: Sequence[Message]) -> int | None:
        return self._engine.count(messages)

    def complete(
        self, chats: Sequence[Sequence[Message]], sampling: Sampling
    ) -> tuple[Answer, ...]:
        self.answers = self._engine.complete(chats, sampling)
        return self.answers


def label(
    changes: Sequence[Change],
    journal: Journal,
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
        journal: Where rows are, and are added.
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
    known = {str(row.get("sha256")) for row in journal.rows if row.get("asked") == asked}
    waiting = [one for one in changes if one.parsed.sha256 not in known]
    done = Labelled(known=len(changes) - len(waiting))
    for start in range(0, len(waiting), A_BATCH):
        batch = waiting[start : start + A_BATCH]
        made = generator.generate([one.parsed for one in batch])
        for answer in listening.answers:
            done.spent.add(answer)
            if answer.reason is not None:
                done.failed[answer.reason] += 1
        journal.add(_rows(zip(batch, made, strict=True), asked, done))
        say(
            f"{start + len(batch):,} of {len(waiting):,} asked about, {done.made:,} rows, "
            f"{done.spent.input_tokens:,} tokens in, {done.spent.output_tokens:,} out"
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
