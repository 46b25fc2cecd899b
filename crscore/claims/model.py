"""Takes claims from a language model on any engine (`docs/design/023-model-claims.md`).

A diff is split into chunks, there is a chat about each chunk, and all chats of a run are one batch.
Claims that use the same words are merged. The claims of a diff are cached, so that the model is
asked only once about a diff that has several reviews.
"""

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from crscore import plugins
from crscore.cache import Cache
from crscore.claims.answer import read_answer
from crscore.claims.chunks import BUDGET, Chunk, ChunkedDiff, chunk_diff
from crscore.claims.model_options import ModelOptions
from crscore.claims.prompt import Form, Prompt, answer_schema, load_prompt, make_chat
from crscore.errors import ConfigError, MalformedAnswerError
from crscore.llm import model_files
from crscore.llm.answers import summarize
from crscore.llm.base import Answer, Engine, Message, Sampling
from crscore.llm.prompt_escaping import Fence
from crscore.records import Claims, Diff, PseudoReference, ReferenceKind
from crscore.text import find_code_spans, split_identifier, stem

DEFAULT_PROMPT: Final = "claims.v1"
CARD: Final = "training.json"
"""Name of the training card: prompt settings that `crscore train claims` saves with the weights."""
PARSER_VERSION: Final = 6
"""Version of the answer parser; cached claims of an older version are ignored."""
# Five times as many claims as the default prompt asks for.
MAX_CLAIMS: Final = 40
"""Maximum number of claims taken from one answer, and of implications."""
MAX_CLAIM_CHARS: Final = 1_000
"""Maximum characters of a claim; longer claims are dropped."""
_FILLERS: Final = frozenset(
    ("a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "has", "have", "now")
)
# The estimate is low, because tokens of code are shorter than those of prose.
CHARS_PER_TOKEN: Final = 2.5
"""Estimated number of characters of a token of a diff."""


@dataclass(slots=True, kw_only=True)
class ModelClaims:
    """Writes claims with a language model."""

    source: str
    """Name of the generator, recorded in each claim."""
    engine: Engine
    """Engine that runs the model."""
    prompt: Prompt
    """Prompt file with instructions and examples."""
    sampling: Sampling
    """Settings of the sampling of tokens."""
    form: Form = "json"
    """Form of an answer."""
    few_shots: int | None = None
    """Number of the prompt's examples that the model sees; None for all."""
    cache: Cache | None = None
    """Cache of claims of earlier runs; None to cache nothing."""

    @property
    def identity(self) -> str:
        """Engine, model, adapter, prompt, form, sampling and parser, for the signature."""
        sampling = self.sampling
        sampling_label = (
            f"t{sampling.temperature:g}p{sampling.top_p:g}" if sampling.temperature else "greedy"
        )
        shots = "" if self.few_shots is None else f"-{self.few_shots}"
        return (
            f"{self.engine.identity},{self.prompt.identity}{shots},{self.form},"
            f"{sampling_label},s{sampling.seed},n{sampling.max_tokens},r{PARSER_VERSION}"
        )

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Write the claims of each diff; all diffs that are not cached are one batch."""
        # The context size belongs to the key, because it determines the chunks that the model sees.
        producer = f"{self.identity} {self.engine.origin} {self.engine.context_tokens}"
        keys = [_cache_key(diff, producer) for diff in diffs]
        claims_by_key: dict[str, Claims] = {}
        chunked_by_key: dict[str, ChunkedDiff] = {}
        for key, diff in dict(zip(keys, diffs, strict=True)).items():  # equal diffs have one key
            data = None if self.cache is None else self.cache.get(key)
            try:
                claims_by_key[key] = msgspec.msgpack.decode(data or b"", type=Claims)
            # The claims are not cached, or they are damaged or from a version with other fields.
            except (msgspec.DecodeError, UnicodeDecodeError):
                chunked_by_key[key] = self._chunks(diff)
        chunks = [chunk for chunked in chunked_by_key.values() for chunk in chunked.chunks]
        answers: Iterator[Answer] = iter(())
        if chunks:
            # The nonce is random, so that the author of a diff cannot predict the end of the fence.
            fence = Fence(nonce=secrets.token_hex(8), special=self.engine.special_tokens)
            chats = [self._chat(chunk, fence) for chunk in chunks]
            answers = iter(self.engine.complete(chats, self.sampling))
        for key, chunked in chunked_by_key.items():
            claims, complete = self._read_claims(chunked, [next(answers) for _ in chunked.chunks])
            claims_by_key[key] = claims
            # If a chunk has no answer, nothing is cached, because the next run may get an answer.
            if complete and self.cache is not None:
                self.cache.put(key, msgspec.msgpack.encode(claims))
        return tuple(claims_by_key[key] for key in keys)

    def _chat(self, chunk: Chunk, fence: Fence) -> tuple[Message, ...]:
        return make_chat(self.prompt, chunk, fence, self.form, examples=self.few_shots)

    def _chunks(self, diff: Diff) -> ChunkedDiff:
        context_tokens = self.engine.context_tokens
        if context_tokens is None or not diff.files:
            return chunk_diff(diff)
        # Measure a chat without code; its nonce is as long as a random one.
        empty_chat = self._chat(Chunk(file=diff.files[0], hunks=()), Fence(nonce="0" * 16))
        available = int((context_tokens - self.sampling.max_tokens) * CHARS_PER_TOKEN)
        return chunk_diff(
            diff, min(BUDGET, available - sum(len(message.text) for message in empty_chat))
        )

    def _read_claims(self, parts: ChunkedDiff, answers: Sequence[Answer]) -> tuple[Claims, bool]:
        """Return the claims in the answers about a diff, and whether each chunk has an answer."""
        references: list[PseudoReference] = []
        cut_off = 0
        failed: list[str | MalformedAnswerError] = []
        for chunk, answer in zip(parts.chunks, answers, strict=True):
            if answer.reason is not None:
                failed.append(answer.reason)
                continue
            try:
                parsed = read_answer(answer.text, whole=answer.whole, no_prose=self.form == "json")
            except MalformedAnswerError as exc:
                failed.append(exc)
                continue
            cut_off += parsed.cut
            for kind, sentences in (
                (ReferenceKind.CLAIM, parsed.claims),
                (ReferenceKind.IMPLICATION, parsed.implications),
            ):
                # A claim has all lines of its chunk, because an answer does not name lines.
                references += (
                    PseudoReference(
                        text=text,
                        kind=kind,
                        source=self.source,
                        spans=chunk.spans,
                        identifiers=tuple(dict.fromkeys(find_code_spans(text))),
                    )
                    for text in sentences[:MAX_CLAIMS]
                    if len(text) <= MAX_CLAIM_CHARS
                )
        texts = [answer.text for answer in answers if answer.reason is None]
        notes, count = list(parts.notes), len(answers)
        if failed:
            of_all = f"{len(failed)} of {count} part{'s'[: count > 1]}"
            notes.append(f"The model wrote no claims for {of_all}: {summarize(failed)}.")
        if cut_off:
            number = f"{cut_off} of {count}"
            notes.append(f"Truncated answers, whose last claims are missing: {number}.")
        raw = "\n\n".join(texts) if texts else None
        claims = Claims(references=deduplicate(references), raw=raw, notes=tuple(notes))
        return claims, not failed


def _cache_key(diff: Diff, producer: str) -> str:
    """Return the cache key of a diff's claims: a hash of all that affects the model's answers."""
    files = [
        (file.path, file.old_path, file.language, file.is_missing, repr(file.hunks))
        for file in diff.files
    ]
    text = json.dumps([diff.sha256, files, producer])
    return f"claims {hashlib.sha256(text.encode()).hexdigest()}"


def deduplicate(references: Iterable[PseudoReference]) -> tuple[PseudoReference, ...]:
    """Merge claims that use the same words.

    Args:
        references: Claims and implications of one diff.

    Returns:
        The first of all claims that use the same words, with the lines of all of them.
    """
    first_by_words: dict[tuple[str, ...], PseudoReference] = {}
    for reference in references:
        key = normalize(reference.text)
        first = first_by_words.setdefault(key, reference)
        if first is not reference:
            spans = tuple(dict.fromkeys((*first.spans, *reference.spans)))
            first_by_words[key] = replace(first, spans=spans)
    return tuple(first_by_words.values())


def normalize(text: str) -> tuple[str, ...]:
    """Return the stems of a sentence's words in order, without articles, auxiliaries and "now".

    Example:
        >>> normalize("The `user_id` was renamed.") == normalize("`user_id` is now renamed")
        True
    """
    words = (word for word in split_identifier(text) if word not in _FILLERS)
    return tuple(word if word.isdigit() else stem(word) for word in words)


class TrainedPrompt(msgspec.Struct, frozen=True):
    """Settings with which a model was trained: the value of `prompt` in `training.json`."""

    name: str = DEFAULT_PROMPT
    sha256: str = ""
    """Hash of the prompt file; "" if unknown."""
    form: Literal["json", "sections"] = "json"
    few_shots: bool = True
    """Whether the model saw the prompt's examples."""


def make_generator(engine: str, options: ModelOptions) -> ModelClaims:
    """Return a generator whose model is not loaded yet.

    Args:
        engine: Name of the engine, which is also the source of the claims.
        options: Options of the generator and of the engine.

    Raises:
        ConfigError: An option is invalid.
    """
    trained = read_card(options) if engine == "vllm" else TrainedPrompt()
    prompt = load_prompt(options.prompt or trained.name)
    if trained.sha256 not in ("", prompt.sha256) and trained.name == prompt.name:
        expected = f"has another {prompt.name} than crscore: train the model again or set a prompt"
        raise ConfigError("prompt", f"the model's {CARD}", expected)
    form = options.form or trained.form
    few_shots = trained.few_shots if options.few_shots is None else options.few_shots
    return ModelClaims(
        source=engine,
        engine=make_engine(engine, options.engine | {"model": options.model}),
        prompt=prompt,
        sampling=Sampling(
            max_tokens=options.max_new_tokens,
            temperature=options.temperature,
            schema=answer_schema(prompt) if form == "json" else None,
        ),
        form=form,
        few_shots=None if few_shots else 0,
        cache=Cache(Path(options.cache_dir)) if options.cache_dir else None,
    )


def make_engine(name: str, options: Mapping[str, Any], *, is_strict: bool = True) -> Engine:
    """Return an engine; no model is loaded and no request is sent yet.

    Args:
        name: Name of the engine.
        options: Values by the name of their option; None means the engine's default.
        is_strict: Whether an option that the engine does not have is an error. `base_url` and
            `api_key` never cause an error.

    Raises:
        ConfigError: An option is invalid.
    """
    values = {option: value for option, value in options.items() if value is not None}
    # The environment may set the server's address and key, which an engine without a server
    # ignores.
    ignorable = {"base_url", "api_key"} if is_strict else values.keys()
    engine: Engine = plugins.create(
        "engines",
        name,
        {option: value for option, value in values.items() if option not in ignorable},
        offered={option: value for option, value in values.items() if option in ignorable},
    )
    return engine


def read_card(options: ModelOptions) -> TrainedPrompt:
    """Read the prompt's settings in the training card of a model or of its adapter.

    The adapter's card comes first. If there is no card, the defaults are returned.

    Raises:
        ConfigError: The card cannot be read.
    """
    # `folder_of` returns None for a model's name, even if the working directory has such a folder.
    model_folder = model_files.folder_of(options.model) if options.model else None
    # An adapter is always a folder, even if its path looks like a model's name.
    lora = options.engine.get("lora")
    adapter = (model_files.folder_of(lora) or Path(lora)) if lora else None
    for folder in filter(None, (adapter, model_folder)):
        file = folder / CARD
        if file.is_file():
            try:
                card = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
                return msgspec.convert(card.get("prompt", {}), TrainedPrompt)
            except (OSError, msgspec.DecodeError) as exc:
                raise ConfigError("model", str(file), f"cannot be read: {exc}") from exc
    return TrainedPrompt()
