import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator, ValidationError

from crscore.settings import override_settings
from crscore_lab.study import report
from crscore_lab.study.data import saved_runs
from crscore_lab.study.measures import comparison
from crscore_lab.study.results import ValidationResult
from tests.helpers import findings as helper
from tests.helpers import study as studies

SCHEMA = json.loads(files("crscore_lab").joinpath("schemas/validation.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)
KEYS = {
    *("schema", "version", "signature", "metric", "data", "threshold", "tau_by_procedure", "split"),
    *("resamples", "seed", "metrics", "correlations", "pairs", "addressed", "systems"),
    *("claims", "agreement", "attacks", "issues", "length", "notes", "reviews"),
}


def rendered(document: msgspec.Struct) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    found = json.loads(report.render(document, "json"), parse_constant=refuse)
    VALIDATOR.validate(found)
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> ValidationResult:
    return helper.made(tmp_path_factory.mktemp("study"), attacks=True)


def test_schema_is_itself_valid_and_named_as_the_documents_say() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == saved_runs.SCHEMA


def test_run_keeps_to_the_schema(found: ValidationResult) -> None:
    document = rendered(found)
    assert document.keys() == KEYS
    assert (document["schema"], document["metric"]) == (
        saved_runs.SCHEMA,
        "published/hashing/recorded",
    )
    assert document["attacks"].keys() == {"honest", "honest_flagged", "kinds"}
    assert document["attacks"]["kinds"]


def test_run_on_a_bare_study_without_draws_keeps_to_the_schema(tmp_path: Path) -> None:
    rows = studies.rows()[:1]
    for row in rows:
        row["llm_claims"] = [{"text": one["text"]} for one in row["llm_claims"]]
    document = rendered(helper.made(tmp_path, rows, resamples=0))
    assert document["addressed"] is None
    assert document["claims"] == []
    assert document["attacks"] is None


def test_flat_list_is_the_correlations_row_by_row(found: ValidationResult) -> None:
    rows = rendered(found)["correlations"]
    assert len(rows) == len(found.correlations)
    assert list(rows[0]) == [
        "metric", "dimension", "slice", "n", "spearman", "kendall", "pearson", "low", "high", "p",
    ]  # fmt: skip


def test_reviews_are_what_was_measured(found: ValidationResult) -> None:
    document = rendered(found)
    first = document["reviews"][0]
    assert (first["change"], first["system"]) == ("py:1", "gpt3.5")
    assert first["human"] == [4, 4, 4]
    assert document["data"]["reviews"] == len(document["reviews"]) == 15


def test_numbers_of_a_list_are_on_one_line(found: ValidationResult) -> None:
    assert '"human": [4.0, 4.0, 4.0]' in report.render(found, "json")


def test_saved_run_reads_back_what_was_rendered(found: ValidationResult, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(report.render(found, "json"), encoding="utf-8")
    run = saved_runs.read_saved_run(path)
    assert (run.signature, run.sha256) == (found.signature, found.data.sha256)
    assert [one.scores for one in run.reviews.values()] == [one.scores for one in found.reviews]


def test_comparison_keeps_to_the_schema(found: ValidationResult, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(report.render(found, "json"), encoding="utf-8")
    run = saved_runs.read_saved_run(path)
    for resamples in (0, 20):
        document = rendered(comparison.compare(run, run, resamples=resamples, seed=0))
        assert document["schema"] == "urn:crscore:comparison:1"
        assert document["reviews"] == 15


@pytest.mark.parametrize("change", [{"metric": 3}, {"more": 1}, {"schema": "urn:other"}])
def test_schema_refuses_other_documents(found: ValidationResult, change: dict) -> None:
    document = json.loads(report.render(found, "json")) | change
    with pytest.raises(ValidationError):
        VALIDATOR.validate(document)


def test_texts_of_the_study_cannot_act_on_a_terminal(found: ValidationResult) -> None:
    hostile = msgspec.structs.replace(found, notes=("\u202e\x9b31m ##[error]x",))
    text = report.render(hostile, "json")
    assert not {"\u202e", "\x9b"} & set(text)
    assert "##[" not in text
    assert rendered(hostile)["notes"] == list(hostile.notes)


def test_static_analysis_keeps_to_the_schema(tmp_path: Path) -> None:
    settings = override_settings(helper.SETTINGS, {"analyzers": "ruff", "cache_dir": str(tmp_path)})
    for resamples in (0, 20):
        made = helper.made(
            tmp_path, studies.analysed_rows(), settings=settings, resamples=resamples
        )
        issues = rendered(made)["issues"]
        assert issues["analyzers"] == "ruff"
        assert issues["tools"][0]["tool"] == "all"
