from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from crscore.diff import parse
from crscore.errors import ConfigError, InputError
from crscore.readers import replay
from crscore.readers.requests import make_requests
from crscore.records import Comment
from crscore.review.read import split_review

if TYPE_CHECKING:
    from pathlib import Path

DIFF = parse.parse_diff("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n")
COMMENTS = (Comment(body="Why?"), Comment(body="Because."))
REQUESTS = make_requests(DIFF, COMMENTS, split_review(COMMENTS, DIFF, "markdown").parsed, ())


def write(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n", "utf-8")
    return str(path)


def test_answers_are_found_by_the_ids_of_their_requests(tmp_path: Path) -> None:
    row = {"id": REQUESTS[0].id, "model": "big", "input_tokens": 5, "output_tokens": 3}
    name = write(tmp_path / "a.jsonl", row | {"answer": {"remarks": []}})
    recording = replay.read_recording(name)
    answer, missing = recording.ask(REQUESTS)
    assert (json.loads(answer.text), answer.input_tokens) == ({"remarks": []}, 5)
    assert missing.reason == replay.MISSING
    assert recording.identity.startswith("replay@")
    assert recording.identity.endswith(":big")


def test_text_and_packed_files_are_read(tmp_path: Path) -> None:
    row = {"id": REQUESTS[0].id, "answer": "text"}
    name = write(tmp_path / "a.jsonl", row, row)
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.jsonl").read_bytes()))
    for path in (name, str(packed)):
        assert replay.read_recording(path).ask(REQUESTS)[0].text == "text"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "contains no answers"),
        ([{"id": "1"}], "a.jsonl:1: object missing required field `answer`"),
        ([{"id": "1", "answer": 3}], "answer"),
        (
            [{"id": "1", "answer": "a"}, {"id": "1", "answer": "b"}],
            "a.jsonl:2: the answer differs from an earlier one to ",
        ),
    ],
)
def test_recording_that_cannot_be_used_is_refused(
    tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        replay.read_recording(write(tmp_path / "a.jsonl", *rows))


def test_file_must_be_named() -> None:
    with pytest.raises(ConfigError, match="replay:FILE"):
        replay.read_recording("")
