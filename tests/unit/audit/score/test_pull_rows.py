from __future__ import annotations

import functools
import json
import re
from typing import TYPE_CHECKING, Any, cast

from crscore import Scorer, cli
from crscore.audit.score import pull_rows
from crscore.audit.score.pull_rows import score_pull, signature_of
from crscore.audit.store.rows import AuditRun, CommentScore, Score
from crscore.audit.summary import make_overview
from crscore.audit.tables import Period
from crscore.encoders.hashing import Hashing
from crscore.readers.model import ModelReader
from crscore.records import Importance
from crscore.sandbox import run
from crscore.settings import Config, override_settings
from tests.helpers import scripted_llm
from tests.helpers.audits import NIGHT, SETTINGS, Audit, module
from tests.helpers.model_readings import answer, comments_in, obey, remark

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt
    import pytest

    from crscore.readers.requests import Question


class Broken(Hashing):
    """Encoder that raises an error because of a bug."""

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        raise ZeroDivisionError("bad \x1b[31mtext\n")


def test_bug_in_one_pull_is_its_reason(tmp_path: Path) -> None:
    (task,) = Audit(tmp_path, pulls=1).tasks()
    scored = score_pull(task, Scorer(SETTINGS, encoder=Broken()))
    (row,) = scored.rows
    assert (scored.failure, cast("Score", row).reason) == ("bad text", "failed: bad text")


def test_signature_is_the_same_for_every_language(tmp_path: Path) -> None:
    scorer = pull_rows.make_scorer(SETTINGS)
    first, second = (score_pull(task, scorer) for task in Audit(tmp_path, pulls=2).tasks())
    assert first.signature == second.signature == signature_of(scorer)
    assert "analyzers:none" in first.signature


def test_signature_names_the_tools_that_are_installed() -> None:
    scorer = Scorer(encoder="hashing", threshold=0.5, analyzers="ruff", cache=False)
    assert "analyzers:ruff@" in signature_of(scorer)
    assert signature_of(scorer).endswith("|points:2")  # scores of another rule are computed anew


def test_signature_says_where_no_sandbox_let_the_tools_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "can_confine", functools.partial(run.can_confine, "darwin", "arm64"))
    options = {"encoder": "hashing", "threshold": 0.5, "analyzers": "ruff", "cache": False}
    assert "|analyzers:sandbox:none|" in signature_of(Scorer(**options, untrusted=True))
    trusting = signature_of(Scorer(**options, untrusted=True, trust=True))
    assert re.search(r"\|analyzers:ruff@[\d.]+,sandbox:none\|", trusting)


def test_pull_that_a_model_read_in_part_has_a_signature_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (task,) = Audit(tmp_path, pulls=1).tasks()
    settings = {"reader": "openai:tiny", "reader_limit": 1, "analyzers": "none", "cache": False}
    with scripted_llm.serve(obey) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        scorer = Scorer(claims="structural", **settings)
        scored = score_pull(task, scorer)
        assert len(server.chats()) == 1
    assert ",partial|" in scored.signature
    assert scored.signature.replace(",partial|", "|") == signature_of(scorer)


def test_effort_of_a_model_is_that_of_all_pulls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = Audit(tmp_path, pulls=2)
    options = {"reader": "openai:tiny", "analyzers": "none", "cache": False}
    settings = override_settings(Config(), options)
    with scripted_llm.serve(obey) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        night = audit.score(settings)
        asked = len(server.chats())
    model = pull_rows.make_scorer(settings).parts.model
    assert model
    assert model.effort.requests == asked > 2
    assert model.total.startswith(f"A language model read {asked} of {asked} comments (requests")
    # The stored run has the same numbers as the printed text.
    with audit.open() as store:
        assert store.select(AuditRun) == [night]
    assert night.requests == asked
    told = f"tokens read: {night.tokens_read:,}, written: {night.tokens_written:,})"
    assert told in model.total
    assert night.tokens_read > night.tokens_written > 0
    audit.score(settings)
    assert model.effort.requests == 0


def test_cached_answers_cost_a_run_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRSCORE_CACHE_DIR", str(tmp_path / "cache"))
    audit = Audit(tmp_path, pulls=2)
    options = {"reader": "openai:tiny", "analyzers": "none"}
    nights = []
    with scripted_llm.serve(obey) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        # With another setting, each pull request is scored again, but the requests are equal.
        for max_claims in (12, 11):
            settings = override_settings(Config(), {**options, "max_claims": max_claims})
            nights.append(audit.score(settings))
        asked = len(server.chats())
        again = pull_rows.make_scorer(settings).parts.model
    assert [night.pulls for night in nights] == [2, 2]
    costs = [(night.requests, night.tokens_read, night.tokens_written) for night in nights]
    assert costs == [(asked, 11 * asked, 7 * asked), (0, 0, 0)]
    assert again
    assert again.effort.requests == again.effort.again == asked > 2
    with audit.open() as store:
        notes = make_overview(store, Period(since=NIGHT, until=NIGHT), resamples=0).notes
    told = f"{asked} requests (tokens read: {11 * asked}, written: {7 * asked})."
    assert f"A language model answered {told}" in notes


def test_failed_pull_request_counts_the_answers_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit = Audit(tmp_path, pulls=1)
    options = {"reader": "openai:tiny", "analyzers": "none", "cache": False}

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(pull_rows, "_make_comment_scores", fail)
    with scripted_llm.serve(obey) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        night = audit.score(override_settings(Config(), options))
        asked = len(server.chats())
    assert (night.failed, night.requests, night.tokens_read) == (1, asked, 11 * asked)
    assert asked


def test_recording_named_in_the_environment_reads_an_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    audit = Audit(tmp_path, pulls=1)
    monkeypatch.setenv("CRSCORE_CACHE_DIR", str(tmp_path / "cache"))
    places = ["--store", str(tmp_path / "audit.db"), "--clones", str(audit.clones)]
    ids: dict[str, str] = {}
    ask = ModelReader.ask

    def read_all(question: Question) -> str:
        (message,) = question.chat()
        lines = comments_in(message.text)[1]
        return answer(*(remark(line) for line in lines))

    def note_ids(reader: ModelReader, questions: Iterable[Question]) -> Any:
        asked = list(questions)
        ids.update({question.id: read_all(question) for question in asked})
        return ask(reader, asked)

    monkeypatch.setattr(ModelReader, "ask", note_ids)
    for name, rows in {"first": {"other": "{}"}, "second": ids}.items():
        recording = tmp_path / f"{name}.jsonl"
        monkeypatch.setenv("CRSCORE_READER", f"replay:{recording}")
        lines = [json.dumps({"id": id_, "answer": text}) for id_, text in rows.items()]
        recording.write_text("\n".join(lines), "utf-8")
        assert cli.run(["audit", "score", *places]) == 0
        said = capsys.readouterr().out
    assert len(ids) > 2
    assert f"A language model read {len(ids)} of {len(ids)} comments (requests: {len(ids)}" in said
    with audit.open() as store:
        *_, night = store.select(AuditRun)
    assert night.requests == len(ids)
    assert "|readings:replay@" in str(night.signature)


def test_verdict_of_a_model_is_not_that_of_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (task,) = Audit(tmp_path, pulls=1).tasks()
    line = re.search(r"    data = .*|    for attempt .*", str(module(1, is_changed=True)))[0]
    settings = {"reader": "openai:tiny", "analyzers": "none", "cache": False}
    right = functools.partial(obey, line=line, importance=2, specific=5, acts=5, worth=3)
    with scripted_llm.serve(right) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        scored = score_pull(task, Scorer(claims="structural", **settings))
    said = {row.verdict for row in scored.rows if isinstance(row, CommentScore)}
    assert "confirmed by a model" in said
    assert "confirmed" not in said


def test_workers_share_the_requests_to_a_model() -> None:
    settings = override_settings(Config(), {"reader_limit": 10})
    assert pull_rows.share_limit(settings, 4).reader_limit == 2
    assert pull_rows.share_limit(settings, 40).reader_limit == 1
    assert pull_rows.share_limit(Config(), 4).reader_limit is None


def test_rows_have_the_level_of_the_best_remark(tmp_path: Path) -> None:
    (task,) = Audit(tmp_path, pulls=1).tasks()
    scorer = Scorer(analyzers="none", claims="structural", cache=False)
    scored = score_pull(task, scorer)
    by_noise = {row.noise: row for row in scored.rows if isinstance(row, CommentScore)}
    assert (by_noise["praise"].stance, by_noise["praise"].level) == ("praises", None)
    assert by_noise[None].level in set(Importance)


def test_rows_get_the_number_of_their_signature(tmp_path: Path) -> None:
    (task,) = Audit(tmp_path, pulls=1).tasks()
    rows = list(score_pull(task, pull_rows.make_scorer(SETTINGS)).with_signature(9))
    assert {row.signature for row in rows if isinstance(row, Score | CommentScore)} == {9}
