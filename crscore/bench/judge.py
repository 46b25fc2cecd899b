"""A language model as judge of unsure pairs: `crscore bench --reader openai:MODEL`.

It decides only pairs in the matcher's band; its answers count like decisions by hand. Texts of the
set and of bots are untrusted, so they are fenced as for readers (`docs/design/033-readers.md`).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

import msgspec

from crscore.bench.records import Finding, Problem
from crscore.errors import MalformedAnswerError
from crscore.llm import prompts
from crscore.llm.answers import read_object, summarize
from crscore.llm.base import Answer, Message
from crscore.llm.prompt_escaping import Fence
from crscore.llm.prompts import Prompt
from crscore.readers.model import Effort, Prices, Respondent
from crscore.readers.requests import Guide
from crscore.reports import escape
from crscore.text import clean, count_noun

GUIDE: Final = "match.v1"
"""Name of the prompt."""
MAX_CHARS: Final = 4_000
"""Maximum characters of a text that are shown."""
MAX_TOKENS: Final = 512
"""Maximum tokens of an answer: about 40 for a sentence, the rest for reasoning."""
SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object", "required": ["why", "same"], "additionalProperties": False,
    "properties": {"why": {"type": "string"}, "same": {"type": "boolean"}},
}  # fmt: skip
"""JSON Schema of an answer: the reason comes before the decision."""


class _Answer(msgspec.Struct, frozen=True):
    is_same: bool = msgspec.field(name="same")


class PairRequest(NamedTuple):
    """Request about one pair."""

    id: str
    """Hash of its content and of the guide: 32 hexadecimal digits."""
    texts: Mapping[str, str]
    """Untrusted texts by name."""
    schema: Mapping[str, Any] = SCHEMA
    """JSON Schema of an answer."""

    def chat(self, special_tokens: frozenset[str] = frozenset()) -> tuple[Message, ...]:
        """Return the chat; see `readers.requests.Request.chat` for the mark."""
        guide = read_guide().content
        mark = hashlib.sha256(f"fence {self.id}".encode()).hexdigest()[:16]
        fence = Fence(nonce=mark, special=special_tokens)
        blocks = [guide.instruction.strip()]
        for name, text in self.texts.items():
            ends = (guide.opening, guide.closing)
            opening, closing = (prompts.fill(end, {"mark": mark, "part": name}) for end in ends)
            blocks.append(f"{opening}\n{fence.text(text)}\n{closing}")
        blocks.append(prompts.fill(guide.request, {"mark": mark}))
        return (Message(role="user", text="\n\n".join(blocks)),)


class Verdicts(NamedTuple):
    """Decisions of a model."""

    answers: Mapping[str, bool]
    """Identifier of a pair -> whether it is the same point, for the pairs with an answer."""
    notes: tuple[str, ...] = ()
    """Sentences about its decisions and their cost."""
    identity: str = ""
    """Part of the signature."""


@lru_cache(maxsize=1)
def read_guide() -> Prompt[Guide]:
    """Return the guide that comes with crscore."""
    return prompts.read_prompt(GUIDE, Guide)


def make_request(problem: Problem, finding: Finding) -> PairRequest:
    """Make the request about one pair."""
    texts = {}
    for name, side in (("known problem", problem), ("finding", finding)):
        place = f"\n(in {side.path}, line {side.line or 'unknown'})" if side.path else ""
        # Invisible characters are removed, so that a model reads what people see.
        texts[name] = clean(side.text[:MAX_CHARS] + place)
    content = json.dumps([read_guide().identity, texts], sort_keys=True)
    return PairRequest(hashlib.sha256(content.encode()).hexdigest()[:32], texts)


def write_requests(pairs: Iterable[tuple[Problem, Finding]]) -> str:
    """Write the requests about pairs as JSON Lines, for another program to answer."""
    requests = {(request := make_request(*pair)).id: request for pair in pairs}
    rows = (
        {"id": id_, "messages": [{"role": m.role, "content": m.text} for m in request.chat()],
         "max_tokens": MAX_TOKENS, "schema": SCHEMA}
        for id_, request in requests.items()
    )  # fmt: skip
    return "".join(escape.write_json(row, indent=None) for row in rows)


class Judge(NamedTuple):
    """Language model that decides about pairs, and its limits."""

    respondent: Respondent
    limit: int | None = None
    """Maximum number of requests."""
    prices: Prices | None = None

    def decide(self, pairs: Mapping[str, tuple[Problem, Finding]]) -> Verdicts:
        """Ask about pairs, by identifier, in one batch; a pair without an answer stays unsure."""
        requests = {id_: make_request(*pair) for id_, pair in pairs.items()}
        distinct = [*{request.id: request for request in requests.values()}.values()][: self.limit]
        answers = self.respondent.ask(distinct) if distinct else ()
        replies = {r.id: answer for r, answer in zip(distinct, answers, strict=True)}
        over_limit = Answer(text="", whole=False, reason="over the limit of requests")
        parse = partial(msgspec.convert, type=_Answer)
        verdicts: dict[str, bool] = {}
        failures: list[str | MalformedAnswerError] = []
        for id_, request in requests.items():
            reply = replies.get(request.id, over_limit)
            try:
                if reply.reason is None:
                    verdicts[id_] = read_object(reply.text, parse, whole=reply.whole).is_same
                else:
                    failures.append(reply.reason)
            except MalformedAnswerError as exc:
                failures.append(exc)
        answered = [reply for reply in replies.values() if reply.reason is None]
        effort = Effort(
            read=len(verdicts),
            tokens_read=sum(reply.input_tokens or 0 for reply in answered),
            tokens_written=sum(reply.output_tokens or 0 for reply in answered),
        )
        cost = effort.price(self.prices)
        price = "" if cost is None else f"; price of 1,000 pairs: {cost:.2f}"
        notes = [
            f"a language model decided {len(verdicts):,} of {count_noun(len(pairs), 'unsure pair')}"
            f" (tokens read: {effort.tokens_read:,}, written: {effort.tokens_written:,}{price})"
        ]
        if failures:
            notes.append(f"pairs that stay unsure: {summarize(failures)}")
        identity = f"|reader:{self.respondent.identity},{read_guide().identity}"
        return Verdicts(verdicts, tuple(notes), identity)
