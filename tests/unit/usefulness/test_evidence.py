import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.diff import parse
from crscore.usefulness import evidence
from crscore.usefulness.evidence import (
    FEATURES,
    ChangeEvidence,
    Rarity,
)

PATCH = """--- a/src/engine.py
+++ b/src/engine.py
@@ -1,3 +1,3 @@ class Motor:
 speed = 3
-limit = 10
+max_limit = 20
 torque = 4
"""
BINARY = """diff --git a/logo.png b/logo.png
index 1111111..2222222 100644
Binary files a/logo.png and b/logo.png differ
"""
CONTEXT = "--- a/a.py\n+++ b/a.py\n@@ -1,8 +1,8 @@\n" + "".join(f" line{at}\n" for at in range(8))
RARITY = Rarity(frequency={"limit": 9}, documents=99)
NONE = np.zeros((0, 2), dtype=np.float32)


def weighed(text: str, patch: str = PATCH, lines=NONE, claims=NONE) -> dict[str, float]:
    vector = np.array([1, 0], dtype=np.float32)
    ground = evidence.read_change_words(parse.parse_diff(patch))
    change = ChangeEvidence(words=ground, lines=lines, claims=claims)
    values = evidence.measure_evidence(text, vector, change, RARITY)
    return dict(zip(FEATURES, values, strict=True))


def test_words_are_sorted_by_where_they_occur() -> None:
    ground = evidence.read_change_words(parse.parse_diff(PATCH))
    assert {"limit", "max"} <= ground.changed
    assert ground.context == {"spe", "torqu"}
    assert ground.names == {"max_limit"}
    assert any(stem.startswith("motor") for stem in ground.location)
    assert not ground.changed & ground.context
    assert not ground.location & (ground.changed | ground.context)


def test_changed_word_is_not_a_context_word() -> None:
    again = PATCH.replace(" torque = 4", " limit = 4")
    assert "limit" not in evidence.read_change_words(parse.parse_diff(again)).context


def test_rarity_falls_with_the_number_of_changes() -> None:
    assert RARITY.by_stem == {"limit": pytest.approx(math.log(10))}
    assert RARITY.of("limit") == RARITY.by_stem["limit"]
    assert RARITY.of("unknown") == pytest.approx(math.log(100))
    assert Rarity(frequency={"the": 5}, documents=5).of("the") == 0


def test_measures_computed_by_hand() -> None:
    measures = weighed("The limit of velocity.")
    ten, hundred = math.log(10), math.log(100)
    assert measures["changed_share"] == pytest.approx(ten / (ten + hundred), abs=1e-4)
    assert measures["changed_rarest"] == pytest.approx(ten)
    assert measures["foreign_rarest"] == pytest.approx(hundred)
    assert measures["stems"] == pytest.approx(math.log1p(2))
    assert measures["context_share"] == measures["place_share"] == 0


def test_cosines_are_the_highest() -> None:
    rows = np.array([[0, 1], [0.6, 0.8]], dtype=np.float32)
    measures = weighed("Why?", lines=rows, claims=rows[:1])
    assert measures["cosine_lines"] == pytest.approx(0.6)
    assert measures["cosine_claims"] == 0
    assert weighed("Why?")["cosine_lines"] == 0


def test_shared_and_foreign_names_are_distinguished() -> None:
    measures = weighed("`max_limit` and `min_limit` and `other_name`")
    assert measures["names_shared"] == pytest.approx(math.log1p(1))
    assert measures["names_foreign"] == pytest.approx(math.log1p(2))


@pytest.mark.parametrize("patch", [BINARY, CONTEXT, PATCH])
def test_every_change_and_text_has_finite_measures(patch: str) -> None:
    for text in ("", "Why?", "the of", "\x00", "名前", "x" * 5_000):
        assert all(math.isfinite(value) for value in weighed(text, patch).values()), text


@given(st.text(max_size=80))
def test_shares_are_within_0_and_1(text: str) -> None:
    measures = weighed(text)
    shares = [measures[name] for name in ("changed_share", "context_share", "place_share")]
    assert all(0 <= share <= 1 for share in shares)
    assert sum(shares) <= 1 + 1e-6
    assert min(measures.values()) >= 0


def test_words_of_a_huge_change_are_those_at_the_start_of_each_file(monkeypatch) -> None:
    patch = "".join(
        f"--- a/{name}.py\n+++ b/{name}.py\n@@ -0,0 +1,{count} @@\n"
        + "".join(f"+{name}{chr(97 + at) * 3}\n" for at in range(count))
        for name, count in (("long", 6), ("late", 2))
    )
    change = parse.parse_diff(patch)
    assert len(evidence.read_change_words(change).changed) == 8
    monkeypatch.setattr(evidence, "MAX_LINES", 4)
    words = evidence.read_change_words(change)
    assert words.changed_code == "longaaalongbbblateaaalatebbb"
