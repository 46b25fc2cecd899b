import numpy as np
import pytest

from crscore.diff import parse
from crscore.study.attacks.material import Wording, units
from crscore.study.attacks.restating import restatements
from tests.unit.study.attacks.materials import material


def restated(seed: int = 0, **fields) -> dict[str, str]:
    return dict(restatements(material(**fields), np.random.default_rng(seed)))


def test_commit_message_says_what_was_done() -> None:
    assert restated()["commit-message"] == (
        "Change `10` to `20`. Rename `open_line` to `open_socket`. "
        "Add a comment saying “Retry once when the host is slow.”. Remove a call of `print`."
    )


def test_templates_tell_every_fact() -> None:
    for seed in range(20):
        text = restated(seed)["templates"]
        assert all(
            part in text
            for part in ("`20`", "`open_socket`", "Retry once", "a call of `print`"[2:])
        )


def test_counts_are_those_of_the_diff() -> None:
    text = restated()["counts"]
    assert "3 lines" in text.split(".")[0]
    one = "@@ -1,1 +1,2 @@\n x = 1\n+y = 2\n"
    text = restated(diff=parse.parse_diff(one, language="python"))["counts"]
    assert "1 line " in text + " "
    assert "0 lines" in text


def test_claims_are_said_in_other_words() -> None:
    found = {restated(seed)["recorded-one"] for seed in range(40)}
    assert len(found) > 3
    assert all("20" in text or "open_socket" in text for text in found)


def test_only_summaries_are_restated() -> None:
    found = restated(summaries=(), structural_summaries=())
    assert not any(name.startswith(("recorded-", "structural-")) for name in found)
    assert all("slow down the start" not in text for text in restated().values())


def test_change_without_facts_leaves_the_claims() -> None:
    blank = parse.parse_diff("@@ -1,2 +1,1 @@\n x = 1\n-\n", language="python")
    assert {name.split("-")[0] for name in restated(diff=blank)} == {"recorded", "structural"}


@pytest.mark.parametrize("name", ["steps", "recorded-steps"])
def test_steps_begin_and_end_as_steps(name: str) -> None:
    steps = units(restated()[name])
    assert steps[0].startswith("To begin with, ")
    assert steps[-1].startswith("Lastly, ")


def test_long_change_is_told_in_part() -> None:
    added = "".join(f"+value_{i} = {i}\n" for i in range(30))
    long = parse.parse_diff(f"@@ -1,1 +1,31 @@\n x = 1\n{added}", language="python")
    starts = {restated(seed, diff=long)["commit-message"] for seed in range(20)}
    assert all(text.count("Add ") == 6 for text in starts)
    assert len(starts) > 5


def test_training_says_it_otherwise() -> None:
    test = {restated(seed)["templates"] for seed in range(30)}
    training = {restated(seed, wording=Wording.TRAINING)["templates"] for seed in range(30)}
    assert not test & training
    assert "commit-message" not in restated(wording=Wording.TRAINING)
