"""Weird input: it never raises, never recurses, and stays fast."""

import sys
import textwrap
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from crscore.claims.structural.plugin import create
from crscore.diff.parse import parse_diff
from crscore.records import Diff
from tests.helpers.changes import change, claims, texts
from tests.helpers.growth import growth

PATHS = ("a.py", "A.java", "a.js", "a.ts", "a.tsx", "a.go", "a.c", "a.cpp", "A.cs", "a.rb", "a.php")
CODE = """
def f(a):| class A:| class A {| }| {| (| )| [| ]| if (x) {| else| for| while (1)| return x| x = 1|
x += "a"| 'a| `| /*| */| #| // c| <?php| end| do |x|| =>| ::| ->| @a| import b| try| \\| \t| é|
catch (E e) {
"""
PIECES = st.sampled_from(CODE.strip().split("|"))
SOURCE = st.lists(st.lists(PIECES, max_size=6).map(" ".join), max_size=12).map("\n".join)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(path=st.sampled_from(PATHS), old=SOURCE, new=SOURCE, sources=st.booleans())
def test_random_code_never_raises_and_spans_stay_in_the_hunks(
    path: str, old: str, new: str, sources: bool
) -> None:
    old, new = f"x\n{old}\n", f"x\n{new}\n"
    # `change` dedents, which also empties lines of blanks.
    assume(textwrap.dedent(old) != textwrap.dedent(new))
    made = change(path, old, new, sources=sources)
    changed = {
        (side, number)
        for hunk in made.files[0].hunks
        for line in hunk.lines
        for side, number in (("old", line.old), ("new", line.new))
        if (line.old is None) != (line.new is None) and number is not None
    }
    for item in claims(made):
        assert item.text.endswith((".", "?", "!"))
        assert 0 < item.weight <= 1
        for span in item.spans:
            lines = range(span.start, span.end + 1)
            assert {(span.side.value, number) for number in lines} <= changed


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    path=st.sampled_from(PATHS),
    lines=st.lists(
        st.text(
            st.characters(
                exclude_characters="\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029",
                exclude_categories=("Cs",),
            ),
            max_size=40,
        ),
        min_size=1,
        max_size=8,
    ),
)
def test_random_text_never_raises(path: str, lines: list[str]) -> None:
    text = "".join(f"+{line}\n" for line in lines)
    made = parse_diff(f"--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{text}")
    assert create().generate([made])[0].raw is None


def added(path: str, text: str) -> Diff:
    lines = text.split("\n")
    body = "".join(f"+{line}\n" for line in lines)
    return parse_diff(f"--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{body}")


@pytest.mark.parametrize("path", PATHS)
def test_deep_nesting_is_read_without_recursion(path: str) -> None:
    depth = 4 * sys.getrecursionlimit()
    assert texts(added(path, "total = " + "(" * depth + "1" + ")" * depth))


@pytest.mark.parametrize("path", ["a.py", "a.js", "A.java"])
def test_time_grows_with_the_length_of_a_line(path: str) -> None:
    def prepare(numbers: int) -> Callable[[], object]:
        made = added(path, "values = [" + "12345, " * numbers + "1]")
        return lambda: texts(made)

    assert growth(prepare, 350) < 9


def test_time_grows_with_the_changed_statements() -> None:
    def prepare(calls: int) -> Callable[[], object]:
        old = "".join(f"call_{number}(first, {number})\n" for number in range(calls))
        made = change("a.py", old, old.replace("first", "second"))
        return lambda: claims(made)

    assert growth(prepare, 100) < 9


def test_code_that_does_not_parse_still_tells_its_words() -> None:
    made = added("A.java", "%% fetchRemoteUser ??? )( retryCount ]]")
    assert any("`fetchRemoteUser`" in text for text in texts(made))


def test_source_that_does_not_fit_the_hunks_is_not_used() -> None:
    made = change("a.py", "def f(x):\n    return x\n", "def f(x):\n    return x + 1\n")
    assert any("`x + 1`" in text for text in texts(made))
