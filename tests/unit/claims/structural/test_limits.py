"""For any input, the generator raises no error, is fast and gives the same claims again."""

import re
import sys
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crscore import plugins
from crscore.diff.parse import parse_diff
from crscore.records import Diff, ReferenceKind
from tests.helpers.changes import change, claims, texts
from tests.helpers.growth import growth

PATHS = ("a.py", "A.java", "a.js", "a.ts", "a.tsx", "a.go", "a.c", "a.h", "a.cpp", "a.cu", "A.cs",
         "a.rb", "a.php", "a.md", "a.yaml", "a.json", "a.toml", "a.xml", "a")  # fmt: skip
CODE = """
def f(a):| class A:| class A {| }| {| (| )| [| ]| if (x) {| else| for| while (1)| return x| x = 1|
x += "a"| 'a| `| /*| */| #| // c| <?php| end| do |x|| =>| ::| ->| @a| import b| try| \\| \t| é|
catch (E e) {| raise E("a b c")| unless| && g(b)| const| static| : int| = 2| package p| namespace
"""
PIECES = st.sampled_from(CODE.replace("\n", " ").split("|"))
SOURCE = st.lists(st.lists(PIECES, max_size=6).map(" ".join), max_size=12).map("\n".join)
TEXT = st.text(st.characters(exclude_characters="\n\r", exclude_categories=("Cs",)), max_size=40)
STRANGE = st.lists(TEXT, max_size=8).map("\n".join)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(
    path=st.sampled_from(PATHS),
    old=SOURCE | STRANGE,
    new=SOURCE | STRANGE,
    removed=st.lists(st.booleans(), min_size=1, max_size=30),
    sources=st.booleans(),
)
def test_claims_about_any_text_are_sentences(
    path: str, old: str, new: str, removed: list[bool], sources: bool
) -> None:
    left, right = (f"{text}\n".split("\n")[:-1] for text in (old, new))
    body = "".join(f"-{line}\n" for line in left) + "".join(f"+{line}\n" for line in right)
    head = f"--- a/{path}\n+++ b/{path}\n@@ -1,{len(left)} +1,{len(right)} @@\n"
    diff = parse_diff(head + body)
    if sources:
        file = replace(diff.files[0], old_source=f"{old}\n", new_source=f"{new}\n")
        diff = replace(diff, files=(file,))
    references = claims(diff)
    assume(old.strip() or new.strip())
    assert references
    assert references == claims(diff)
    for claim in references:
        assert re.fullmatch(r"[^\n]+[.?!]", claim.text)
        assert claim.text[0] == claim.text[0].upper()
        assert 0 < claim.weight <= 1
        assert claim.spans


def added(path: str, text: str) -> Diff:
    lines = text.split("\n")
    body = "".join(f"+{line}\n" for line in lines)
    return parse_diff(f"--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{body}")


@pytest.mark.parametrize("path", ["a.py", "a.md", "a.yaml", "a"])
def test_deep_nesting_is_read_without_recursion(path: str) -> None:
    depth = 4 * sys.getrecursionlimit()
    assert texts(added(path, "total = " + "(" * depth + "1" + ")" * depth))


@pytest.mark.growth
@pytest.mark.parametrize("path", ["a.py", "a.cpp", "a.md", "a.yaml", "a"])
def test_time_grows_with_the_length_of_a_line(path: str) -> None:
    def prepare(numbers: int) -> Callable[[], object]:
        old = "values = [" + "12345, " * numbers + "1]\n"
        diff = change(path, old, old.replace("1]", "2]"))
        return lambda: claims(diff)

    assert growth(prepare, 2_000) < 8


FUNCTIONS = {
    "a.py": "def f_{0}(a):\n    if a > {0}:\n        first(a, {0})\n    return b\n\n\n",
    "a.js": "function f_{0}(a) {{\n  if (a > {0}) {{\n    first(a, {0});\n  }}\n  return b;\n}}\n",
    "a.cpp": "int f_{0}(int a) {{\n  if (a > {0}) {{\n    first(a, {0});\n  }}\n  return b;\n}}\n",
    "a.md": "## Part {0}\n\nThe first word of {0} is b and nothing else.\n\n",
    "a.yaml": "part_{0}:\n  first: {0}\n  second: b\n",
}


@pytest.mark.growth
@pytest.mark.parametrize(
    ("path", "sources", "kind"),
    [
        ("a.py", False, "changed"),
        ("a.js", True, "new"),
        ("a.cpp", False, "renamed"),
        ("a.md", True, "changed"),
        ("a.yaml", True, "renamed"),
    ],
)
def test_time_grows_with_the_changed_lines(path: str, sources: bool, kind: str) -> None:
    def prepare(count: int) -> Callable[[], object]:
        new = "".join(FUNCTIONS[path].format(at) for at in range(count))
        old = {
            "changed": new.replace("first", "before").replace("b\n", "c\n"),
            "new": "x\n",
            "renamed": new.replace("f_", "g_").replace("part_", "piece_"),
        }[kind]
        diff = change(path, f"{old}\n\n", new, sources=sources)
        return lambda: claims(diff)

    assert growth(prepare, 40) < 11


@pytest.mark.growth
def test_comments_of_one_function_are_compared_in_linear_time() -> None:
    def prepare(count: int) -> Callable[[], object]:
        old = "def f():\n" + "".join(
            f"    # Step {at} of it all.\n    go()\n" for at in range(count)
        )
        diff = change("a.py", old, old.replace("Step", "Part"))
        return lambda: claims(diff)

    assert growth(prepare, 150) < 12


@pytest.mark.growth
@pytest.mark.parametrize("path", ["a.py", "a.yaml"])
def test_source_over_four_megabytes_is_described_by_its_hunks(path: str) -> None:
    old = FUNCTIONS[path].format(1) + "# filler filler filler\n" * 200_000
    assert len(old) > 4_000_000
    diff = change(path, old, old.replace("a > 1", "a > 2", 1).replace("first: 1", "first: 2", 1))
    assert [text for text in texts(diff) if "`a > 2`" in text or "is now `2` instead" in text]


def test_windows_line_ends_do_not_change_the_claims() -> None:
    old, new = "def f(a):\n    g(1)\n    return a\n", "def f(a, b):\n    g(2)\n    return a\n"
    plain = change("a.py", old, new, sources=False)
    lines = [replace(line, text=f"{line.text}\r") for line in plain.files[0].hunks[0].lines]
    hunk = replace(plain.files[0].hunks[0], lines=tuple(lines))
    file = replace(plain.files[0], hunks=(hunk,), old_source=old.replace("\n", "\r\n"),
                   new_source=new.replace("\n", "\r\n"))  # fmt: skip
    sentences = texts(replace(plain, files=(file,)))
    assert sentences == texts(plain) == texts(change("a.py", old, new))
    assert not [text for text in sentences if "\r" in text]


def test_change_of_line_ends_alone_is_formatting() -> None:
    diff = parse_diff("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a = 1\r\n+a = 1\n")
    (sentences,) = texts(diff)
    assert sentences.startswith("Only the formatting of `a.py` has changed")


def test_blank_lines_alone_are_formatting() -> None:
    (sentences,) = texts(change("a.py", "a = 1\nb = 2\n", "a = 1\n\n\nb = 2\n"))
    assert sentences.startswith("Only the formatting of `a.py` has changed")


def test_missing_file_has_no_claim() -> None:
    diff = change("a.py", "a = 1\n", "a = 2\n")
    file = replace(diff.files[0], missing="it was not shown")
    assert not claims(replace(diff, files=(file,)))


def test_source_that_does_not_fit_the_hunks_is_not_used() -> None:
    diff = change("a.py", "def f(a):\n    g(1)\n", "def f(a):\n    g(2)\n")
    file = replace(diff.files[0], new_source="def other():\n    pass\n")
    assert texts(replace(diff, files=(file,))) == texts(diff)


def test_diff_without_a_path_is_read_by_its_grammar() -> None:
    diff = parse_diff(
        "@@ -1,2 +1,2 @@\n public class A {\n-  int n() { return 1; }\n+  int n() { return 2; }\n"
    )
    assert texts(diff) == ["The method `A.n` now returns `2` instead of `1`."]


def test_header_is_read_as_what_it_is_included_by() -> None:
    new = "class Pool {\n public:\n  void stop();\n};\n"
    assert "The new class `Pool` in `a.h` (4 lines)" in texts(change("a.h", "", new))[0]


def test_each_diff_has_its_own_claims() -> None:
    generator = plugins.create("claims", "structural")
    one = change("a.py", "a = 1\n", "a = 2\n")
    two = change("b.py", "b = 1\n", "b = 2\n")
    first, second = generator.generate([one, two])
    assert [first.references, second.references] == [claims(one), claims(two)]
    assert generator.generate([]) == ()
    assert re.fullmatch(r"structural@\d+\+[0-9a-f]{8}", generator.identity)


def test_reading_is_the_changed_code_in_words() -> None:
    old = "def f(a):\n    g(1)\n"
    diff = change("src/userPool.py", old, old + "    send_mail(userName)\n    wait(a)\n")
    first, *others = claims(diff)
    assert re.fullmatch(
        r"why does the new code add f in src user pool py: send mail user name wait a",
        first.reading,
    )
    for claim in others:
        assert "user pool" not in claim.reading


@pytest.mark.parametrize("path", FUNCTIONS)
def test_every_claim_is_read_in_words_alone(path: str) -> None:
    one, two, three = (FUNCTIONS[path].format(at) for at in (1, 2, 3))
    for claim in claims(change(path, one, two + three)):
        # An implication without lines of its own is read as it is written.
        assert claim.reading or claim.kind is ReferenceKind.IMPLICATION
        assert not re.search(r"[`“”{}()/\n]", claim.reading)
        assert len(claim.reading) < 600
