"""Reads recorded answers of a language model, for `--reader replay:FILE`.

The file is in JSON Lines. Each row has the `id` of a request that `crscore read --requests` wrote,
and the model's `answer` as text or as an object. The fields `model`, `input_tokens` and
`output_tokens` are optional.
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
    """Read recorded answers, and return a source that looks them up.

    Args:
        name: Path of a JSON Lines file, plain or compressed with gzip.

    Raises:
        ConfigError: `name` is empty.
        InputError: The file cannot be read, has no rows, has a row in another format, or has two
            different answers to one request.
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
            raise InputError(f"{position}: the answer differs from an earlier one to {row.id}")
        models |= {row.model} if row.model else set()
    if not answers:
        raise InputError(f"{name}: the file contains no answers")
    # The hash is part of the signature, because scores from two recordings are not comparable.
    digest = hashlib.sha256(content).hexdigest()[:8]
    missing = Answer(text="", whole=False, reason=MISSING)
    return Respondent(
        identity=":".join([f"replay@{digest}", *sorted(models)]),
        ask=lambda requests: [answers.get(request.id, missing) for request in requests],
    )
