"""Claims by a language model, whatever runs it.

Each diff becomes pieces, each piece a chat, and all chats of a run one batch. An answer is read,
held against the diff, and its near-copies are merged. What was made of a diff is remembered, so
that a diff is asked about once, however many reviews it has.
"""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crscore.claims.llm import answer, cache, chunks, deduplicate, grounding, prompt
from crscore.claims.llm.chunks import Piece
from crscore.llm.engines.base import Message
from crscore.llm.prompt_escaping import Fence
from crscore.records import Claims

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.claims.llm.cache import Memory
    from crscore.claims.llm.chunks import Pieces
    from crscore.claims.llm.prompt import Form, Prompt
    from crscore.llm.engines.base import Answer, Engine, Sampling
    from crscore.records import Diff, PseudoReference

READING: Final = 2
"""Version of what is made of an answer; a new one makes remembered claims worthless."""
GROUP: Final = 128
"""Chats that a server is sent before what it said is remembered."""
MOST_TOKENS: Final = 3_000
"""Most tokens of a piece, however much the model takes: about `pieces.BUDGET` characters."""
CUT: Final = "broke off"
"""Why the last claim of an answer is left out."""
CHARS_A_TOKEN: Final = 2.5
"""Characters of a diff that make at least one token: code has short ones."""


@dataclass(slots=True, kw_only=True)
class ModelClaims:
    """Asks an engine."""

    source: str
    """Who wrote the claims, kept in each."""
    engine: Engine
    """Runs the model."""
    prompt: Prompt
    """What it is told."""
    sampling: Sampling
    """How it answers."""
    form: Form = "json"
    """What an answer looks like."""
    few_shots: int | None = None
    """How many of the prompt's examples are shown; None for all."""
    context: str = "hunk"
    """What it sees of the code."""
    memory: Memory | None = None
    """What was asked before; None to remember nothing."""

    @property
    def identity(self) -> str:
        """Engine, model, adapter, prompt, sampling and context."""
        drawn = self.sampling
        how = "greedy" if not drawn.temperature else f"t{drawn.temperature:g}p{drawn.top_p:g}"
        shots = "" if self.few_shots is None else f"-{self.few_shots}"
        return (
            f"{self.engine.identity},{self.prompt.name}@{self.prompt.sha256[:8]}{shots},{self.form},"
            f"{how},s{drawn.seed},n{drawn.max_tokens},{self.context},r{READING}"
        )

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Write the claims of each diff, those that are not remembered in one batch."""
        found: dict[int, Claims] = {}
        # How large a piece may be decides what the model is shown, and so what it says.
        made_by = f"{self.identity} {self.engine.origin} {self.engine.context_tokens}"
        keys = [cache.key(diff, made_by, self.context) for diff in diffs]
        if self.memory is not None:
            known = ((at, self.memory.get(key)) for at, key in enumerate(keys))
            found = {at: claims for at, claims in known if claims is not None}
        unknown = [at for at in range(len(diffs)) if at not in found]
        # Equal changes are asked about once, whoever brings them.
        first: dict[str, int] = {}
        for at in unknown:
            first.setdefault(keys[at], at)
        made = self._ask([diffs[at] for at in first.values()])
        for (key, at), (claims, whole) in zip(first.items(), made, strict=True):
            found[at] = claims
            if whole and self.memory is not None:
                self.memory.put(key, claims)
        found |= {at: found[first[keys[at]]] for at in unknown}
        return tuple(found[at] for at in range(len(diffs)))

    def _ask(self, diffs: Sequence[Diff]) -> Iterator[tuple[Claims, bool]]:
        """Ask about each diff: in this process all at once, behind a server in groups.

        What a group brought is remembered before the next one is asked for, as a run may be
        killed and a server may want money.
        """
        if not diffs:
            return
        # A new word for each run: what is in a diff cannot know how its fence ends.
        fence = Fence(nonce=secrets.token_hex(8), special=self.engine.special_tokens)
        for group in _groups([self._pieces(diff) for diff in diffs], bool(self.engine.origin)):
            chats = [self._chat(piece, fence) for one in group for piece in one.pieces]
            answers = iter(self.engine.complete(chats, self.sampling) if chats else ())
            for one in group:
                yield self._read(one, fence, [next(answers) for _ in one.pieces])

    def _chat(self, piece: Piece, fence: Fence) -> tuple[Message, ...]:
        return prompt.chats(self.prompt, piece, fence, self.form, examples=self.few_shots)

    def _pieces(self, diff: Diff) -> Pieces:
        room = self.engine.context_tokens
        if room is None or not diff.files:
            return chunks.chunk_diff(diff, chunks.BUDGET, context=self.context)
        # What a chat takes without its piece; the engine counts it where it can.
        bare = self._chat(Piece(file=diff.files[0], hunks=()), Fence(nonce="0" * 16))
        shared = self.engine.count(bare)
        left = room - self.sampling.max_tokens - (self.prompt.tokens if shared is None else shared)
        if shared is None:
            budget = min(chunks.BUDGET, int(left * CHARS_A_TOKEN))
            return chunks.chunk_diff(diff, budget, context=self.context)
        return chunks.chunk_diff(diff, min(left, MOST_TOKENS), self._count, self.context)

    def _count(self, text: str) -> int | None:
        return self.engine.count([Message(role="user", text=text)])

    def _read(self, parts: Pieces, fence: Fence, answers: Sequence[Answer]) -> tuple[Claims, bool]:
        references: list[PseudoReference] = []
        dropped: Counter[str] = Counter()
        failed: Counter[str] = Counter()
        for piece, given in zip(parts.pieces, answers, strict=True):
            if given.reason is not None:
                failed[given.reason] += 1
                continue
            said = answer.read(given.text, whole=given.whole)
            held = grounding.ground(
                said,
                piece,
                source=self.source,
                examples=self.prompt.example_texts,
                nonce=fence.nonce,
            )
            dropped[CUT] += said.cut
            references += held.references
            dropped += held.dropped
        kept = deduplicate.merged(references)
        copied = len(references) - len(kept)
        claims = Claims(
            references=tuple(kept),
            raw=_raw(answers),
            notes=(*parts.notes, *_notes(dropped, copied, failed, len(parts.pieces))),
        )
        return claims, not failed


def _groups(parts: Sequence[Pieces], in_groups: bool) -> Iterator[list[Pieces]]:
    """Put diffs together until they make a batch of their own."""
    group: list[Pieces] = []
    chats = 0
    for one in parts:
        group.append(one)
        chats += len(one.pieces)
        if in_groups and chats >= GROUP:
            yield group
            group, chats = [], 0
    if group:
        yield group


def _raw(answers: Sequence[Answer]) -> str | None:
    """Keep what the model said, part by part."""
    texts = [given.text for given in answers if given.reason is None]
    return "\n\n".join(texts) if texts else None


def _notes(dropped: Counter[str], copied: int, failed: Counter[str], parts: int) -> Iterator[str]:
    if failed:
        why = "; ".join(f"{reason} ({times})" for reason, times in sorted(failed.items()))
        yield f"The model wrote no claims for {failed.total()} of {parts} parts: {why}."
    if dropped.total():
        why = ", ".join(f"{reason} ({times})" for reason, times in sorted(dropped.items()) if times)
        yield f"{dropped.total()} of the model's claims were left out: {why}."
    if copied:
        yield f"{copied} of the model's claims were said twice and count once."
