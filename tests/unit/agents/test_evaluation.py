from __future__ import annotations

import json
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from crscore import Scorer
from crscore.agents import inspect_scorers
from crscore.agents.evaluation import default_scorer, evaluate
from crscore.errors import ConfigError, DependencyError
from crscore.records import Result
from tests.helpers.model_readings import answer, remark

EXAMPLES = Path(__file__).parents[3] / "examples"
DIFF = (EXAMPLES / "change.diff").read_text("utf-8")
REVIEW = "`timeout` has no default in `GatewayClient.__init__`, so every caller breaks."


@pytest.fixture(scope="module")
def result() -> Result:
    return Scorer(analyzers="none").score(DIFF, REVIEW)


def test_evaluation_has_the_standing_its_word_and_the_best_remarks(result: Result) -> None:
    evaluation = evaluate(result)
    assert result.usefulness is not None
    assert evaluation.score == result.usefulness.standing / 100
    assert evaluation.label == result.usefulness.word
    first, *remarks = evaluation.explanation.splitlines()
    assert first == f"{result.usefulness.interval} of 100"
    assert REVIEW in remarks[0]
    assert evaluate(result, "relevance").score == result.relevance


def test_harnesses_use_the_reader_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = tmp_path / "answers.jsonl"
    (requests,) = Scorer(analyzers="none").requests([(DIFF, REVIEW)])
    said = answer(remark("`timeout` has", worth=2))
    rows = [json.dumps({"id": request.id, "answer": said}) for request in requests]
    recording.write_text("\n".join(rows), "utf-8")
    monkeypatch.setenv("CRSCORE_READER", f"replay:{recording}")
    result = default_scorer.__wrapped__().score(DIFF, REVIEW)
    assert "|readings:replay@" in result.signature
    assert result.remarks[0].reading.worth == 2


def test_review_that_says_nothing_has_no_score_and_a_reason() -> None:
    evaluation = evaluate(Scorer(analyzers="none").score(DIFF, "..."))
    assert evaluation.score is None
    assert evaluation.explanation


@pytest.mark.skipif(bool(find_spec("inspect_ai")), reason="inspect_ai is installed")
def test_scorer_without_inspect_ai_names_the_package() -> None:
    with pytest.raises(DependencyError, match="pip install inspect-ai"):
        _ = inspect_scorers.review


def test_unknown_measure_is_refused(result: Result) -> None:
    with pytest.raises(ConfigError, match="beauty"):
        evaluate(result, "beauty")


def example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / name))


def test_assertion_of_promptfoo_passes_from_its_threshold_on() -> None:
    get_assert = example("promptfoo_assert.py")["get_assert"]
    context = {"vars": {"diff": DIFF}, "config": {"threshold": 0.3}}
    graded = get_assert(REVIEW, context)
    assert graded["pass"]
    assert graded["score"] >= 0.3
    assert not get_assert("...", {"vars": {"diff": DIFF}})["pass"]


@pytest.mark.parametrize(
    "output",
    [
        [{"body": REVIEW, "path": "payments/client.py"}],
        [REVIEW],
        {"body": REVIEW},
        {"body": "", "comments": [{"body": REVIEW}]},
    ],
)
def test_assertion_of_promptfoo_reads_a_list_and_an_object(output: Any, result: Result) -> None:
    # promptfoo parses an output in JSON before it calls the assertion.
    get_assert = example("promptfoo_assert.py")["get_assert"]
    graded = get_assert(output, {"vars": {"diff": DIFF}})
    assert graded["score"] == pytest.approx(evaluate(result).score, abs=0.03)


@pytest.mark.parametrize("output", [{"answer": REVIEW}, {"comments": [1]}, {}])
def test_assertion_of_promptfoo_says_why_it_cannot_read_an_object(output: Any) -> None:
    graded = example("promptfoo_assert.py")["get_assert"](output, {"vars": {"diff": DIFF}})
    assert (graded["pass"], graded["score"]) == (False, 0)
    assert graded["reason"].startswith("<review>: ")


def test_event_of_opentelemetry_has_the_attributes_of_the_conventions(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    records: list[Any] = []
    stand_in = SimpleNamespace(
        LogRecord=SimpleNamespace, get_logger=lambda _: SimpleNamespace(emit=records.append)
    )
    monkeypatch.setitem(sys.modules, "opentelemetry", SimpleNamespace(_logs=stand_in))
    monkeypatch.setitem(sys.modules, "opentelemetry._logs", stand_in)
    example("emit_evaluation.py")["emit_evaluation"](result, response_id="r-1")
    (record,) = records
    assert record.attributes["gen_ai.evaluation.name"] == "crscore.usefulness"
    assert record.attributes["gen_ai.response.id"] == "r-1"
    assert set(record.attributes) == {
        "gen_ai.evaluation.name",
        "gen_ai.evaluation.score.value",
        "gen_ai.evaluation.score.label",
        "gen_ai.evaluation.explanation",
        "gen_ai.response.id",
    }


def test_event_of_opentelemetry_reaches_the_exporter(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry import _logs  # noqa: PLC0415
    from opentelemetry.sdk._logs import LoggerProvider  # noqa: PLC0415
    from opentelemetry.sdk._logs.export import (  # noqa: PLC0415
        InMemoryLogRecordExporter,
        SimpleLogRecordProcessor,
    )

    exporter, provider = InMemoryLogRecordExporter(), LoggerProvider(shutdown_on_exit=False)
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    monkeypatch.setattr(_logs, "get_logger", lambda name, *_: provider.get_logger(name))
    example("emit_evaluation.py")["emit_evaluation"](result, response_id="r-1")
    (record,) = exporter.get_finished_logs()
    assert record.log_record.event_name == "gen_ai.evaluation.result"
    assert record.log_record.attributes is not None
    assert record.log_record.attributes["gen_ai.evaluation.name"] == "crscore.usefulness"
