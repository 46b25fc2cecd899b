"""Every form of a label leaves the bare remark; text that resembles a label stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from crscore.bench.formats import read_finding
from crscore.review.sentences import (
    is_label,
    read_badge,
    split_comment,
    strip_labels,
    strip_source_labels,
)
from tests.helpers.growth import growth

REMARKS = (
    "The pool is never closed when the start fails, so each retry leaks a thread.",
    "`pool` is never closed when the start fails, so each retry leaks a thread.",
)
# One case a line, "\\n" for a line end: labels around a remark ("{}"), and texts without a label.
DATA = Path(__file__).parents[2] / "data" / "labels"
LABELLED, TEXTS = (
    (DATA / f"{name}.txt").read_text("utf-8").splitlines() for name in ("labelled", "texts")
)


@pytest.mark.parametrize("form", LABELLED)
def test_label_or_footer_leaves_the_bare_remark(form: str) -> None:
    for remark in REMARKS:
        parsed = split_comment(form.replace("\\n", "\n").replace("{}", remark))
        assert (parsed.sentences, parsed.hidden) == ((remark,), ())


@pytest.mark.parametrize("label", ["**nit**", "**security**", "**potential issue**", "🎨 style"])
def test_label_in_small_letters_is_cut_before_a_clause(label: str) -> None:
    remark = "the pool is never closed when the start fails"
    assert split_comment(f"{label} {remark}").sentences == (remark,)
    assert split_comment(f"**Error handling** T{remark[1:]}").sentences == (f"T{remark[1:]}",)


@pytest.mark.parametrize("text", TEXTS)
def test_text_that_resembles_a_label_stays(text: str) -> None:
    assert " ".join(split_comment(text).sentences) == text.replace("**", "")


@pytest.mark.parametrize(
    "label", ["P1", "**[High]**", "🔴 Critical", "nit:", "_⚠️ Potential issue_ | _🟠 Major_", "🔴"]
)
def test_label_alone_is_no_text(label: str) -> None:
    assert split_comment(label).sentences == ()


def test_source_markup_of_a_label_ends_at_the_remark() -> None:
    assert strip_source_labels("**Bug:** `f` is **never** closed") == "`f` is **never** closed"
    assert strip_source_labels("**P1**") == "**P1**"


def test_finding_and_problem_of_a_benchmark_have_no_label() -> None:
    row = {"change": "o/r#1", "bot": "octo", "text": "**[High]** The pool leaks."}
    assert read_finding(row, "f").text == "The pool leaks."


def test_severity_is_that_of_the_label() -> None:
    for text, severity in [
        ("P0: It leaks.", "critical"),
        ("**issue (blocking):** It leaks.", "critical"),
        ("suggestion (non-blocking): It leaks.", "low"),
        ("[High] It leaks.", "high"),
        ("Severity: 🟡 Medium\n\nIt leaks.", "medium"),
        ("It leaks.\n\n**Severity: medium**", "medium"),
        ("![high](https://a.example/high-priority.svg)\n\nIt leaks.", "high"),
        ("![severity](https://img.shields.io/badge/severity-critical-red) It leaks.", "critical"),
        ("**Bug** (high confidence): It leaks.", None),
        ("Confidence: high | Severity: low\n\nIt leaks.", "low"),
        ("It leaks.", None),
    ]:
        (position,) = split_comment(text).positions
        assert position.severity == severity


def test_each_remark_has_the_severity_above_it() -> None:
    parsed = split_comment("It hangs.\n\n- **P0:** It leaks.\n- [low] It sleeps.")
    assert [at.severity for at in parsed.positions] == [None, "critical", "low"]
    parsed = split_comment("It hangs.\n\nnit: rename `m` to `match`.\n\nIt leaks.")
    assert [at.severity for at in parsed.positions] == [None, "low", None]


def test_picture_is_no_badge() -> None:
    assert read_badge("Screenshot of the crash", "https://a.example/shot.png") is None
    assert read_badge("Fix in Cursor", "https://a.example/a.png") == ""


def test_list_of_severities_is_no_label() -> None:
    assert strip_labels("[low, high] is the range.")[0] == "[low, high] is the range."


@pytest.mark.growth
@pytest.mark.parametrize("piece", ["low priority ", "P1: ", "[bug, ", "severity: high ", "🔴 "])
def test_time_is_linear_in_the_length(piece: str) -> None:
    assert growth(lambda size: lambda: is_label(piece * (size // len(piece)) + "x"), 500) < 12
