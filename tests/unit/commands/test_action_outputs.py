"""Outputs of the GitHub Action, by what the step has done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crscore.commands.action import Step, write_outputs
from crscore.github.actions.outputs import OUTPUTS
from tests.helpers import overviews
from tests.unit.github.actions.test_outputs import parse

if TYPE_CHECKING:
    from pathlib import Path

    from crscore.pull_request.overview import Overview


def scored(**changed: Any) -> Overview:
    """Two reviewers, one of them with a score."""
    actual = overviews.review()
    values = {"relevance": 0.00001, "conciseness": 0.5, "comprehensiveness": None}
    together = overviews.replace(
        actual.together, usefulness=overviews.useful(standing=83), **values
    )
    rows = tuple(overviews.replace(row, relevance=0.5) for row in actual.reviewers[:1])
    without = tuple(overviews.replace(row, relevance=None) for row in actual.reviewers[1:])
    return overviews.replace(
        actual, **{"together": together, "reviewers": rows + without} | changed
    )


def left(tmp_path: Path, *found: Overview, forms: tuple[str, ...] = (), url: str = "") -> Any:
    step = Step(overviews=list(found), comment_url=url)
    for form in forms:
        step.paths[form] = [tmp_path / f"crscore-{at}.{form}" for at in range(len(found))]
    write_outputs(tmp_path / "output", step)
    return parse((tmp_path / "output").read_text("utf-8"))


ALL = ("json", "html", "sarif")


def test_one_pull_request_has_its_scores_and_files(tmp_path: Path) -> None:
    assert left(tmp_path, scored(), forms=ALL, url="https://x") == {
        "usefulness": "83",
        "usefulness-low": "40",
        "usefulness-high": "80",
        "relevance": "0.000010",
        "conciseness": "0.500000",
        "comprehensiveness": "",
        "reviews-scored": "1",
        "json-path": str(tmp_path / "crscore-0.json"),
        "html-path": str(tmp_path / "crscore-0.html"),
        "sarif-path": str(tmp_path / "crscore-0.sarif"),
        "partial": "false",
        "comment-url": "https://x",
    }


def test_several_pull_requests_have_a_folder_and_no_scores(tmp_path: Path) -> None:
    partial = scored(missing=("A page could not be read.",))
    values = left(tmp_path, scored(), partial, forms=ALL, url="https://x")
    assert (values["relevance"], values["conciseness"], values["comment-url"]) == ("", "", "")
    assert (values["reviews-scored"], values["partial"]) == ("2", "true")
    assert values["json-path"] == values["html-path"] == str(tmp_path)
    assert values["sarif-path"] == ""


def test_nothing_to_do_sets_every_output(tmp_path: Path) -> None:
    values = left(tmp_path)
    assert set(values) == set(OUTPUTS)
    assert {name: text for name, text in values.items() if text} == {
        "reviews-scored": "0",
        "partial": "false",
    }


def test_step_without_documents_has_no_paths(tmp_path: Path) -> None:
    values = left(tmp_path, scored())
    assert (values["json-path"], values["html-path"], values["sarif-path"]) == ("", "", "")
