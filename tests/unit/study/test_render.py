import importlib.resources
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from crscore import Scorer
from crscore import settings as config
from crscore.study import compare, error_analysis, render, saved, study
from crscore.study.attacks.attack_set import make_attacks
from crscore.study.attacks.duels import score_duels, summarize_duels
from crscore.study.results import Findings
from tests.helpers import findings as helper
from tests.helpers import study as studies

SCHEMA = json.loads(
    (importlib.resources.files("crscore") / "schemas" / "validation.schema.json").read_text("utf-8")
)
VALIDATOR = Draft202012Validator(SCHEMA)


def rendered(text: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    document = json.loads(text, parse_constant=refuse)
    VALIDATOR.validate(document)
    return document


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return helper.made(tmp_path_factory.mktemp("study"))


def schema_objects(node: object) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [found for item in node for found in schema_objects(item)]
    if not isinstance(node, dict):
        return []
    own = [node] if node.get("type") == "object" else []
    return own + [found for item in node.values() for found in schema_objects(item)]


def test_schema_is_itself_valid_and_named_as_the_documents_say() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == saved.SCHEMA
    assert SCHEMA["$defs"]["comparison"]["properties"]["schema"]["const"] == (
        render.COMPARISON_SCHEMA
    )


def test_schema_describes_every_field_and_takes_no_other() -> None:
    for item in schema_objects(SCHEMA):
        assert item["additionalProperties"] is False
        assert sorted(item["required"]) == sorted(item["properties"])
        for name, field in item["properties"].items():
            assert field.get("description"), name


def test_run_keeps_to_the_schema(found: Findings) -> None:
    document = rendered(render.to_json(found))
    assert (document["attacks"], document["metric"]) == (None, "published/hashing/recorded")


def test_run_on_a_bare_study_without_draws_keeps_to_the_schema(tmp_path: Path) -> None:
    rows = studies.rows()[:1]
    for row in rows:
        row["llm_claims"] = [{"text": one["text"]} for one in row["llm_claims"]]
        for review in row["reviews"]:
            del review["annotator"]
    document = rendered(render.to_json(helper.made(tmp_path, rows, resamples=0)))
    assert document["pairs"]["addressed"] is None
    assert document["reviews"][0]["annotator"] is None
    assert document["claims"] == []


def test_attacks_keep_to_the_schema(found: Findings) -> None:
    scorer = Scorer(helper.SETTINGS, generator=study.recorded(found.study), analyzers="none")
    duels = score_duels(found.study, make_attacks(found.study, seed=0, drawn=1), scorer)
    report = summarize_duels(duels, resamples=10, seed=0)
    document = rendered(render.to_json(replace(found, attacks=report)))
    assert document["attacks"]["kinds"]


def test_flat_list_is_the_correlations_row_by_row(found: Findings) -> None:
    rows = rendered(render.to_json(found))["correlations"]
    assert len(rows) == len(found.correlations)
    assert list(rows[0]) == [
        "metric", "dimension", "slice", "n", "spearman", "kendall", "pearson", "low", "high", "p",
        "primary",
    ]  # fmt: skip


def test_reviews_are_what_the_measurements_hold(found: Findings) -> None:
    document = rendered(render.to_json(found))
    first = document["reviews"][0]
    assert (first["change"], first["system"], first["annotator"]) == ("py:1", "gpt3.5", "a")
    assert first["human"] == [4, 4, 4]
    assert first["scores"] == found.measured.primary.values[0].tolist()
    assert document["data"]["reviews"] == len(document["reviews"]) == 15


def test_saved_run_reads_back_what_was_rendered(found: Findings, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(render.to_json(found), encoding="utf-8")
    run = saved.read_saved_run(path)
    assert (run.signature, run.sha256) == (found.settings.signature, found.study.sha256)
    values = found.measured.primary.values.tolist()
    assert [list(review.scores) for review in run.reviews.values()] == values


def test_comparison_keeps_to_the_schema(found: Findings, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(render.to_json(found), encoding="utf-8")
    run = saved.read_saved_run(path)
    for resamples in (0, 20):
        made = compare.compare(run, run, resamples=resamples, seed=0)
        document = rendered(render.comparison_to_json(made))
        assert document["schema"] == "urn:crscore:comparison:1"
        assert document["reviews"] == 15


@pytest.mark.parametrize("change", [{"metric": 3}, {"more": 1}, {"schema": "urn:other"}])
def test_schema_refuses_what_is_no_document(found: Findings, change: dict) -> None:
    document = json.loads(render.to_json(found)) | change
    with pytest.raises(ValidationError):
        VALIDATOR.validate(document)


def test_texts_of_the_study_cannot_act_on_a_terminal(found: Findings) -> None:
    case = error_analysis.Case(
        change="a", system="s", human=1.0, score=1.0, references=2, text="\u202e\x9b31m ##[error]x"
    )
    text = render.to_json(replace(found, errors=replace(found.errors, over_cases=(case,))))
    assert not {"\u202e", "\x9b"} & set(text)
    assert "##[" not in text
    assert rendered(text)["errors"]["over_cases"][0]["text"] == case.text


def test_static_analysis_keeps_to_the_schema(tmp_path: Path) -> None:
    settings = config.override_settings(
        helper.SETTINGS, {"analyzers": "ruff", "cache_dir": str(tmp_path)}
    )
    for resamples in (0, 20):
        made = helper.made(
            tmp_path, studies.analysed_rows(), settings=settings, resamples=resamples
        )
        issues = rendered(render.to_json(made))["issues"]
        assert issues["analyzers"] == "ruff"
        assert issues["tools"][0]["tool"] == "all"
        assert [one["language"] for one in issues["again"]] == ["javascript", "python"]
