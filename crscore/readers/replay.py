"""Recorded answers of a language model: `--reader replay:FILE`, JSON Lines.

A row has the `id` of a request of `crscore read --requests` and the `answer`, as text or as an
object; and optionally `model`, `input_tokens` and `output_tokens`.
"""

import hashlib
import json
from pathlib import Path
from typing import Any, Final

import msgspec

from crscore import jsonl
from crscore.errors import ConfigError, InputError
from crscore.llm.base import Answer
from crscore.readers.model import Respondent

MISSING: Final = "the recording has no answer with this id"


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    answer: str | dict[str, Any]
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


def read_recording(name: str) -> Respondent:
    """Read a recording.

    Args:
        name: JSON Lines, plain or gzip.

    Raises:
        ConfigError: No file is named.
        InputError: The file cannot be read, a row is wrong, or two answer one request differently.
    """
    if not name:
        raise ConfigError("reader", "settings", "replay needs a file: replay:FILE")
    path = Path(name)
    content = jsonl.read_bytes(path, "recorded answers")
    answers: dict[str, Answer] = {}
    models: set[str] = set()
    for position, row in jsonl.read_rows(content, _Row, path, "recorded answers"):
        text = row.answer if isinstance(row.answer, str) else json.dumps(row.answer)
        answer = Answer(
            text=text, whole=True, input_tokens=row.input_tokens, output_tokens=row.output_tokens
        )
        if answers.setdefault(row.id, answer).text != text:
            raise InputError(f"{position}: another answer to the request {row.id} is above")
        models |= {row.model} if row.model else set()
    if not answers:
        raise InputError(f"{name}: there is no answer")
    # The identity is part of the signature: scores from another recording are not comparable.
    digest = hashlib.sha256(content).hexdigest()[:8]
    missing = Answer(text="", whole=False, reason=MISSING)
    return Respondent(
        identity=":".join([f"replay@{digest}", *sorted(models)]),
        ask=lambda requests: [answers.get(request.id, missing) for request in requests],
    )
