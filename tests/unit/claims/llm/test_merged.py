"""Claims of several generators, each said once."""

from collections.abc import Sequence

import numpy as np

from crscore.claims.llm.merged import Merged
from crscore.diff import parse
from crscore.records import Claims, Diff, PseudoReference, ReferenceKind

DIFFS = [parse.parse_diff("@@ -1 +1 @@\n-x = 1\n+x = 2\n", path="a.py")]


class Words:
    """One axis a word."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        words = sorted({word for text in texts for word in text.lower().split()})
        rows = np.array([[word in text.lower().split() for word in words] for text in texts], "f4")
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Says:
    def __init__(self, name: str, *texts: str, raw: str | None = None) -> None:
        self.identity, self.texts, self.raw = name, texts, raw

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        made = tuple(
            PseudoReference(text=text, kind=ReferenceKind.CLAIM, source=self.identity)
            for text in self.texts
        )
        return tuple(Claims(references=made, raw=self.raw, notes=(self.identity,)) for _ in diffs)


def merged(*generators: Says) -> Claims:
    return Merged(generators, Words()).generate(DIFFS)[0]


def texts(claims: Claims) -> list[str]:
    return [message.text for message in claims.references]


def test_claims_of_all_generators_are_kept_in_their_order() -> None:
    assert texts(merged(Says("a", "one two"), Says("b", "three four"))) == ["one two", "three four"]


def test_claim_that_a_later_generator_repeats_counts_once() -> None:
    found = merged(Says("a", "the limit is raised"), Says("b", "the limit is raised", "x is new"))
    assert texts(found) == ["the limit is raised", "x is new"]
    assert found.notes[-1].startswith("1 claims")


def test_claims_of_one_generator_are_not_held_against_each_other() -> None:
    assert len(texts(merged(Says("a", "same words", "same words"), Says("b")))) == 2


def test_generator_without_claims_changes_nothing() -> None:
    assert texts(merged(Says("a"), Says("b", "one"))) == ["one"]


def test_raw_answers_and_notes_are_kept() -> None:
    found = merged(Says("a", "one", raw="RAW"), Says("b", "two"))
    assert (found.raw, found.notes) == ("RAW", ("a", "b"))


def test_identity_names_all() -> None:
    assert Merged((Says("a"), Says("b")), Words()).identity == "a+b"
