"""Claims by a language model, whatever runs it.

A diff becomes chunks, each chunk a chat, and all chats of a run one batch. An answer is read,
its claims are compared with the diff, and those said twice are merged. The claims of a diff are
cached, so that a model is asked about it once, however many reviews it has.
"""

from __future__ import annotations

import secrets
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crscore.claims.llm import chunks
from crscore.claims.llm.answer import read_answer
from crscore.claims.llm.cache import claims_key
from crscore.claims.llm.chunks import Chunk
from crscore.claims.llm.grounding import deduplicate, ground_claims
from crscore.claims.llm.prompt import example_texts, make_chat, prompt_tokens
from crscore.llm.engines.base import Message
from crscore.llm.prompt_escaping import Fence
from crscore.records import Claims

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.claims.llm.cache import ClaimsCache
    from crscore.claims.llm.chunks import ChunkedDiff
    from crscore.claims.llm.prompt import Form, Prompt
    from crscore.llm.engines.base import Answer, Engine, Sampling
    from crscore.records import Diff, PseudoReference

READING: Final = 3
"""Version of how answers are read; another one makes cached claims worthless."""
GROUP: Final = 128
"""Chats that a server is sent before its answers are cached."""
MAX_TOKENS: Final = 3_000
"""Most tokens of a chunk, however much the model takes: about `chunks.BUDGET` characters."""
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
    """Code that it is shown: `hunk` or `function`."""
    cache: ClaimsCache | None = None
    """Claims of earlier runs; None to keep none."""

    @property
    def identity(self) -> str:
        """Engine, model, adapter, prompt, sampling and context."""
        sampling = self.sampling
        drawn = (
            f"t{sampling.temperature:g}p{sampling.top_p:g}" if sampling.temperature else "greedy"
        )
        shots = "" if self.few_shots is None else f"-{self.few_shots}"
        return (
            f"{self.engine.identity},{self.prompt.identity}{shots},{self.form},"
            f"{drawn},s{sampling.seed},n{sampling.max_tokens},{self.context},r{READING}"
        )

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Write the claims of each diff, those that are not cached in one batch."""
        # How large a chunk may be decides what the model is shown, and so what it says.
        made_by = f"{self.identity} {self.engine.origin} {self.engine.context_tokens}"
        # Equal changes are asked about once, whoever brings them.
        keys = [claims_key(diff, made_by, self.context) for diff in diffs]
        by_key = dict(zip(keys, diffs, strict=True))
        cached = ((key, self.cache.get(key)) for key in by_key) if self.cache is not None else ()
        found = {key: claims for key, claims in cached if claims is not None}
        unknown = {key: diff for key, diff in by_key.items() if key not in found}
        made = self._ask(tuple(unknown.values()))
        for key, (claims, complete) in zip(unknown, made, strict=True):
            found[key] = claims
            if complete and self.cache is not None:
                self.cache.put(key, claims)
        return tuple(found[key] for key in keys)

    def _ask(self, diffs: Sequence[Diff]) -> Iterator[tuple[Claims, bool]]:
        """Ask about each diff: in this process all at once, behind a server in groups.

        The claims of a group are cached before the next one is asked about, as a run may be
        killed and a server may cost money.

        Yields:
            The claims of each diff, and whether every chunk of it was answered.
        """
        if not diffs:
            return
        # A new word for each run: a diff cannot know how its fence ends.
        fence = Fence(nonce=secrets.token_hex(8), special=self.engine.special_tokens)
        for group in _groups([self._chunks(diff) for diff in diffs], bool(self.engine.origin)):
            chats = [self._chat(chunk, fence) for one in group for chunk in one.chunks]
            answers = iter(self.engine.complete(chats, self.sampling) if chats else ())
            for one in group:
                yield self._claims(one, [next(answers) for _ in one.chunks])

    def _chat(self, chunk: Chunk, fence: Fence) -> tuple[Message, ...]:
        return make_chat(self.prompt, chunk, fence, self.form, examples=self.few_shots)

    def _chunks(self, diff: Diff) -> ChunkedDiff:
        room = self.engine.context_tokens
        if room is None or not diff.files:
            return chunks.chunk_diff(diff, context=self.context)
        # A chat without its chunk; the engine counts its tokens where it can.
        bare = self._chat(Chunk(file=diff.files[0], hunks=()), Fence(nonce="0" * 16))
        shared = self.engine.count(bare)
        left = room - self.sampling.max_tokens
        if shared is None:
            budget = min(chunks.BUDGET, int((left - prompt_tokens(self.prompt)) * CHARS_A_TOKEN))
            return chunks.chunk_diff(diff, budget, context=self.context)
        return chunks.chunk_diff(diff, min(left - shared, MAX_TOKENS), self._count, self.context)

    def _count(self, text: str) -> int | None:
        return self.engine.count([Message(role="user", text=text)])

    def _claims(self, parts: ChunkedDiff, answers: Sequence[Answer]) -> tuple[Claims, bool]:
        references: list[PseudoReference] = []
        dropped: Counter[str] = Counter()
        failed: Counter[str] = Counter()
        examples = example_texts(self.prompt)
        for chunk, given in zip(parts.chunks, answers, strict=True):
            if given.reason is not None:
                failed[given.reason] += 1
                continue
            parsed = read_answer(given.text, whole=given.whole)
            kept = ground_claims(parsed, chunk, source=self.source, examples=examples)
            dropped += kept.dropped
            dropped[CUT] += parsed.cut
            references += kept.references
        kept_once = deduplicate(references)
        repeated = len(references) - len(kept_once)
        texts = [given.text for given in answers if given.reason is None]
        claims = Claims(
            references=kept_once,
            raw="\n\n".join(texts) if texts else None,
            notes=(*parts.notes, *_notes(dropped, repeated, failed, len(answers))),
        )
        return claims, not failed


def _groups(parts: Sequence[ChunkedDiff], in_groups: bool) -> Iterator[list[ChunkedDiff]]:
    """Put diffs together until they make a batch of their own."""
    group: list[ChunkedDiff] = []
    for one in parts:
        group.append(one)
        if in_groups and sum(len(diff.chunks) for diff in group) >= GROUP:
            yield group
            group = []
    if group:
        yield group


def _notes(dropped: Counter[str], repeated: int, failed: Counter[str], parts: int) -> Iterator[str]:
    if failed:
        why = "; ".join(f"{reason} ({times})" for reason, times in sorted(failed.items()))
        yield f"The model wrote no claims for {failed.total()} of {parts} parts: {why}."
    if dropped.total():
        why = ", ".join(f"{reason} ({times})" for reason, times in sorted(dropped.items()) if times)
        yield f"{dropped.total()} of the model's claims were left out: {why}."
    if repeated:
        yield f"{repeated} of the model's claims were repeated and count once."
