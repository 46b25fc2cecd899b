"""Asks a language model to judge unsure pairs: `crscore bench --reader openai:MODEL`.

The model decides only about pairs for which the matcher is unsure, and its answers count like
decisions by hand. The texts of the set and of bots are untrusted, so requests mark them as
quotations, like the requests of readers (`docs/design/033-readers.md`).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from crscore.bench.records import Finding, Problem
from crscore.errors import MalformedAnswerError
from crscore.llm.answers import read_object, summarize
from crscore.readers.model import Effort, ModelReader
from crscore.readers.requests import Question, read_guide
from crscore.reports import escape
from crscore.text import clean, count_noun

GUIDE: Final = "match.v1"
"""Name of the prompt that tells the model how to decide."""
MAX_CHARS: Final = 4_000
"""Maximum number of characters of each text in a request; the rest is cut off."""
# The sentence in an answer takes about 40 tokens; the rest is for models that reason before they
# answer.
MAX_TOKENS: Final = 512
"""Maximum number of tokens of an answer."""
# The reason comes first, as in a reader's answer (`readers/answers.py`), so that the model thinks
# before it decides.
SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object", "required": ["why", "same"], "additionalProperties": False,
    "properties": {"why": {"type": "string"}, "same": {"type": "boolean"}},
}  # fmt: skip
"""JSON Schema of an answer."""


def _is_same(answer: dict[str, Any]) -> bool:
    if not isinstance(answer.get("same"), bool):
        raise ValueError("`same` must be true or false")
    return bool(answer["same"])


def make_request(problem: Problem, finding: Finding) -> Question:
    """Return a request that asks whether a finding is about a known problem."""
    texts = {}
    for name, side in (("known problem", problem), ("finding", finding)):
        place = f"\n(in {side.path}, line {side.line or 'unknown'})" if side.path else ""
        # Invisible characters are removed, so that a model reads what people see.
        texts[name] = clean(side.text[:MAX_CHARS] + place)
    return Question(guide=read_guide(GUIDE), texts=texts, schema=SCHEMA, max_tokens=MAX_TOKENS)


def write_requests(pairs: Iterable[tuple[Problem, Finding]]) -> str:
    """Return the distinct requests about pairs as JSON Lines, for another program to answer."""
    requests = {(request := make_request(*pair)).id: request for pair in pairs}.values()
    return "".join(escape.write_json(request.document(), indent=None) for request in requests)


def decide(
    judge: ModelReader, pairs: Mapping[str, tuple[Problem, Finding]]
) -> tuple[dict[str, bool], list[str], str]:
    """Ask a language model about pairs in one batch; a pair without an answer stays unsure.

    Args:
        judge: The language model.
        pairs: Problem and finding of each pair, keyed by the identifier of the pair.

    Returns:
        The answers, keyed by the identifier of the pair: whether the finding is about the problem;
        notes about the answers and their cost; and the model's part of the signature.
    """
    requests = {id_: make_request(*pair) for id_, pair in pairs.items()}
    replies, _ = judge.ask(requests.values())
    verdicts: dict[str, bool] = {}
    failures: list[str | MalformedAnswerError] = []
    for id_, request in requests.items():
        reply = replies[request.id]
        try:
            if reply.reason is None:
                verdicts[id_] = read_object(reply.text, _is_same, whole=reply.whole)
            else:
                failures.append(reply.reason)
        except MalformedAnswerError as exc:
            failures.append(exc)
    answered = [reply for reply in replies.values() if reply.reason is None]
    effort = Effort.of(answered, read=len(verdicts))
    notes = [
        f"a language model decided {len(verdicts):,} of {count_noun(len(pairs), 'unsure pair')}"
        f" ({effort.describe(judge.prices, 'pairs')})"
    ]
    if failures:
        notes.append(f"pairs that stay unsure: {summarize(failures)}")
    identity = f"|reader:{judge.respondent.identity},{read_guide(GUIDE).identity}"
    return verdicts, notes, identity
