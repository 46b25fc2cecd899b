from pathlib import Path

import pytest

from crscore.errors import OutputError
from crscore.github.actions import reports
from crscore.github.actions.reports import Report
from tests.unit.github.actions.test_files import parse


def report(number: int = 7, **changed: object) -> Report:
    values = {
        "number": number,
        "relevance": 0.00001,
        "conciseness": 0.5,
        "comprehensiveness": None,
        "reviews_scored": 2,
        "partial": False,
        "json": Path(f"reports/crscore-{number}.json"),
        "html": Path(f"reports/crscore-{number}.html"),
    }
    return Report(**(values | changed))  # type: ignore[arg-type]


def left(tmp_path: Path, *made: Report) -> dict[str, str]:
    reports.write_outputs(tmp_path / "output", made)
    return parse((tmp_path / "output").read_text("utf-8"))


def test_one_pull_request_has_its_scores_and_files(tmp_path: Path) -> None:
    values = left(tmp_path, report(comment_url="https://x"))

    assert values == {
        "relevance": "0.000010",
        "conciseness": "0.500000",
        "comprehensiveness": "",
        "reviews-scored": "2",
        "json-path": "reports/crscore-7.json",
        "html-path": "reports/crscore-7.html",
        "partial": "false",
        "comment-url": "https://x",
    }


def test_several_have_a_folder_and_no_scores(tmp_path: Path) -> None:
    values = left(tmp_path, report(7), report(8, partial=True, comment_url="https://x"))

    assert (values["relevance"], values["conciseness"], values["comment-url"]) == ("", "", "")
    assert (values["reviews-scored"], values["partial"]) == ("4", "true")
    assert values["json-path"] == values["html-path"] == "reports"


def test_nothing_to_do_sets_every_output(tmp_path: Path) -> None:
    values = left(tmp_path)

    assert set(values) == set(reports.OUTPUTS)
    assert {name: text for name, text in values.items() if text} == {
        "reviews-scored": "0",
        "partial": "false",
    }


def test_report_without_documents_names_none(tmp_path: Path) -> None:
    values = left(tmp_path, report(json=None, html=None))

    assert (values["json-path"], values["html-path"]) == ("", "")


def test_document_is_kept_in_a_new_folder(tmp_path: Path) -> None:
    path = reports.keep(tmp_path / "a" / "b", "crscore.json", "é\ud800\r\n")

    assert path.read_bytes() == "é?\r\n".encode()


def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("x", encoding="utf-8")

    with pytest.raises(OutputError, match="reports"):
        reports.keep(tmp_path / "reports", "crscore.json", "{}")
