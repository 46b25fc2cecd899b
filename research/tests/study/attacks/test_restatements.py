import numpy as np
import pytest

from crscore.diff import parse
from crscore_lab.study.attacks.material import Wording, split_sentences
from crscore_lab.study.attacks.restatements import (
    MAX_BLOCK,
    MAX_QUOTE,
    Fact,
    list_facts,
    paraphrase,
    restate_change,
)
from research.tests.study.attacks.materials import PATCH, material


def restated(seed: int = 0, **fields) -> dict[str, str]:
    return restate_change(material(**fields), np.random.default_rng(seed))


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
    found = restated(summaries={"recorded": (), "structural": ()})
    assert not any(name.startswith(("recorded-", "structural-")) for name in found)
    assert all("slow down the start" not in text for text in restated().values())


def test_change_without_facts_leaves_the_claims() -> None:
    blank = parse.parse_diff("@@ -1,2 +1,1 @@\n x = 1\n-\n", language="python")
    assert {name.split("-")[0] for name in restated(diff=blank)} == {"recorded", "structural"}


@pytest.mark.parametrize("name", ["steps", "recorded-steps"])
def test_steps_begin_and_end_as_steps(name: str) -> None:
    steps = split_sentences(restated()[name])
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


def read_facts(removed: str = "", added: str = "") -> list[Fact]:
    old, new = removed.split("\n") if removed else [], added.split("\n") if added else []
    lines = [f"-{line}" for line in old] + [f"+{line}" for line in new]
    head = f"@@ -1,{len(old) + 1} +1,{len(new) + 1} @@\n x\n"
    return list_facts(parse.parse_diff(head + "\n".join(lines) + "\n", language="python"))


def test_lines_of_a_change_become_facts_in_order() -> None:
    assert list_facts(parse.parse_diff(PATCH, language="python")) == [
        Fact("changed", "`10`", "`20`"),
        Fact("renamed", "`open_line`", "`open_socket`"),
        Fact("added", "", "a comment saying “Retry once when the host is slow.”"),
        Fact("removed", "a call of `print`", ""),
    ]


NOUNS = [
    ("import os", "an import of `os`"),
    ("from a import b", "an import of `a import b`"),
    ("package org.example;", "the package name `org.example`"),
    ("// Why not.", "a comment saying “Why not.”"),
    ("* @param x the x", "the line `* @param x the x`"),
    ("def f(x):", "a function `f`"),
    ("async function load() {", "a function `load`"),
    ("public abstract class Foo extends Bar {", "a class `Foo`"),
    ("@Override", "an annotation `@Override`"),
    ("public int size() {", "a method `size`"),
    ("private static List<String> names(int a) throws X {", "a method `names`"),
    ("if (a != b) {", "a check `(a != b)`"),
    ("} else if (a) {", "a check `(a)`"),
    ("for x in y:", "a loop over `x in y`"),
    ("return a + b;", "a return of `a + b`"),
    ("raise ValueError(x)", "a raised error `ValueError(x)`"),
    ("self.count = 3", "an assignment to `self.count`"),
    ("total += 1", "an assignment to `total`"),
    ("format(x)", "a call of `format`"),
    ("iffy(x)", "a call of `iffy`"),
    ("x => y,", "the line `x => y`"),
    ("a == b", "the line `a == b`"),
    ("'plain text',", "the line `'plain text'`"),
]


def test_added_line_is_named_by_its_kind() -> None:
    for line, noun in NOUNS:
        assert read_facts(added=line) == [Fact("added", "", noun)]


def test_unlike_lines_are_one_removed_and_one_added() -> None:
    found = read_facts(removed="import os", added="return compute(a, b) * 2")
    assert [fact.action for fact in found] == ["removed", "added"]


def test_line_with_several_differences_is_quoted_whole() -> None:
    (found,) = read_facts(removed="call(a, b)", added="call(c, d)")
    assert found == Fact("changed", "`call(a, b)`", "`call(c, d)`")


def test_line_with_another_number_of_words_is_quoted_whole() -> None:
    (found,) = read_facts(removed="call(a)", added="call(a, b)")
    assert found == Fact("changed", "`call(a)`", "`call(a, b)`")


def test_long_lines_are_quoted_from_where_they_differ() -> None:
    start = "value = some_function_with_a_name(first_argument, second_argument, third_argument, "
    (found,) = read_facts(removed=start + "one + two)", added=start + "three - four)")
    assert (found.old, found.new) == ("`one + two)`", "`three - four)`")


def test_lines_without_a_letter_tell_nothing() -> None:
    assert read_facts(removed="}", added="});") == []


def test_huge_block_is_read_in_part() -> None:
    found = read_facts(added="\n".join(f"value_{i} = {i}" for i in range(500)))
    assert len(found) == MAX_BLOCK


def test_quote_is_cut_and_keeps_no_backtick() -> None:
    (found,) = read_facts(added="`a` + " + "x" * 200)
    text = found.new.removeprefix("the line ")
    assert len(text) == MAX_QUOTE + 2
    assert text.strip("`").startswith("'a' + xxx")
    assert text.endswith("…`")


def all_of(claim: str, wording: Wording = Wording.TEST) -> set[str]:
    return {paraphrase(claim, wording, np.random.default_rng(seed)) for seed in range(60)}


def test_passive_becomes_active() -> None:
    found = all_of("A `retry` flag has been added to the `connect` call.")
    assert "The patch adds a `retry` flag to the `connect` call." in found


def test_active_becomes_passive() -> None:
    found = all_of("The change removes the old cache from `load`.")
    assert "The old cache is removed from `load`." in found


def test_passive_of_several_is_plural() -> None:
    assert "2 imports are changed." in all_of("The commit changes 2 imports.")


def test_leading_clause_moves_to_the_end() -> None:
    found = all_of("In the loop, a break stands first.")
    assert "A break stands first in the loop." in found


def test_synonyms_differ_between_the_halves() -> None:
    claim = "The field `a` has been renamed to `b`."
    assert any("is now called" in text for text in all_of(claim))
    assert not any("is now called" in text for text in all_of(claim, Wording.TRAINING))


@pytest.mark.parametrize("code", ["`new Foo(now)`", "'new'", '"function"'])
def test_code_stays_as_it_is(code: str) -> None:
    claim = f"The new function of the method now returns {code}."
    assert all(code in text for text in all_of(claim))


def test_capital_letter_inside_stays() -> None:
    found = all_of("It was off. Previously it was on.")
    assert "It was off. Before the patch it was on." in found


def test_claim_without_a_rule_stays() -> None:
    assert all_of("Nothing here.") == {"Nothing here."}


def test_same_randomness_says_the_same() -> None:
    claim = "A new parameter has been added to the method."
    one, other = (paraphrase(claim, Wording.TEST, np.random.default_rng(4)) for _ in range(2))
    assert one == other
