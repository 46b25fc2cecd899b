from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from msgspec.structs import replace

from crscore.diff.parse import parse_diff
from crscore.records import (
    Flag,
    LineSpan,
    Match,
    PseudoReference,
    ReferenceKind,
    Sentence,
    Side,
    Subject,
    Topic,
    TopicState,
)
from crscore.scoring.assembly import find_addressed, find_named_points, list_points
from crscore.scoring.cells import Cells, Judgement, compare
from crscore.text import stem
from tests.helpers import results

CHANGE = parse_diff("""\
--- a/shop/client.py
+++ b/shop/client.py
@@ -1,9 +1,12 @@
 class Retry:
-    def __init__(self, max_attempts):
-        self.max_attempts = max_attempts
+    def __init__(self, max_tries):
+        self.max_tries = max_tries

 class Client:
     def charge(self, order_id):
-        return post(order_id)
+        try:
+            return post(order_id)
+        except Exception:
+            value = x
""")
PATH = "shop/client.py"
UNITS = {
    "Retry.__init__": "`__init__` now takes `max_tries` instead of `max_attempts`.",
    "Client.charge": "`charge` of `order_id` now catches `Exception` and sets `value` to `x`.",
    "Client.Client": "The constructor `Client.Client` has changed.",
    "Loop.start": "`start` no longer takes `max_attempts`.",
    "gives up": "The new test “gives up” has been added.",
    PATH: f"`{PATH}` now imports `time`.",
    **{f"{name}.run": f"The method `{name}.run` has changed." for name in "ABCD"},
}
REFERENCES = tuple(
    results.reference(text, topic=results.topic(name, (PATH, 1, 2))) for name, text in UNITS.items()
)
IDF = {stem("value"): 1.0}


def cells_of(
    references: Sequence[PseudoReference], sentences: Sequence[Sentence], cosines: np.ndarray
) -> Cells:
    rows, columns = (np.zeros((count, 1), dtype=np.float32) for count in cosines.shape)
    return replace(compare(CHANGE, references, sentences, rows, columns), similarity=cosines)


def names(text: str, flag: Flag | None = None, rarity=IDF) -> set[str]:
    """Return the topics whose code a text names."""
    sentence = Sentence(text=text, comment=0)
    cosines = np.zeros((len(REFERENCES), 1), dtype=np.float32)
    named = find_named_points(cells_of(REFERENCES, [sentence], cosines), [flag], rarity)
    return {name for name, is_named in zip(UNITS, named[:, 0], strict=True) if is_named}


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("`__init__` now takes `max_tries` instead of `max_attempts`.", "Retry.__init__"),
        ("Catching a bare `Exception` hides errors.", "Client.charge"),
        ("`Client.charge` hides errors.", "Client.charge"),
        ("When it fails, charge() returns nothing.", "Client.charge"),
        ("Call `self.client->charge` twice.", "Client.charge"),
        ("max_tries is the better name.", "Retry.__init__"),
        ("`C.run` is too long.", "C.run"),
        ("C#run is too long.", "C.run"),
        ("See client.py.", PATH),
        ("See `./shop/client.py`.", PATH),
        ("The test “gives up” is slow.", "gives up"),
        ('The test "gives up" is slow.', "gives up"),
    ],
)
def test_sentence_that_names_code_of_a_topic_addresses_it(text: str, topic: str) -> None:
    assert names(text) == {topic}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("`run` is too long.", id="name of four topics"),
        pytest.param("`value` is never read.", id="common word"),
        pytest.param("`x` is no name, and neither is `self`.", id="short and common names"),
        pytest.param("Please charge each customer once.", id="word that is a name elsewhere"),
        pytest.param("Which exception is it?", id="word that the claim quotes"),
        pytest.param("`order_id` may be empty.", id="quoted but unchanged"),
        pytest.param("The charge(s) may fail.", id="plural in brackets"),
        pytest.param("The client is slow, e.g. when the test gives up.", id="words of names"),
    ],
)
def test_shared_or_common_name_addresses_nothing(text: str) -> None:
    assert names(text) == set()


def test_name_of_two_topics_addresses_both_unless_the_sentence_names_one() -> None:
    assert names("Keep `max_attempts`.") == {"Retry.__init__", "Loop.start"}
    assert names("`start` needs `max_attempts`.") == {"Loop.start"}


def test_flagged_sentence_names_nothing() -> None:
    assert names("max_tries max_attempts charge", Flag.NO_SENTENCE) == set()


def test_without_frequencies_single_words_name_topics_only() -> None:
    assert names("`Exception` in `charge`, `max_tries` out.", rarity=None) == {
        "Client.charge",
        "Retry.__init__",
    }
    assert names("`Exception` is too broad.", rarity=None) == set()


def two_claims() -> tuple[PseudoReference, ...]:
    topic = results.topic("Client.charge", (PATH, 1, 2))
    return (
        results.reference("`charge` logs.", weight=0.5, topic=topic),
        results.reference("`charge` retries.", weight=0.9, topic=topic),
        results.reference("A tool finds fault."),
        results.reference("`charge` is long.", topic=topic, counted=False),
    )


def test_topic_is_addressed_at_its_nearest_counted_claim() -> None:
    cosines = np.array([[0.1, 0.2], [0.2, 0.1], [0.9, 0.9], [0.9, 0.9]], dtype=np.float32)
    sentences = [Sentence(text="`charge` fails.", comment=0)] * 2
    named = find_named_points(cells_of(two_claims(), sentences, cosines), [None, None])
    assert np.argwhere(named).tolist() == [[0, 1], [1, 0]]


def test_topic_is_one_point_that_any_of_its_counted_claims_addresses() -> None:
    matches = [
        Match(index=0, similarity=0.5, degree=0.5, matched=row in {0, 3}) for row in range(4)
    ]
    points = list_points(two_claims(), matches)
    assert [(point.references, point.addressed) for point in points] == [
        ((2,), False),
        ((1, 0), True),
    ]


def test_sentence_addresses_by_degree_by_name_and_as_its_subject() -> None:
    degrees = np.full((3, 3), 0.1, dtype=np.float32)
    degrees[0, 0] = 0.4
    rows, columns = np.eye(3, dtype=np.float32), np.zeros((3, 3), dtype=np.float32)
    columns[2, 2] = 1
    sentences = [Sentence(text=text, comment=0) for text in ("It is slow.", "`charge` fails.", "?")]
    cells = compare(CHANGE, two_claims()[:3], sentences, rows, columns)
    judgement = Judgement(degrees=degrees, decision=0.4, flags=(None,) * 3, in_review=(True,) * 3)
    readings = [results.make_reading()] * 3
    addressed, found = find_addressed(cells, judgement, readings, IDF)
    assert np.argwhere(addressed).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert [(reading.subject, reading.reference) for reading in found] == [
        (Subject.CHANGE, None),
        (Subject.CLAIM, 1),
        (Subject.CLAIM, 2),
    ]


def test_new_test_is_no_point_if_the_code_that_it_tests_is_one() -> None:
    def make(name: str, noun: str, path: str, state: TopicState = TopicState.NEW) -> Topic:
        place = LineSpan(path=path, side=Side.NEW, start=1, end=2)
        return Topic(name=name, noun=noun, state=state, lines=2, place=place)

    topics = [
        make("charge", "function", "pay.py"),
        make("test_charge", "test", "pay.py"),
        make("TestCharge", "class", "tests/test_pay.py"),
        make("test_old", "test", "tests/test_pay.py", TopicState.CHANGED),
        make("test_gone", "test", "tests/test_pay.py", TopicState.REMOVED),
    ]
    references = [
        PseudoReference(text="A.", kind=ReferenceKind.CLAIM, source="s", topic=topic)
        for topic in topics
    ]
    matches = [Match(index=0, similarity=0.5, degree=0.5, matched=False)] * len(references)
    listed = [point.references for point in list_points(references, matches)]
    assert listed == [(0,), (3,), (4,)]
    # What the tests are about is missing from the change.
    assert len(list_points(references[1:3], matches[1:3])) == 2
