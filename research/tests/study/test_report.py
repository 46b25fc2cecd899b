"""Documents of `crscore validate` as Markdown."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from crscore_lab.study.data.saved_runs import ReviewKey, SavedReview, SavedRun
from crscore_lab.study.measures import comparison
from crscore_lab.study.report import render
from crscore_lab.study.results import ValidationResult
from tests.helpers import findings as helper
from tests.helpers import study as studies

RNG = np.random.default_rng(4)
KEYS = [ReviewKey(f"c{i}", system, 0) for i in range(30) for system in ("gpt3.5", "llama3", "lstm")]
HUMAN = RNG.integers(1, 6, (len(KEYS), 3)).astype(float)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> ValidationResult:
    return helper.made(tmp_path_factory.mktemp("study"), attacks=True)


def saved_run(noise: float, name: str) -> SavedRun:
    values = HUMAN + RNG.normal(0, noise, HUMAN.shape)
    reviews = {
        key: SavedReview(
            change=key.change, system=key.system, human=tuple(human), scores=tuple(scores)
        )
        for key, human, scores in zip(KEYS, HUMAN, values, strict=True)
    }
    return SavedRun(name=name, metric="m", signature=f"sig {name}", sha256="00", reviews=reviews)


def compare(**changes: object) -> str:
    runs = (saved_run(6, "a.json"), saved_run(0.5, "b.json"))
    document = comparison.compare(*runs, resamples=100, seed=0)
    row = msgspec.structs.replace(document.differences[0], **changes)
    return render(msgspec.structs.replace(document, differences=(row,)), "text")


def test_every_metric_has_a_row(result: ValidationResult) -> None:
    text = render(result, "text")
    table = text.split("## Relevance: Spearman correlation of every metric")[1].split("##")[0]
    assert all(f"| {metric.name} " in table for metric in result.metrics)
    row = next(row for row in result.correlations if row.dimension == "relevance")
    assert f"{row.spearman:.3f} [{row.low:.3f}, {row.high:.3f}]" in table


def test_part_that_was_not_measured_has_no_table(result: ValidationResult) -> None:
    bare = msgspec.structs.replace(result, attacks=None, claims=())
    assert "## Attacks" in render(result, "text")
    assert "## Attacks" not in render(bare, "text")
    assert "Human judgements" not in render(bare, "text")


def test_attacks_and_their_goals(result: ValidationResult) -> None:
    text = render(result, "text")
    assert result.attacks is not None
    assert all(f"| {row.kind.value} " in text for row in result.attacks.kinds)
    assert "The goal is 0.95; for echoes, which say nothing false, 0.9." in text


def test_names_from_outside_cannot_command_a_terminal(result: ValidationResult) -> None:
    hostile = msgspec.structs.replace(result, notes=("\x1b[31mred",))
    assert "\x1b" not in render(hostile, "text")
    assert "\x1b" not in render(hostile, "json")


def test_study_without_judged_claims_and_links(tmp_path) -> None:
    rows = studies.rows()
    for row in rows:
        for claim in row["llm_claims"]:
            claim["correctness"] = None
    text = render(helper.made(tmp_path, rows), "text")
    assert "Human judgements" not in text
    assert "Does a review address" not in text


def test_comparison_says_which_run_is_better() -> None:
    assert "B agrees better with people on relevance" in compare()
    assert "A agrees better with people on relevance" in compare(difference=-0.1)
    assert "B seems to agree better" in compare(better=None)
    assert "No result" in compare(difference=None)
    assert "equally well" in compare(difference=0.0)
