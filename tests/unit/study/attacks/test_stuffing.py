import re
from collections import Counter

import numpy as np
import pytest

from crscore.study.attacks.material import Wording
from crscore.study.attacks.stuffing import MAX_NAMES, pasted_diffs, stuffings
from tests.unit.study.attacks.materials import PATCH, material


def stuffed(seed: int = 0, **fields) -> dict[str, str]:
    return dict(stuffings(material(**fields), np.random.default_rng(seed)))


def pasted(**fields) -> dict[str, str]:
    return dict(pasted_diffs(material(**fields), np.random.default_rng(0)))


@pytest.mark.parametrize("form", ["bare", "commas", "backticks", "bullets", "one-a-line"])
def test_stuffing_has_every_identifier_and_nothing_else(form: str) -> None:
    found = re.findall(r"\w+", stuffed()[form])
    assert Counter(found) == Counter(material().names)


@pytest.mark.parametrize("form", ["glued", "glued-code"])
def test_glued_names_stand_in_sentences(form: str) -> None:
    found = stuffed()[form]
    assert all(name in found for name in material().names)
    assert found.endswith((".", "?"))
    assert len(found.split()) > len(material().names)


def test_names_are_shuffled_by_the_seed() -> None:
    assert len({stuffed(seed)["bare"] for seed in range(20)}) > 5


def test_words_of_a_name_fall_apart() -> None:
    assert stuffed(names=("parseHTTPHeader", "max_size"))["words"] in {
        "parse httpheader max size.",
        "max size parse httpheader.",
    }


def test_many_names_are_cut() -> None:
    names = tuple(f"name{i}" for i in range(300))
    assert len(stuffed(names=names)["bare"].split()) == MAX_NAMES


def test_one_name_is_enough() -> None:
    assert stuffed(names=("only",))["bare"] == "only"
    assert stuffed(names=("only",))["glued"].count("only") == 3


def test_no_names_give_no_stuffing() -> None:
    assert stuffed(names=()) == {}


def test_pasted_diff_is_the_patch() -> None:
    found = pasted()
    assert found["raw"] == PATCH.strip("\n")
    assert found["fenced"] == f"```diff\n{PATCH}```"
    assert found["quoted"].startswith("> @@ -1,5 +1,5 @@")
    assert found["suggestion"].startswith("```suggestion\nTIMEOUT = 20\n")


def test_signs_are_stripped() -> None:
    lines = pasted()["without-signs"].split("\n")
    assert lines[:3] == ["import socket", "TIMEOUT = 10", "TIMEOUT = 20"]
    assert "\n" not in pasted()["paragraph"]
    assert pasted()["in-backticks"].startswith("`TIMEOUT = 10` `def open_line(host):`")


def test_change_of_blank_lines_gives_nothing_to_paste() -> None:
    from crscore.diff import parse  # noqa: PLC0415

    patch = "@@ -1,2 +1,1 @@\n x = 1\n-\n"
    assert pasted(patch=patch, diff=parse.parse_diff(patch, language="python")) == {}


def test_training_lacks_the_unseen_forms() -> None:
    assert "hashtags" in stuffed()
    assert "hashtags" not in stuffed(wording=Wording.TRAINING)
    assert "new-side" not in pasted(wording=Wording.TRAINING)
