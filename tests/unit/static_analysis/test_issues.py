"""Selecting and merging findings to the issues that count."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.diff import parse
from crscore.encoders import hashing
from crscore.records import (
    Analysis,
    Finding,
    LineSpan,
    PseudoReference,
    ReferenceKind,
    Severity,
    Side,
)
from crscore.static_analysis import issues

PATCH = """\
--- a/a.py
+++ b/a.py
@@ -1,2 +1,5 @@
 x
+b
+c
+d
 y
@@ -50,0 +54,4 @@
+e
+f
+g
+h
--- a/b.py
+++ b/b.py
@@ -1 +1 @@
-x
+y
"""
DIFF = parse.parse_diff(PATCH)
ERROR, WARNING, NOTE = Severity


class Counting:
    """Test encoder that records the texts of each call."""

    identity = "counting"

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.real = hashing.Hashing()

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append(tuple(texts))
        return self.real.encode(texts)


def at(line: int, text: str = "Unused import `os`.", **more: object) -> Finding:
    arguments = {"tool": "ruff", "rule": "r", "path": "a.py", "end_line": line, "message": text}
    arguments |= {"severity": WARNING, "in_change": True} | more
    return Finding(line=line, text=text, **arguments)


def chosen(
    *findings: Finding, per_hunk: int | None = None, encoder=None
) -> tuple[tuple[PseudoReference, ...], Analysis]:
    return issues.choose_issues(
        Analysis(findings=findings),
        DIFF,
        encoder or hashing.Hashing(),
        per_hunk=per_hunk,
    )


def texts(*findings: Finding, **options) -> list[str]:
    return [finding.text for finding in chosen(*findings, **options)[0]]


def test_nothing_found_is_no_issue() -> None:
    encoder = Counting()
    assert chosen(encoder=encoder) == ((), Analysis())
    assert encoder.calls == []


def test_finding_becomes_a_reference_on_its_lines() -> None:
    (one,) = chosen(at(2, "`f` is too long.", end_line=4, severity=ERROR))[0]
    assert one == PseudoReference(
        text="`f` is too long.",
        kind=ReferenceKind.ISSUE,
        source="ruff",
        spans=(LineSpan(path="a.py", side=Side.NEW, start=2, end=4),),
        identifiers=("f",),
        weight=1.0,
    )


@pytest.mark.parametrize("mark", [{"in_change": False}, {"pre_existing": True}])
def test_finding_that_is_no_part_of_the_change_does_not_count(mark) -> None:
    references, analysis = chosen(at(2, **mark), at(3, "Other."))
    assert [finding.text for finding in references] == ["Other."]
    assert [finding.counted for finding in analysis.findings] == [False, True]


def test_encoder_is_not_called_unless_two_tools_report_on_a_line() -> None:
    encoder = Counting()
    chosen(
        at(2),
        at(2, "Other."),
        at(3, tool="bandit"),
        at(2, path="b.py", tool="pmd"),
        encoder=encoder,
    )
    assert encoder.calls == []


def test_encoder_is_called_once_for_all_lines() -> None:
    encoder = Counting()
    chosen(*(at(n, f"Thing {n}.", tool=tool) for n in (2, 3, 4) for tool in "ab"), encoder=encoder)
    assert encoder.calls == [("Thing 2.", "Thing 3.", "Thing 4.")]


# Findings of two tools about one defect


def test_two_tools_that_mean_the_same_are_one_issue_that_names_both() -> None:
    references, analysis = chosen(
        at(2, "The import `os` is unused."), at(2, "Unused import `os`.", tool="pyscent")
    )
    (one,) = references
    assert (one.source, one.text) == ("pyscent+ruff", "Unused import `os`.")
    assert all(finding.counted for finding in analysis.findings)


def test_worst_of_two_is_worded_for_both() -> None:
    worse = at(2, "The import `os` is unused here.", tool="zeta", severity=ERROR)
    (one,) = chosen(at(2), worse)[0]
    assert (one.text, one.weight) == ("The import `os` is unused here.", 1.0)


def test_different_defects_on_one_line_stay_two() -> None:
    assert texts(at(2), at(2, "A password is written in the code.", tool="bandit")) == [
        "A password is written in the code.",
        "Unused import `os`.",
    ]


def test_same_defect_on_two_lines_stays_two() -> None:
    assert len(texts(at(2), at(3, "The import `os` is unused.", tool="pyscent"))) == 2


def test_one_tool_never_means_the_same_twice_on_a_line() -> None:
    found = texts(at(2), at(2, "Unused import `sys`."), at(2, "Unused import `os`!", tool="b"))
    assert len(found) == 2


def test_third_tool_joins_the_first_two() -> None:
    three = [at(2, tool=tool) for tool in ("a", "b", "c")]
    (one,) = chosen(*three)[0]
    assert one.source == "a+b+c"


def test_line_with_thousands_of_findings_is_quick() -> None:
    findings = [at(2, f"Unused number{number}.", tool="a") for number in range(5_000)]
    findings += [at(2, f"Odd number{number}.", tool="b") for number in range(5_000)]
    encoder = Counting()
    assert len(texts(*findings, per_hunk=3, encoder=encoder)) == 3
    assert len(encoder.calls[0]) == issues.MAX_COMPARED


# What is said again


def test_same_sentence_on_several_lines_is_one_issue_with_several_spans() -> None:
    (one,) = chosen(at(4), at(2), at(56), at(57))[0]
    assert [(span.start, span.end) for span in one.spans] == [(2, 2), (4, 4), (56, 56), (57, 57)]


def test_overlapping_spans_become_one() -> None:
    (one,) = chosen(at(2, end_line=4), at(3), at(4, end_line=5))[0]
    assert [(span.start, span.end) for span in one.spans] == [(2, 5)]


def test_same_sentence_in_two_files_is_two_issues() -> None:
    assert len(texts(at(2), at(1, path="b.py"))) == 2


# A few of each hunk


def test_worst_of_a_hunk_are_kept_and_shown_by_line() -> None:
    found = [
        at(2, "Note.", severity=NOTE),
        at(3, "Error.", severity=ERROR),
        at(4, "Warning."),
        at(54, "Other note.", severity=NOTE),
        at(1, "Third note.", severity=NOTE, path="b.py"),
    ]
    assert texts(*found, per_hunk=2) == ["Error.", "Warning.", "Other note.", "Third note."]
    assert texts(*found, per_hunk=1) == ["Error.", "Other note.", "Third note."]
    assert len(texts(*found)) == 5


def test_findings_over_the_limit_stay_uncounted() -> None:
    _, analysis = chosen(at(2, "One."), at(3, "Two."), per_hunk=1)
    assert [finding.counted for finding in analysis.findings] == [True, False]


def test_findings_of_one_issue_count_once_in_a_hunk() -> None:
    findings = [at(2), at(2, "The import `os` is unused.", tool="b"), at(3, "Two.")]
    assert len(texts(*findings, per_hunk=2)) == 2


def test_weights_fall_with_severity() -> None:
    references, _ = chosen(*(at(2 + n, f"N{n}.", severity=one) for n, one in enumerate(Severity)))
    weights = [claim.weight for claim in references]
    assert weights == sorted(weights, reverse=True)
    assert len(set(weights)) == 3


def test_path_outside_of_the_diff_raises_nothing() -> None:
    assert texts(at(2, path="c.py"), per_hunk=1) == ["Unused import `os`."]


def test_names_are_identifiers_and_locations_are_not_read() -> None:
    text = "`eval` in `Client.charge` runs `x y`."
    (one,) = chosen(at(2, text))[0]
    assert one.identifiers == ("eval", "Client.charge")
    assert one.reading == "`eval` runs `x y`."


# The same whatever the order

FINDINGS = st.lists(
    st.builds(
        at,
        st.integers(2, 4),
        st.sampled_from(["Unused import `os`.", "The import `os` is unused.", "Bad name `x`."]),
        tool=st.sampled_from(["a", "b", "c"]),
        rule=st.sampled_from(["r", "s"]),
        severity=st.sampled_from(list(Severity)),
        path=st.sampled_from(["a.py", "b.py"]),
    ),
    max_size=12,
    unique=True,
)


@given(FINDINGS, st.randoms(use_true_random=False), st.sampled_from([None, 1, 2]))
def test_order_of_the_findings_does_not_matter(found, shuffler: random.Random, per_hunk) -> None:
    other = list(found)
    shuffler.shuffle(other)
    one, two = chosen(*found, per_hunk=per_hunk), chosen(*other, per_hunk=per_hunk)
    assert one[0] == two[0]
    assert sorted(one[1].findings, key=repr) == sorted(two[1].findings, key=repr)


@given(FINDINGS)
def test_every_finding_counts_where_there_is_no_limit(found) -> None:
    references, analysis = chosen(*found)
    assert all(finding.counted for finding in analysis.findings)
    tools = {tool for one in references for tool in one.source.split("+")}
    assert tools == {finding.tool for finding in found}


# Claims that repeat an issue


def implication(text: str, start: int = 2, kind=ReferenceKind.IMPLICATION) -> PseudoReference:
    span = LineSpan(path="a.py", side=Side.NEW, start=start, end=start)
    return PseudoReference(text=text, kind=kind, source="structural", spans=(span,))


def test_implication_that_repeats_an_issue_is_left_out() -> None:
    references = chosen(at(2, "Unused import `os`."))[0]
    same, other = implication("The import `os` is unused."), implication("A test is missing.")
    far, claim = implication(same.text, 54), implication(same.text, kind=ReferenceKind.CLAIM)
    left = issues.drop_repeated([same, other, far, claim], references, hashing.Hashing())
    assert left == (other, far, claim)


def test_all_implications_are_compared_in_one_call() -> None:
    references = chosen(at(2, "Alpha."), at(3, "Beta."), at(54, "Gamma."))[0]
    claims = [implication("Alpha."), implication("Delta.", 3), implication("Beta.", 54)]
    encoder = Counting()
    assert issues.drop_repeated(claims, references, encoder) == tuple(claims[1:])
    assert len(encoder.calls) == 1


def test_without_issues_the_encoder_is_not_called() -> None:
    encoder = Counting()
    claims = (implication("x"),)
    assert issues.drop_repeated(claims, (), encoder) == claims
    assert encoder.calls == []


def test_finding_about_style_does_not_count() -> None:
    references, analysis = chosen(
        at(2, "The lambda is long.", is_style=True), at(3, "Unused import `os`.")
    )
    assert [finding.text for finding in references] == ["Unused import `os`."]
    assert [finding.counted for finding in analysis.findings] == [False, True]


def test_two_tools_that_name_different_things_mean_two_defects() -> None:
    one = at(2, "Unused import `os`.", tool="a")
    assert len(texts(one, at(2, "Unused import `sys`.", tool="b"))) == 2
    assert len(texts(one, at(2, "Unused import `os.path`.", tool="b"))) == 1


def test_name_that_only_one_tool_has_separates_no_findings() -> None:
    named, plain = "`except Exception` in `f` hides bugs.", "It hides bugs."
    assert len(texts(at(2, named, tool="a"), at(2, plain, tool="b"))) == 1


def test_same_name_alone_joins_nothing() -> None:
    first, second = "`open` takes nine parameters.", "Variable `open` hides the built-in."
    assert len(texts(at(2, first, tool="a"), at(2, second, tool="b"))) == 2


def test_location_is_no_name_that_two_tools_share() -> None:
    first, second = "Unused variable `a` in `load`.", "Unused variable `b` in `load`."
    assert len(texts(at(2, first, tool="a"), at(2, second, tool="b"))) == 2


def test_issue_of_two_hunks_counts_in_the_one_that_has_room() -> None:
    worse = at(2, "The file is left open.", severity=ERROR)
    note = [
        at(3, "Unused import `os`.", severity=NOTE),
        at(55, "Unused import `os`.", severity=NOTE),
    ]
    assert texts(worse, *note, per_hunk=1) == ["The file is left open.", "Unused import `os`."]
    assert texts(worse, note[0], per_hunk=1) == ["The file is left open."]


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("`except Exception` in `A.b` hides bugs.", "`except Exception` hides bugs."),
        ("Use `===` instead of `==`, which converts types.", ""),
        ("Pass `flags` of `sub` by name.", ""),
    ],
)
def test_encoder_reads_an_issue_without_its_location(text: str, reading: str) -> None:
    (one,) = chosen(at(2, text))[0]
    assert one.reading == reading
