"""Order and weight of claims."""

from __future__ import annotations

import time

import pytest

from crscore.claims.structural import plugin, ranking
from crscore.claims.structural.ranking import WEIGHTS, describe_claims, weigh
from crscore.scoring.cells import MIN_COUNTED_WEIGHT, choose_references, select_references
from tests.helpers.changes import change, together
from tests.helpers.growth import slowness

BODY = "def load(path):\n    data = read(path)\n    return parse(data)\n"
CHECKED = BODY.replace("    return", "    if not data:\n        raise ValueError(path)\n    return")
DIFF = together(
    change("app/load.py", BODY, CHECKED),
    change("app/shape.py", "import os\nA = 1\n", "import re\nA = 1\n"),
)


def test_behaviour_comes_before_imports() -> None:
    (claims,) = plugin.create().generate([DIFF])

    assert claims.references[0].topic
    assert claims.references[0].topic.name == "load"
    assert claims.references[-1].text.endswith("imports `os`.")


def test_claims_about_small_changes_do_not_count() -> None:
    (claims,) = plugin.create().generate([DIFF])
    chosen = choose_references(claims.references, (), DIFF, limit=None)

    assert [topic.name for topic in chosen.small] == ["app/shape.py"]
    assert all(item.weight >= MIN_COUNTED_WEIGHT for item in chosen.references if item.counted)


def test_the_only_claim_counts_however_small_it_is() -> None:
    diff = change("a.py", "import os\n", "import re\n")
    (claims,) = plugin.create().generate([diff])
    selected = select_references(claims.references, limit=None)

    assert [item.counted for item in selected] == [True] + [False] * (len(selected) - 1)
    assert choose_references(claims.references, (), diff, limit=None).small == ()


@pytest.mark.parametrize(
    ("features", "weight"),
    [({}, 0.5), ({"a": 2.0}, 0.8808), ({"a": -100.0}, 0.001), ({"a": 9, "role machine": 1}, 0.001)],
)
def test_weight_is_a_probability(features: dict[str, float], weight: float) -> None:
    assert weigh(features, {"bias": 0.0, "a": 1.0}) == weight


def test_weights_name_existing_features() -> None:
    names = {
        name
        for topic in describe_claims(plugin.find_topics(DIFF))
        for claim in topic
        for name in claim
    }
    known = {"role code", "state changed", "unit function", "size", "share", "length", "position 0"}

    assert known <= names & WEIGHTS.keys()


@pytest.mark.growth
def test_many_topics_are_described_in_linear_time() -> None:
    new = "".join(f"\n\ndef f_{at}(a):\n    return g_{at}(a)\n" for at in range(1500))
    topics = plugin.find_topics(change("a.py", "", new, sources=False))
    before = time.process_time()
    ranking.rank_topics(topics)

    assert time.process_time() - before < 5 * slowness()
