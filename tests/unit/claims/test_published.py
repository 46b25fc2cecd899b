import pytest

from crscore.claims import _published
from crscore.records import ReferenceKind


def texts(raw: str, kind: ReferenceKind) -> list[str]:
    return [
        ref.text
        for ref in _published.parse_published(raw, source="t").references
        if ref.kind is kind
    ]


@pytest.mark.parametrize(
    ("summary", "implications"),
    [
        ("Summary of changes:", "Implications:"),
        ("**Summary of Changes:**", "**Implications:**"),
        ("### Summary of changes:", "### Implications:"),
        ("## Summary of Changes", "## Possible Implications"),
        ("**Summary of changes**:", "**Implications**"),
    ],
)
def test_headers_in_any_dress_split_the_sections(summary: str, implications: str) -> None:
    raw = f"{summary}\n\n1. A is new.\n2) B is gone.\n\n{implications}\n\n- C breaks.\n"
    assert texts(raw, ReferenceKind.CLAIM) == ["A is new.", "B is gone."]
    assert texts(raw, ReferenceKind.IMPLICATION) == ["C breaks."]


def test_answer_without_headers_is_claims() -> None:
    assert texts("1. A is new.\n2. B is gone.", ReferenceKind.CLAIM) == ["A is new.", "B is gone."]


def test_text_behind_a_header_is_kept() -> None:
    assert texts("Implications: callers break.", ReferenceKind.IMPLICATION) == ["callers break."]


def test_sentence_that_starts_like_a_header_is_a_claim() -> None:
    raw = "Implications of this change are unclear."
    assert texts(raw, ReferenceKind.CLAIM) == [raw]


def test_number_inside_a_claim_stays() -> None:
    assert texts("1. Raises the limit to 2. It was 1.", ReferenceKind.CLAIM) == [
        "Raises the limit to 2. It was 1."
    ]


def test_last_line_that_breaks_off_is_left_out() -> None:
    parsed = _published.parse_published("1. A is new.\n2. The pack", source="t")
    assert ([ref.text for ref in parsed.references], parsed.cut_off) == (["A is new."], True)


@pytest.mark.parametrize("end", ["`x`", "x)", '"x"', "x.**"])
def test_last_line_may_end_in_code_or_a_bracket(end: str) -> None:
    assert not _published.parse_published(f"1. It sets {end}", source="t").cut_off


@pytest.mark.parametrize("raw", ["", "\n\n", "1.\n---\n**"])
def test_answer_without_text_gives_nothing(raw: str) -> None:
    assert _published.parse_published(raw, source="t") == _published.Parsed((), False)
