"""The setting `reader`: from the settings to the result."""

from __future__ import annotations

import functools
import json
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from crscore import Scorer
from crscore.diff import parse
from crscore.errors import ConfigError, DependencyError, InputError
from crscore.llm import openai
from crscore.records import Comment, Stance, Verdict
from crscore.scoring.assembly import shorten_signature
from crscore.settings import resolve_settings
from crscore.usefulness.headline import BOTS, PEOPLE, REVIEWS, percentile
from tests.helpers import scripted_llm
from tests.helpers.model_readings import WORTHLESS, answer, comments_in, obey, pair_orders, remark
from tests.helpers.scripted_llm import well

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[3]
DIFF = (ROOT / "examples" / "change.diff").read_text("utf-8")
FALSE = "`max_attempts` is off by one in `charge`."
LINE = "        for attempt in range(self.max_attempts):"
WRITERS = (PEOPLE, BOTS)
QUIET: dict[str, Any] = {"analyzers": "none", "cache": False, "claims": "structural"}


def record(path: Path, scorer: Scorer, review: Any, *remarks: dict[str, Any]) -> str:
    """Write an answer to each request about a review."""
    (requests,) = scorer.requests([(DIFF, review)])
    rows = [{"id": request.id, "answer": json.loads(answer(*remarks))} for request in requests]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return f"replay:{path}"


def test_recorded_answers_are_the_readings_of_a_run(tmp_path: Path) -> None:
    review = f"Nice work!\n\n{FALSE}\n\nPlease rename `attempt` to `number`."
    network = Scorer(**QUIET)
    reader = record(
        tmp_path / "answers.jsonl",
        network,
        review,
        remark("`max_attempts` is", "`charge`.", holds="no", line=LINE, worth=1, importance=4),
        remark("Please rename", "`number`", stance="request", importance=1, worth=2),
    )
    result = Scorer(**QUIET, reader=reader).score(DIFF, review)
    texts = [[result.sentences[at].text for at in item.sentences] for item in result.remarks]
    assert texts == [[FALSE], ["Please rename `attempt` to `number`."]]
    false, nit = result.remarks
    assert (false.verdict, false.worth) == (Verdict.REFUTED, 1.0)
    assert (nit.stance, nit.worth) == (Stance.REQUEST, 2.0)
    assert "|readings:replay@" in result.signature
    assert "A language model read 1 of 1 comment" in result.notes[0]
    assert "readings:" not in network.score(DIFF, review).signature


def test_part_of_a_comment_that_the_model_leaves_out_is_read_by_the_network(tmp_path: Path) -> None:
    review = f"{FALSE}\n\nPlease raise an error when all attempts fail.\n\nThank you!"
    reader = record(
        tmp_path / "a.jsonl", Scorer(**QUIET), review, remark("`max_attempts` is", "`charge`")
    )
    remarks = Scorer(**QUIET, reader=reader).score(DIFF, review).remarks
    assert [item.reading is None for item in remarks] == [False, True]


def test_review_that_a_model_read_in_part_is_on_the_scale_of_the_model(tmp_path: Path) -> None:
    review = f"{FALSE}\n\nPlease raise an error when all attempts fail.\n\nWhy is `time` imported?"
    reader = record(
        tmp_path / "a.jsonl", Scorer(**QUIET), review, remark("Please raise", "fail.", worth=4)
    )
    scorer = Scorer(**QUIET, reader=reader)
    result = scorer.score(DIFF, review)
    assert [item.reading is None for item in result.remarks] == [False, True]
    network = scorer.parts.reader
    assert network
    assert result.usefulness
    values = np.sort(np.concatenate([network.weights.guide[REVIEWS, who] for who in WRITERS]))
    assert result.standing == percentile(values, result.usefulness.value)


def test_comments_without_a_recorded_answer_are_read_by_the_network(tmp_path: Path) -> None:
    reader = record(tmp_path / "a.jsonl", Scorer(**QUIET), "Why?", remark("Why"))
    result = Scorer(**QUIET, reader=reader).score(DIFF, FALSE)
    assert all(item.reading is None for item in result.remarks)
    assert result.notes[0].startswith("A language model read 0 of 1 comment")
    assert "the recording has no answer with this id (1)" in result.notes[1]
    assert ",partial|" in result.signature
    assert " · read by none · " in shorten_signature(result.signature)


def test_comment_on_an_older_version_is_read_with_that_version() -> None:
    older = parse.parse_diff("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-first = 1\n+second = 2\n")
    comments = [
        Comment(body="`second` is never used.", path="a.py", line=1, outdated=True, author="me"),
        Comment(body="Is it done?", path="web/cart.js", earlier=True),
        Comment(body="Use a set here.", path="web/cart.js", line=3),
    ]
    with scripted_llm.serve(lambda asked: obey(asked, worth=2)) as server:
        scorer = served(server)
        result = scorer.score(DIFF, comments, originals={0: older})
        texts = [asked.text for asked in server.chats()]
    # The two are asked at the same time.
    assert sorted("second = 2" in text for text in texts) == [False, True]
    assert [item.reading is not None for item in result.remarks] == [True, False, True]
    assert "read 2 of 2 comments" in result.notes[0]


def served(server: scripted_llm.Server, **settings: Any) -> Scorer:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", server.url)
        return Scorer(**QUIET | {"reader": "openai:tiny"} | settings)


def test_requests_of_all_pairs_are_one_batch_without_duplicates() -> None:
    pairs = [(DIFF, FALSE), (DIFF, "Why?"), (DIFF, FALSE)]
    with scripted_llm.serve(lambda asked: obey(asked, worth=2)) as server:
        results = served(server).score_many(pairs)
        assert len(server.chats()) == 2
    assert [bool(result.remarks[0].reading) for result in results] == [True] * 3


def test_comment_in_another_language_is_read() -> None:
    review = "Der Standardwert von `timeout` fehlt, also brechen alle Aufrufer."
    other = "Please use a set here, the list is searched for each order."
    with scripted_llm.serve(lambda asked: obey(asked, worth=4, line=LINE)) as server:
        result = served(server).score(DIFF, [Comment(body=review), Comment(body=other)])
    assert result.remarks[0].worth == 4
    assert not any("Not in English" in note for note in result.notes)
    assert result.comments[0].usefulness is not None


def test_network_reads_with_a_note_if_the_server_is_unreachable(monkeypatch) -> None:
    monkeypatch.setattr(openai, "MAX_RETRIES", 0)
    with scripted_llm.serve(obey) as server:
        scorer = served(server, concurrency=1)
    result = scorer.score(DIFF, FALSE)
    assert result.standing == Scorer(**QUIET).score(DIFF, FALSE).standing
    assert "the server is not reachable" in result.notes[1]


# The goal is 10 (docs/design/033-readers.md).
MOST = {2: (20, 4), 3: (44, 4), 4: (44, 4), 5: (44, 4)}
"""Worth with which a model obeys -> highest gain, and number of 57 texts that gain more than 10."""


@pytest.fixture(
    scope="module",
    params=[
        worth if worth == 5 else pytest.param(worth, marks=pytest.mark.hostile) for worth in MOST
    ],
)
def injected(request: pytest.FixtureRequest) -> Iterator[tuple[Scorer, int]]:
    """Scorer whose model answers every order with a worth, and that worth."""
    with scripted_llm.serve(lambda asked: obey(asked, worth=request.param)) as server:
        yield served(server), request.param


@functools.cache
def plain(pairs: tuple[tuple[str, str], ...]) -> list[int]:
    """Return the standings without a model."""
    return [result.standing or 0 for result in Scorer(**QUIET).score_many(pairs)]


def gains(scorer: Scorer, pairs: Sequence[tuple[str, str]]) -> list[int]:
    """Return by how many points a model that obeys raises the standing of each text."""
    return [
        (result.standing or 0) - other
        for result, other in zip(scorer.score_many(pairs), plain(tuple(pairs)), strict=True)
    ]


def test_text_of_a_comment_gains_little_even_from_a_model_that_obeys(
    injected: tuple[Scorer, int],
) -> None:
    pairs = [(DIFF, text) for _, text in pair_orders()]
    scorer, worth = injected
    found = gains(scorer, pairs)
    highest, over = MOST[worth]
    assert max(found) <= highest
    assert sum(gain > 10 for gain in found) <= over


def test_text_of_the_code_gains_nothing_even_from_a_model_that_obeys(
    injected: tuple[Scorer, int],
) -> None:
    files = sorted((ROOT / "tests" / "data" / "injections").glob("*.toml"))
    diffs = [tomllib.loads(file.read_text("utf-8"))["diff"] for file in files]
    pairs = [(diff, text) for diff in diffs for text in WORTHLESS[::2]]
    assert max(gains(injected[0], pairs)) <= 10


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reader": "openai"}, "openai needs a model: openai:MODEL"),
        ({"reader": "gpt"}, "must be network, openai:MODEL, vllm:MODEL or replay:FILE, not 'gpt'"),
        ({"reader": "network:big"}, "not 'network:big'"),
        ({"reader": "replay"}, "replay needs a file"),
        ({"reader": "openai:m", "reader_price": "3"}, "must be like 0.25,2"),
        ({"reader": "openai:m", "reader_price": "a,b"}, "must be like 0.25,2"),
        ({"reader": "openai:m", "reader_price": "1,-2"}, "must be like 0.25,2"),
        ({"reader_price": "free"}, "must be like 0.25,2"),
        ({"reader": "openai:m", "encoder": "hashing", "threshold": 0.5}, "the default encoder"),
    ],
)
def test_setting_that_cannot_be_used_is_refused(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], message: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with pytest.raises(ConfigError, match=message):
        Scorer(**QUIET | settings)


def test_missing_recording_is_refused() -> None:
    with pytest.raises(InputError, match=r"none\.jsonl cannot be read as recorded answers"):
        Scorer(**QUIET, reader="replay:none.jsonl")


def test_missing_vllm_ends_the_run_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for package in ("transformers", "vllm"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DependencyError, match=r"pip install 'crscore\[vllm\]'"):
        Scorer(**QUIET, reader="vllm:owner/model").score(DIFF, FALSE)


def test_model_is_named_by_the_reader_or_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    for settings in ({"reader": "openai:big"}, {"reader": "openai", "model": "big"}):
        model = Scorer(**QUIET | settings).parts.model
        assert model is not None
        assert model.identity.startswith("openai:big,t0,n2048,read.v1@")


def test_settings_file_may_name_a_model_but_no_recording() -> None:
    def settings(value: str) -> str:
        file = f'[tool.crscore]\nreader = "{value}"\n'
        return resolve_settings({}, environment={}, file=file).reader

    assert settings("openai:owner/model") == "openai:owner/model"
    for value in ("replay:answers.jsonl", "vllm:./folder", "vllm:/folder"):
        with pytest.raises(ConfigError, match="may name models but no folder or recording"):
            settings(value)


def test_environment_chooses_the_reader() -> None:
    environment = {"CRSCORE_READER": "openai:m", "CRSCORE_READER_LIMIT": "5"}
    settings = resolve_settings({}, environment=environment, file=None)
    assert (settings.reader, settings.reader_limit) == ("openai:m", 5)


def test_comments_in_returns_the_comments_of_a_request() -> None:
    with scripted_llm.serve(well("[]")) as server:
        served(server).score(DIFF, "First line.\n\nSecond line.")
        assert comments_in(server.chats()[0].text) == {1: ["First line. ", "Second line."]}
