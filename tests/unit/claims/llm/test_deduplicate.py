import time

import pytest

from crscore.claims.llm.deduplicate import alike, merged
from crscore.claims.llm.words import words
from crscore.records import LineSpan, PseudoReference, ReferenceKind, Side


def reference(text: str, *, line: int = 1, kind=ReferenceKind.CLAIM) -> PseudoReference:
    span = LineSpan(path="a.py", side=Side.NEW, start=line, end=line)
    return PseudoReference(text=text, kind=kind, source="t", spans=(span,))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("`user_id` is renamed to `owner_id`.", "The `user_id` was renamed to `owner_id`"),
        ("`run` takes a new parameter `depth`.", "A new parameter `depth` is what `run` takes."),
        ("The timeout of `open` is 30 seconds.", "The timeout of `open` is now 30 seconds."),
        ("Adds a licence header.", "A licence header was added."),
    ],
)
def test_other_words_for_the_same_are_copies(one: str, other: str) -> None:
    assert alike(words(one), words(other))
    assert len(merged([reference(one), reference(other)])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The field `a_b` is added to the class.", "The field `a_c` is added to the class."),
        (
            "The parameter `depth` is added to `run`.",
            "The parameter `depth` is removed from `run`.",
        ),
        ("`run` raises an error for `depth`.", "`run` raises no error for `depth`."),
        ("`a_b` is renamed to `c_d`.", "`c_d` is renamed to `a_b`."),
        ("The limit is raised to 20.", "The limit is raised to 30."),
        ("The flag of the parser is true.", "The flag of the parser is false."),
        ("`run` is called before `stop`.", "`stop` is called before `run`."),
    ],
)
def test_statements_of_different_things_stay_apart(one: str, other: str) -> None:
    kept = merged([reference(one), reference(other)])
    assert [item.text for item in kept] == [one, other]


def test_more_specific_one_stays_at_the_place_of_the_first() -> None:
    less = "The timeout of the client is raised."
    more = "The timeout of the client is raised from 10 to 30."
    kept = merged([reference(less, line=3), reference("`other` is new."), reference(more, line=7)])
    assert [item.text for item in kept] == [more, "`other` is new."]
    assert [span.start for span in kept[0].spans] == [3, 7]


def test_copy_among_the_implications_is_the_claim_once() -> None:
    text = "`run` is slower for a large `depth`."
    kept = merged([reference(text), reference(text, kind=ReferenceKind.IMPLICATION)])
    assert [item.kind for item in kept] == [ReferenceKind.CLAIM]


def test_nothing_is_lost_without_copies() -> None:
    refs = [reference(f"`name_{letter}` is new.") for letter in "abcdef"]
    assert merged(refs) == tuple(refs)
    assert merged([]) == ()


def test_thousands_of_claims_take_little_time() -> None:
    refs = [reference(f"The same words again and w{n} again for all") for n in range(4_000)]
    start = time.process_time()
    assert len(merged(refs)) == 4_000
    assert time.process_time() - start < 5
