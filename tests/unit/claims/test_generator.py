"""Claims that a model wrote twice count once."""

import time

import pytest

from crscore.claims.model import deduplicate
from crscore.records import LineSpan, PseudoReference, ReferenceKind, Side
from tests.helpers.growth import slowness


def reference(text: str, *, line: int = 1, kind=ReferenceKind.CLAIM) -> PseudoReference:
    span = LineSpan(path="a.py", side=Side.NEW, start=line, end=line)
    return PseudoReference(text=text, kind=kind, source="t", spans=(span,))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("`user_id` is renamed to `owner_id`.", "The `user_id` was renamed to `owner_id`"),
        ("The timeout of `open` is 30 seconds.", "The timeout of open is now 30 seconds."),
        ("Renames the timeout.", "Renamed timeouts"),
    ],
)
def test_claim_of_the_same_words_counts_once_on_the_lines_of_both(one: str, other: str) -> None:
    kept = deduplicate([reference(one, line=3), reference("`b`."), reference(other, line=7)])
    assert [item.text for item in kept] == [one, "`b`."]
    assert [span.start for span in kept[0].spans] == [3, 7]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The field `a_b` is added to the class.", "The field `a_c` is added to the class."),
        ("`run` raises an error for `depth`.", "`run` raises no error for `depth`."),
        ("`a_b` is renamed to `c_d`.", "`c_d` is renamed to `a_b`."),
        ("The limit is raised to 20.", "The limit is raised to 30."),
        ("The limit is raised to 2.0.", "The limit is raised to 20."),
        ("The limit is raised to 100.", "The limit is raised to 1000."),
    ],
)
def test_statements_of_different_things_stay_apart(one: str, other: str) -> None:
    kept = deduplicate([reference(one), reference(other)])
    assert [item.text for item in kept] == [one, other]


def test_copy_among_the_implications_is_the_claim_once() -> None:
    text = "`run` is slower for a large `depth`."
    kept = deduplicate([reference(text), reference(text, kind=ReferenceKind.IMPLICATION)])
    assert [item.kind for item in kept] == [ReferenceKind.CLAIM]


@pytest.mark.growth
def test_thousands_of_claims_take_little_time() -> None:
    refs = [reference(f"The same words again and w{n} again for all") for n in range(4_000)]
    start = time.process_time()
    assert len(deduplicate(refs)) == 4_000
    assert time.process_time() - start < 5 * slowness()
