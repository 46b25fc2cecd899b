import random
import re
from collections import Counter

import pytest

from crscore_lab.training.data import judgements, templates

PATCH = """--- a/src/shop.py
+++ b/src/shop.py
@@ -1,2 +1,3 @@
 removed_name = 1
-old_total = 2
+new_total = basket_sum(cart)
+}
"""


def fill(template: str, patch: str = PATCH, seed: int = 0) -> str:
    return templates.fill(template, patch, random.Random(seed))


def drawn(template: str, patch: str = PATCH) -> set[str]:
    return {fill(template, patch, seed) for seed in range(40)}


def test_names_are_those_of_added_lines_and_mostly_compound() -> None:
    for slot in ("{a}", "{b}", "{c}"):
        assert drawn(slot) == {"new_total", "basket_sum"}
    assert drawn("{a}", "+cart = 1 + total") == {"cart", "total"}


def test_line_is_an_added_line_of_some_length() -> None:
    assert drawn("{L}") == {"new_total = basket_sum(cart)"}
    assert fill("{L}", "+" + "x" * 500) == "x" * 120


def test_path_is_one_of_the_change() -> None:
    assert drawn("In {path}:") == {"In src/shop.py:"}


def test_words_are_drawn_for_each_slot_and_names_once() -> None:
    assert drawn("{w}") == {"total", "basket", "cart"}
    pairs = {fill("{w} {w}", seed=seed) for seed in range(40)}
    assert len(pairs) == 9
    assert all(len(set(fill("{a} {a}", seed=seed).split())) == 1 for seed in range(40))


@pytest.mark.parametrize(
    "patch", ["", "Binary files differ", "@@ -1 +0,0 @@\n-gone = 1\n", "+)\n+]"]
)
def test_change_without_an_added_line_fills_every_slot(patch: str) -> None:
    text = fill("{a} {b} {c} {L} {w} {path}", patch)
    assert text == "value value value value = 1 value file"


def test_code_of_the_change_is_not_a_template() -> None:
    assert drawn("`{L}`", "+{path} {a} {w}") == {"`{path} {a} {w}`"}
    assert fill("{x} {{a}} {}", "+some_name") == "{x} {some_name} {}"


def test_same_seed_gives_the_same_text() -> None:
    template = "{a} {b} {c} {L} {w} {w} {path}"
    assert fill(template, seed=3) == fill(template, seed=3)
    assert len(drawn(template)) > 5


def test_shipped_templates_are_filled_completely() -> None:
    slots: Counter[str] = Counter()
    for row in judgements.read_texts("templates"):
        slots.update(re.findall(r"\{(\w+)\}", row["text"]))
        assert not re.search(r"\{\w+\}", fill(row["text"]))
    assert slots.keys() == {"a", "b", "c", "L", "w", "path"}
