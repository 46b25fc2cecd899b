"""Verdicts of a language model on remarks that the code alone does not decide: `--verify llm`.

The model is shown the code around a remark, the findings on it and the remark, and must quote the
line that decides. The quote is looked up in the code: without it, the model's opinion is not proof.
"""

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from crscore.cache import Store
from crscore.errors import MalformedAnswerError
from crscore.llm import prompts
from crscore.llm.answers import read_object, summarize
from crscore.llm.engines.base import Answer, Engine, Message, Sampling
from crscore.llm.prompt_escaping import Fence, break_control_tokens
from crscore.llm.prompts import Prompt
from crscore.records import Diff, Finding, LineSpan, Receipt, Side, Verdict
from crscore.review.visibility import clean
from crscore.text import count_noun
from crscore.verdicts.excerpt import Excerpt, Excerpts, distance
from crscore.verdicts.statements import Statement

KIND: Final = "verdicts"
"""First word of the keys in the cache."""
PROMPT: Final = "verify.v1"
READER_VERSION: Final = 2
"""Version of the excerpts and of the reader of answers, part of the signature."""
MAX_CODE_CHARS: Final = 8_000
"""Maximum characters of code that a model is shown for one remark."""
MAX_REMARK_CHARS: Final = 2_000
MAX_FINDINGS: Final = 10
MAX_SENTENCE_CHARS: Final = 300
"""Maximum characters of a sentence by the model, or of a finding."""
MIN_QUOTE_CHARS: Final = 8
"""Minimum characters of a quote without blanks: shorter lines are everywhere."""
CHARS_PER_TOKEN: Final = 2.5
"""Low estimate of the characters per token of a chat."""
SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {name: {"type": "string"} for name in ("says", "quote", "fact")}
    | {"verdict": {"enum": [verdict.value for verdict in Verdict]}},
    "required": ["says", "quote", "fact", "verdict"],
    "additionalProperties": False,
}
"""JSON Schema of an answer: the verdict comes last, after its reasons."""
NO_QUOTE: Final = "its quote is not a line of the code"
NO_SENTENCE: Final = "no sentence that says why"


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Prompt file; `prompts/verify.v1.toml` explains each text."""

    instruction: str
    opening: str
    closing: str
    request: str


class Verification(NamedTuple):
    """Receipts of the statements of one change."""

    receipts: list[Receipt | None]
    """A receipt for each statement; None if it is undecided."""
    notes: tuple[str, ...]
    """The cost, and the number of answers without a verdict."""


class _Reply(msgspec.Struct, frozen=True):
    verdict: Verdict
    quote: str = ""
    claim: str = msgspec.field(name="says", default="")
    fact: str = ""


class _Question(NamedTuple):
    texts: dict[str, str]
    """Text by name: code, findings, remark."""
    excerpt: Excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVerifier:
    """Verifier that asks a language model."""

    engine: Engine
    """Engine that runs the model."""
    max_tokens: int = 512
    """Maximum tokens of an answer."""
    temperature: float = 0.0
    """Sampling temperature."""
    prompt: Prompt[Wording] = field(default_factory=lambda: prompts.read_prompt(PROMPT, Wording))
    """The instructions."""
    cache: Store | None = None
    """Answers of earlier runs; None to cache nothing."""

    @property
    def identity(self) -> str:
        """Model, prompt and sampling, for the signature."""
        sampling = f"t{self.temperature:g},n{self.max_tokens}"
        return f"{self.engine.identity},{self.prompt.identity},{sampling},r{READER_VERSION}"

    def verify(
        self,
        statements: Sequence[Statement],
        diff: Diff,
        findings: Sequence[Finding],
        receipts: Sequence[Receipt | None],
    ) -> Verification:
        """Ask about the statements that have no receipt, in one batch.

        Args:
            statements: The statements.
            diff: The change, with full files where they are known.
            findings: Findings of analyzers in the change.
            receipts: Receipt that the code alone yields for each statement; None without.

        Returns:
            These receipts, completed by the receipts of the model.

        Raises:
            DependencyError: The engine's package is not installed.
            ModelNotFoundError: The model is not available and may not be downloaded.
            GenerationError: The model cannot answer at all.
        """
        verified = list(receipts)
        if None not in verified:
            return Verification(verified, ())
        excerpts = Excerpts(diff, self._max_code_chars())
        questions = {
            index: question
            for index, statement in enumerate(statements)
            if verified[index] is None
            and not statement.comment.is_older
            and (question := _make_question(statement, excerpts, findings))
        }
        replies, answers = self._ask([question.texts for question in questions.values()])
        undecided: list[str | MalformedAnswerError] = [
            answer.reason for answer in answers if answer.reason is not None
        ]
        for (index, question), reply in zip(questions.items(), replies, strict=True):
            receipt: Receipt | MalformedAnswerError | str | None
            try:
                receipt = None if reply is None else read_receipt(reply, question.excerpt)
            except MalformedAnswerError as exc:
                receipt = exc
            if isinstance(receipt, (str, MalformedAnswerError)):
                undecided.append(receipt)
            else:
                verified[index] = receipt
        decided = [known.verdict for index in questions if (known := verified[index])]
        notes = _notes(len(questions), answers, decided, undecided) if questions else ()
        return Verification(verified, tuple(notes))

    def _max_code_chars(self) -> int:
        """Return the maximum characters of code that fit the model's context."""
        tokens = self.engine.context_tokens
        if tokens is None:
            return MAX_CODE_CHARS
        overhead = len(self.prompt.content.instruction) + MAX_REMARK_CHARS + 500
        fitting = int((tokens - self.max_tokens) * CHARS_PER_TOKEN) - overhead
        return max(0, min(MAX_CODE_CHARS, fitting))

    def _ask(
        self, batch: Sequence[dict[str, str]]
    ) -> tuple[list[Answer | None], tuple[Answer, ...]]:
        """Return the answer to each question, None without one, and the new answers."""
        producer = f"{self.identity} {self.engine.origin}"
        contents = [json.dumps([producer, question]) for question in batch]
        keys = [hashlib.sha256(content.encode()).hexdigest() for content in contents]
        known = {key: answer for key in keys if (answer := self._cached(key)) is not None}
        missing = dict(zip(keys, batch, strict=True))
        for key in known:
            del missing[key]
        if not missing:
            return [known[key] for key in keys], ()
        # A new mark for each run, so that no author can predict how a fence ends.
        fence = Fence(nonce=secrets.token_hex(8), special=self.engine.special_tokens)
        chats = [make_chat(self.prompt.content, question, fence) for question in missing.values()]
        sampling = Sampling(max_tokens=self.max_tokens, temperature=self.temperature, schema=SCHEMA)
        answers = self.engine.complete(chats, sampling)
        for key, answer in zip(missing, answers, strict=True):
            if answer.reason is None:
                known[key] = answer
                if self.cache is not None and answer.whole:
                    self.cache.put(f"{KIND} {key}", answer.text.encode("utf-8", "replace"))
        return [known.get(key) for key in keys], answers

    def _cached(self, key: str) -> Answer | None:
        data = None if self.cache is None else self.cache.get(f"{KIND} {key}")
        return None if data is None else Answer(text=data.decode("utf-8", "replace"), whole=True)


def make_chat(wording: Wording, texts: Mapping[str, str], fence: Fence) -> tuple[Message, ...]:
    """Return the chat about one remark.

    Args:
        wording: The instructions.
        texts: Untrusted texts by name: code, findings, remark.
        fence: Marks the texts as data.
    """
    mark = {"mark": fence.nonce}
    blocks = [wording.instruction.strip()]
    for name, text in texts.items():
        opening = prompts.fill(wording.opening, mark | {"part": name})
        closing = prompts.fill(wording.closing, mark | {"part": name})
        blocks.append(f"{opening}\n{fence.text(text)}\n{closing}")
    blocks.append(prompts.fill(wording.request, mark))
    return (Message(role="user", text="\n\n".join(blocks)),)


def read_receipt(answer: Answer, excerpt: Excerpt) -> Receipt | str | None:
    """Read a model's answer, and look up its quote.

    Args:
        answer: The model's answer.
        excerpt: The code that it was shown.

    Returns:
        The receipt; None if the model is undecided; a reason if its verdict does not count.

    Raises:
        MalformedAnswerError: The answer has no verdict in JSON.
    """
    fits = partial(msgspec.convert, type=_Reply)
    reply = read_object(answer.text, fits, whole=answer.whole)
    if reply.verdict is Verdict.UNPROVEN:
        return None
    span = _find_quote(reply.quote, excerpt)
    if span is None:
        return NO_QUOTE
    claim, fact = (_one_line(text).rstrip(".!") for text in (reply.claim, reply.fact))
    if not claim or not fact:
        return NO_SENTENCE
    # The reader must know that the quoted line was looked up, but its reading was not checked.
    fact = f"{fact}, as a language model reads it."
    return Receipt(verdict=reply.verdict, says=claim, fact=fact, lines=(span,))


def _find_quote(quote: str, excerpt: Excerpt) -> LineSpan | None:
    """Find a quoted line; among equal lines, the nearest to the remark's line."""
    dense = _dense(quote)
    spans = [
        line.span
        for line in excerpt.lines
        if dense in (_dense(line.text), _dense(line.sign + line.text))
        and len(_dense(line.text)) >= MIN_QUOTE_CHARS
        and any(map(str.isalnum, line.text))
    ]
    return min(spans, key=lambda span: distance(span, excerpt.location), default=None)


def _dense(line: str) -> str:
    """Return a line without white space, including the spaces that break up control tokens."""
    return "".join(break_control_tokens(line).split())


def _one_line(text: str) -> str:
    return " ".join(clean(text[:MAX_SENTENCE_CHARS]).split())


def _make_question(
    statement: Statement, excerpts: Excerpts, findings: Sequence[Finding]
) -> _Question | None:
    remark = "\n".join(sentence.text for sentence in statement.sentences)[:MAX_REMARK_CHARS]
    excerpt = excerpts.find(remark, statement.comment)
    if excerpt is None:
        return None
    code = "\n\n".join(
        "\n".join([_one_line(passage.title), *(line.sign + line.text for line in passage.lines)])
        for passage in excerpt.passages
    )
    at = (line.text.strip() for line in excerpt.lines if line.span == excerpt.location)
    if statement.comment.line is not None and (text := next(at, "")):
        remark = f"On the line: {text}\n{remark}"
    texts = {"code": code, "findings": "\n".join(_facts(findings, excerpt)), "remark": remark}
    return _Question({name: text for name, text in texts.items() if text}, excerpt)


def _facts(findings: Sequence[Finding], excerpt: Excerpt) -> list[str]:
    """Describe the findings on the lines of an excerpt."""
    lines = {
        (line.span.path, line.span.start): line.text
        for line in excerpt.lines
        if line.span.side is Side.NEW
    }
    facts = [
        f"{_one_line(finding.text)} ({finding.tool}, on the line: {_one_line(text)})"
        for finding in findings
        if (text := lines.get((finding.path, finding.line)))
    ]
    return facts[:MAX_FINDINGS]


def _notes(
    remarks: int,
    answers: Sequence[Answer],
    decided: Sequence[Verdict],
    undecided: Sequence[str | MalformedAnswerError],
) -> Iterator[str]:
    confirmed, refuted = map(decided.count, (Verdict.CONFIRMED, Verdict.REFUTED))
    read = sum(answer.input_tokens or 0 for answer in answers)
    written = sum(answer.output_tokens or 0 for answer in answers)
    yield (
        "A language model judged what the code alone leaves open: of "
        f"{count_noun(remarks, 'remark')}, {confirmed} confirmed and {refuted} refuted (calls: "
        f"{len(answers):,}; tokens read: {read:,}, written: {written:,})."
    )
    if undecided:
        reasons = summarize(undecided)
        yield f"{len(undecided)} of the model's answers decide nothing: {reasons}."
