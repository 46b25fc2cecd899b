"""A model behind a real server on loopback, through the real client, reads comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crscore import plugins
from crscore.cache import Cache
from crscore.diff import parse
from crscore.readers import model
from crscore.readers.model import ModelReader, ModelReadings, Prices, make_respondent
from crscore.readers.requests import make_requests, read_guide
from crscore.records import Comment
from crscore.review.read import split_review
from tests.helpers import scripted_llm
from tests.helpers.model_readings import answer, comments_in, remark
from tests.helpers.scripted_llm import Asked, Say, well

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crscore.readers.requests import Request

DIFF = parse.parse_diff("--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n-x = 1\n+x = 2\n+y = x\n")


def requests_about(*bodies: str) -> list[Request]:
    comments = [Comment(body=body, path="a.py", line=1) for body in bodies]
    return make_requests(DIFF, comments, split_review(comments, DIFF, "markdown").parsed, ())


def say(asked: Asked) -> Say:
    """Read each comment as one remark."""
    lines = comments_in(asked.text)
    return well(answer(*(remark(said[0], comment=number) for number, said in lines.items())))


def reader(server: scripted_llm.Server, **options: Any) -> ModelReader:
    engine = plugins.create("engines", "openai", {"model": "tiny", "base_url": server.url})
    return ModelReader(make_respondent(engine), **options)


def read(script: Any, *reviews: Sequence[Request], **options: Any) -> list[ModelReadings]:
    with scripted_llm.serve(script) as server:
        return reader(server, **options).read(reviews)


def test_each_comment_has_one_request() -> None:
    requests = requests_about("Why?", "Really?")
    with scripted_llm.serve(say) as server:
        asking = reader(server)
        first, second = asking.read([requests, requests])
        assert len(server.chats()) == 2
    costs = (asking.effort.new_requests, asking.effort.new_read, asking.effort.new_written)
    assert costs == (2, 22, 14)
    assert [[*readings.remarks] for readings in (first, second)] == [[0, 1]] * 2
    assert first.is_whole
    assert first.notes == (
        "A language model read 2 of 2 comments (requests: 2, 0 of them answered from the cache; "
        "tokens read: 22, written: 14).",
    )


def test_effort_of_all_calls_is_added_up() -> None:
    with scripted_llm.serve(say) as server:
        asking = reader(server)
        for body in ("Why?", "Really?"):
            asking.read([requests_about(body)])
    assert asking.total.startswith("A language model read 2 of 2 comments (requests: 2, 0")
    assert "tokens read: 22" in asking.total


def test_review_without_requests_has_no_note() -> None:
    assert read(say, []) == [ModelReadings()]


def test_price_of_1000_comments_is_reported() -> None:
    (readings,) = read(say, requests_about("Why?", "Really?"), prices=Prices(1.0, 2.0))
    # 2 requests of 11 + 2 * 7 millionths, for 2 comments
    assert "written: 14; price of 1,000 comments: 0.03)." in readings.notes[0]


def test_answers_are_cached_with_their_tokens_and_failures_are_not(tmp_path: Path) -> None:
    store = Cache(tmp_path)
    says = [scripted_llm.completion([]), well("nothing"), say]
    requests = requests_about("Why?")

    def script(asked: Asked) -> Say:
        said = says[min(len(server.chats()), 3) - 1]
        return said if isinstance(said, Say) else said(asked)

    with scripted_llm.serve(script) as server:
        runs = [reader(server, cache=store).read([requests])[0] for _ in range(4)]
        assert len(server.chats()) == 3
    assert [bool(run.remarks) for run in runs] == [False, False, True, True]
    assert runs[2].remarks == runs[3].remarks
    assert "1 of them answered from the cache; tokens read: 11" in runs[3].notes[0]


def test_cached_answers_are_those_of_the_same_model_and_server(tmp_path: Path) -> None:
    store = Cache(tmp_path)
    for _ in range(2):
        assert "0 of them" in read(say, requests_about("Why?"), cache=store)[0].notes[0]


def test_requests_over_the_limit_of_a_run_are_left_to_the_network(tmp_path: Path) -> None:
    requests = requests_about("Why?", "Really?", "How?")
    store = Cache(tmp_path)
    with scripted_llm.serve(say) as server:
        limited = reader(server, limit=2, cache=store)
        first, second = limited.read([requests[:1], requests[1:]])
        again = limited.read([requests])[0]
        assert len(server.chats()) == 2
    assert (first.is_whole, second.is_whole, again.is_whole) == (True, False, False)
    assert second.notes[1] == (
        "The network alone read 1 comment: over the limit of 2 requests (1)."
    )
    assert [*again.remarks] == [0, 1]


@pytest.mark.parametrize(
    ("script", "reason", "is_whole"),
    [
        (scripted_llm.error(401, "wrong key"), "the server rejects the key", False),
        (scripted_llm.error(404, "no model"), "no such model", False),
        (scripted_llm.completion([]), "no choices", False),
        (well("I cannot read this."), "the answer has no JSON", True),
        (well(answer(remark("Why", comment=2))), "the answer quotes no words of the comment", True),
        (well(answer(remark("Why"))[:-3], finish_reason="length"), "broke off", True),
    ],
)
def test_failure_leaves_the_comments_to_the_network(
    script: Say, reason: str, is_whole: bool
) -> None:
    (readings,) = read(script, requests_about("Why?"))
    assert readings.remarks == {}
    assert readings.is_whole is is_whole
    assert readings.notes[0].startswith("A language model read 0 of 1 comment")
    assert readings.notes[1].startswith("The network alone read 1 comment: ")
    assert reason in readings.notes[1]
    # What cannot be used is paid for, too.
    assert (f"requests: {int(is_whole)}," in readings.notes[0]) is True


def test_end_of_a_long_comment_is_reported_as_left_to_the_network() -> None:
    (readings,) = read(
        say,
        requests_about(
            "\n\n".join(f"Point {n} is about the value of x, which is unclear." for n in range(300))
        ),
    )
    assert readings.notes[-1] == "The network alone read the end of 1 long comment."


def test_model_with_a_small_context_is_shown_less() -> None:
    options = {"model": "tiny", "base_url": "http://127.0.0.1:9/v1", "max_model_len": 4_096}
    small = make_respondent(plugins.create("engines", "openai", options))
    guide = len(read_guide().content.instruction)
    assert small.max_bytes == (4_096 - 2_048) * 3 - guide


def test_identity_names_model_sampling_guide_and_version() -> None:
    respondent = model.Respondent(identity="recorded", ask=lambda _: ())
    identity = ModelReader(respondent).identity
    assert identity.startswith(f"recorded,{read_guide().identity},r")
