import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.claims import chunks
from crscore.diff import parse
from crscore.records import LineKind, LineSpan, Side
from tests.helpers import changes

MANY = "".join(f"line {number}\n" for number in range(1, 401))


def edited(*numbers: int, text: str = "other {}") -> str:
    lines = MANY.splitlines()
    for number in numbers:
        lines[number - 1] = text.format(number)
    return "\n".join(lines) + "\n"


def shown(found, kind):
    """Line numbers and texts of one kind, over all pieces."""
    return [
        (line.old or line.new, line.text)
        for chunk in found
        for hunk in chunk.hunks
        for line in hunk.lines
        if line.kind is kind
    ]


def test_small_change_of_a_file_is_one_chunk() -> None:
    made = changes.change("a.txt", MANY, edited(10, 200, 390), sources=False)
    (chunk,) = chunks.chunk_diff(made).chunks
    assert len(chunk.hunks) == 3
    assert chunk.text.startswith("@@ -7,7 +7,7 @@")
    assert chunk.lines_of(LineKind.REMOVED) == ("line 10", "line 200", "line 390")
    assert chunk.lines_of(LineKind.ADDED) == ("other 10", "other 200", "other 390")


def test_long_hunks_are_chunks_of_their_own() -> None:
    made = changes.change("a.txt", MANY, edited(10, 200, text="x" * 600 + "{}"), sources=False)
    assert [len(chunk.hunks) for chunk in chunks.chunk_diff(made).chunks] == [1, 1]


def test_files_do_not_mix() -> None:
    one = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-x\n+y\n"
    diff = parse.parse_diff(one.format("a.py") + one.format("b.py"))
    assert [chunk.file.path for chunk in chunks.chunk_diff(diff).chunks] == ["a.py", "b.py"]


def test_chunk_has_the_lines_that_it_shows_on_each_side() -> None:
    diff = parse.parse_diff("--- a/x.py\n+++ b/y.py\n@@ -5,2 +6,3 @@\n a\n-b\n+c\n+d\n")
    (chunk,) = chunks.chunk_diff(diff).chunks
    assert chunk.spans == (
        LineSpan(path="x.py", side=Side.OLD, start=5, end=6),
        LineSpan(path="y.py", side=Side.NEW, start=6, end=8),
    )


def test_new_file_has_no_old_lines() -> None:
    diff = parse.parse_diff("--- /dev/null\n+++ b/y.py\n@@ -0,0 +1,2 @@\n+c\n+d\n")
    (chunk,) = chunks.chunk_diff(diff).chunks
    assert [span.side for span in chunk.spans] == [Side.NEW]


def test_long_hunk_is_cut_between_its_lines_with_right_headers() -> None:
    new = "".join(f"new {number} {'y' * 40}\n" for number in range(1, 101))
    diff = parse.parse_diff(
        "--- a/x\n+++ b/x\n@@ -1,3 +1,103 @@ def f()\n a\n b\n"
        + "".join(f"+{line}\n" for line in new.splitlines())
        + " c\n"
    )
    found = chunks.chunk_diff(diff, 1_000)
    assert len(found.chunks) > 5
    assert found.notes == ()
    assert all(chunk.hunks[0].section == "def f()" for chunk in found.chunks)
    texts = [line for chunk in found.chunks for line in chunk.lines_of(LineKind.ADDED)]
    assert texts == new.splitlines()
    for chunk in found.chunks:
        read = parse.parse_diff(f"--- a/x\n+++ b/x\n{chunk.text}\n")
        assert read.files[0].hunks == chunk.hunks
        assert len(chunk.text) + sum(map(len, chunk.lines_of(LineKind.ADDED))) < 1_100


def test_line_over_the_budget_is_left_out_with_a_note() -> None:
    diff = parse.parse_diff(
        f"--- a/x.js\n+++ b/x.js\n@@ -1,2 +1,3 @@\n-a\n+b\n+{'z' * 5_000}\n c\n"
    )
    found = chunks.chunk_diff(diff, 1_000)
    assert [chunk.lines_of(LineKind.ADDED) for chunk in found.chunks] == [("b",)]
    assert found.notes == ("Lines of `x.js` too long to be shown to the model: 1.",)


@pytest.mark.parametrize(
    "text",
    [
        "diff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ\n",
        "diff --git a/o.py b/n.py\nsimilarity index 100%\nrename from o.py\nrename to n.py\n",
        "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
    ],
)
def test_file_without_lines_is_a_note(text: str) -> None:
    found = chunks.chunk_diff(parse.parse_diff(text))
    assert found.chunks == ()
    assert found.notes[0].endswith("it has no changed lines.")


def test_too_many_chunks_are_a_note() -> None:
    one = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-x\n+y\n"
    count = chunks.MAX_CHUNKS + 3
    diff = parse.parse_diff("".join(one.format(f"f{n:03}.py") for n in range(count)))
    found = chunks.chunk_diff(diff)
    assert len(found.chunks) == chunks.MAX_CHUNKS
    assert "3 parts of 3 files are left out, from `f200.py` on." in found.notes[0]


LINE = st.tuples(st.sampled_from("+- "), st.text("ab ", max_size=60))


@given(st.lists(LINE, min_size=1, max_size=60), st.integers(200, 600))
def test_every_changed_line_is_shown_once_at_its_number(lines, budget) -> None:
    old = sum(sign != "+" for sign, _ in lines)
    new = sum(sign != "-" for sign, _ in lines)
    starts = f"-{3 if old else 2},{old} +{4 if new else 3},{new}"
    body = "".join(f"{sign}{text}\n" for sign, text in lines)
    diff = parse.parse_diff(f"--- a/x\n+++ b/x\n@@ {starts} @@\n{body}")
    found = chunks.chunk_diff(diff, budget)
    assert found.notes == ()
    for kind in (LineKind.ADDED, LineKind.REMOVED):
        told = [
            (line.old or line.new, line.text)
            for line in diff.files[0].hunks[0].lines
            if line.kind is kind
        ]
        assert shown(found.chunks, kind) == told
    for chunk in found.chunks:
        assert parse.parse_diff(f"--- a/x\n+++ b/x\n{chunk.text}\n").files[0].hunks == chunk.hunks


@pytest.mark.growth
def test_long_change_is_cut_in_linear_time() -> None:
    body = "".join(f"+{'x' * 60} {number}\n" for number in range(20_000))
    diff = parse.parse_diff(f"--- a/x\n+++ b/x\n@@ -0,0 +1,20000 @@\n{body}")
    found = chunks.chunk_diff(diff, 2_000)
    assert len(found.chunks) == chunks.MAX_CHUNKS
    assert len(found.notes) == 1
