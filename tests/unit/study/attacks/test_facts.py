import pytest

from crscore.diff import parse
from crscore.study.attacks.facts import MAX_BLOCK, MAX_QUOTE, Deed, Fact, facts, quoted
from tests.unit.study.attacks.materials import PATCH


def read(removed: str = "", added: str = "") -> tuple[Fact, ...]:
    old, new = removed.split("\n") if removed else [], added.split("\n") if added else []
    lines = [f"-{line}" for line in old] + [f"+{line}" for line in new]
    head = f"@@ -1,{len(old) + 1} +1,{len(new) + 1} @@\n x\n"
    return facts(parse.parse_diff(head + "\n".join(lines) + "\n", language="python"))


def test_lines_of_a_change_become_facts_in_order() -> None:
    assert facts(parse.parse_diff(PATCH, language="python")) == (
        Fact(deed=Deed.CHANGED, old="`10`", new="`20`"),
        Fact(deed=Deed.RENAMED, old="`open_line`", new="`open_socket`"),
        Fact(deed=Deed.ADDED, old="", new="a comment saying “Retry once when the host is slow.”"),
        Fact(deed=Deed.REMOVED, old="a call of `print`", new=""),
    )


@pytest.mark.parametrize(
    ("line", "noun"),
    [
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
    ],
)
def test_added_line_is_called_what_it_is(line: str, noun: str) -> None:
    assert read(added=line) == (Fact(deed=Deed.ADDED, old="", new=noun),)


def test_unlike_lines_are_one_removed_and_one_added() -> None:
    found = read(removed="import os", added="return compute(a, b) * 2")
    assert [fact.deed for fact in found] == [Deed.REMOVED, Deed.ADDED]


def test_line_with_several_differences_is_quoted_whole() -> None:
    (found,) = read(removed="call(a, b)", added="call(c, d)")
    assert found == Fact(deed=Deed.CHANGED, old="`call(a, b)`", new="`call(c, d)`")


def test_long_lines_are_quoted_from_where_they_differ() -> None:
    start = "value = some_function_with_a_name(first_argument, second_argument, third_argument, "
    (found,) = read(removed=start + "one + two)", added=start + "three - four)")
    assert (found.old, found.new) == ("`one + two)`", "`three - four)`")


def test_lines_without_a_letter_tell_nothing() -> None:
    assert read(removed="}", added="});") == ()


def test_huge_block_is_read_in_part() -> None:
    found = read(added="\n".join(f"value_{i} = {i}" for i in range(500)))
    assert len(found) == MAX_BLOCK


def test_quote_is_cut_and_keeps_no_backtick() -> None:
    text = quoted("`a` + " + "x" * 200)
    assert len(text) == MAX_QUOTE + 2
    assert text.strip("`").startswith("'a' + xxx")
    assert text.endswith("…`")
