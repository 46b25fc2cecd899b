from collections.abc import Sequence

import numpy as np
import pytest

from crscore import Scorer, pipeline
from crscore.diff import parse
from crscore.encoders import hashing
from crscore.encoders.base import Vectors
from crscore.matchers.base import Cells
from crscore.records import Claims, PseudoReference, ReferenceKind
from crscore_lab.study.attacks.material import split_sentences
from crscore_lab.training import matcher
from crscore_lab.training.data import study_examples
from crscore_lab.training.data.study_examples import Example, Target

PATCH = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-limit = 10\n+limit = 20\n"
TEXT = "The **limit** of 20 is too high.\n\n- Why not 15?\n- Add a test."
NOTHING = Target(scores=(0, 0, 0))


class Counting:
    def __init__(self) -> None:
        self.inner, self.calls = hashing.Hashing(), []
        self.identity = self.inner.identity

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.calls.append(list(texts))
        return self.inner.encode(texts)


def refs(count: int, kind: ReferenceKind = ReferenceKind.CLAIM) -> tuple[PseudoReference, ...]:
    return tuple(
        PseudoReference(text=f"Claim number {index} of the limit.", kind=kind, source="test")
        for index in range(count)
    )


def test_each_text_is_encoded_once() -> None:
    encoder = Counting()
    vectors = Vectors(encoder)
    vectors.add(["a b", "c d", "a b"])
    vectors.add(["c d", "e f"])
    vectors.add([])
    assert encoder.calls == [["a b", "c d"], ["e f"]]
    np.testing.assert_array_equal(
        vectors.of(["e f", "a b", "e f"]), encoder.inner.encode(["e f", "a b", "e f"])
    )
    assert vectors.of([]).shape == (0, 256)


def test_unknown_text_is_a_key_error() -> None:
    vectors = Vectors(hashing.Hashing())
    vectors.add(["a"])
    with pytest.raises(KeyError):
        vectors.of(["b"])


def test_only_references_that_a_default_score_counts_are_selected() -> None:
    assert len(study_examples.select_counted(refs(20))) == study_examples.MAX_CLAIMS
    assert len(study_examples.select_counted(refs(20, ReferenceKind.ISSUE))) == 20
    assert study_examples.select_counted(()) == ()


class Recorded:
    identity = "recorded"

    def generate(self, diffs) -> tuple[Claims, ...]:
        return tuple(Claims(references=refs(14)) for _ in diffs)


class Keeping:
    identity, decision = "keeping", 0.5

    def __init__(self) -> None:
        self.seen: list[Cells] = []

    def match(self, cells: Cells):
        self.seen.append(cells)
        return Scorer(encoder="hashing", analyzers="none").parts.matcher.match(cells)


def test_cells_are_those_of_a_default_run() -> None:
    keeping = Keeping()
    scorer = Scorer(encoder="hashing", generator=Recorded(), matcher=keeping, analyzers="none")
    parsed = scorer.read_diff(PATCH)
    pipeline.run([pipeline.ReviewedChange(parsed, scorer.read_review(TEXT))], scorer.parts)
    (theirs,) = keeping.seen
    example = Example(
        change="x",
        system="s",
        diff=parse.parse_diff(PATCH),
        references=study_examples.select_counted(refs(14)),
        text=TEXT,
        target=NOTHING,
    )
    sentences = split_sentences(TEXT)
    vectors = Vectors(hashing.Hashing())
    vectors.add([*sentences, *(ref.encoded_text for ref in example.references)])
    ours = matcher.make_cells(example, sentences, vectors, None)
    assert [sentence.text for sentence in ours.sentences] == [
        sentence.text for sentence in theirs.sentences
    ]
    assert [ref.text for ref in ours.references] == [ref.text for ref in theirs.references]
    for name in ("reference_vectors", "sentence_vectors", "similarity", "about"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
